"""Adaptive pooling: as many windows as are asked for, whatever the size of the input.

Window ``i`` of ``n`` over ``length`` elements goes from ``floor(i * length / n)`` to
``ceil((i + 1) * length / n)``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import lies_in_result_order
from pyqref._kernels.order import with_channels_as, with_channels_last
from pyqref.numerics.float_resize import Taps, adjoint

from .operation import Array, Operation
from .pooling import MANY, flat_places
from .sums import total
from .windows import Windows

__all__ = ["AdaptiveAvgPool", "AdaptiveMaxPool", "adaptive_bounds"]


def adaptive_bounds(length: int, count: int) -> tuple[Array, Array]:
    """First element and end of each of ``count`` windows over ``length`` elements."""
    index = np.arange(count)
    return index * length // count, -(-(index + 1) * length // count)


@lru_cache(maxsize=64)
def averaging_taps(length: int, count: int, dtype: np.dtype[np.generic]) -> Taps:
    """For each of ``count`` windows over ``length`` elements, these and their equal weights."""
    if length == count:
        return np.arange(length)[:, np.newaxis], None
    start, end = adaptive_bounds(length, count)
    widths = (end - start)[:, np.newaxis]
    offsets = np.arange(widths.max(initial=1))
    inside = offsets < widths
    places = np.where(inside, start[:, np.newaxis] + offsets, -1)
    return places, np.where(inside, 1 / widths, 0).astype(dtype)


@lru_cache(maxsize=64)
def averaging_taps_back(length: int, count: int, dtype: np.dtype[np.generic]) -> Taps:
    """Taps that take the gradient of these means back."""
    return adjoint(averaging_taps(length, count, dtype), length, dtype)


@lru_cache(maxsize=64)
def repeating_taps(length: int, step: int) -> Taps:
    """Each element ``step`` times, so that there are ``length`` of them."""
    return np.arange(length)[:, np.newaxis] // step, None


@lru_cache(maxsize=64)
def adding_taps(length: int, step: int, dtype: np.dtype[np.generic]) -> Taps:
    """The sum of ``step`` elements side by side, one after the other."""
    places = np.arange(length).reshape(-1, step)
    return places, np.ones(places.shape, dtype)


class AdaptiveAvgPool(Operation):
    """``AdaptiveAvgPool(x, output_size)``: the mean of each window.

    A window is a product of intervals, so its mean is a mean of means: weighted sums along
    each axis, or where windows are equal and side by side a sum.
    """

    makes_gradients = True

    def forward(self, x: Array, output_size: tuple[int, ...]) -> Array:
        spatial = len(output_size)
        self.size = x.shape[-spatial:]
        self.whole = all(count == 1 for count in output_size)
        if self.whole:
            axes = tuple(range(x.ndim - spatial, x.ndim))
            return total(x, axes, True, math.prod(self.size))
        # Where there are as many windows as elements, each is its own mean, whatever is beside it.
        self.counts = {
            axis: count
            for axis, count in enumerate(output_size, -spatial)
            if x.shape[axis] != count
        }
        if not self.counts:
            return x.copy(order="K" if lies_in_result_order(x) else "C")
        self.are_equal = all(
            count and x.shape[axis] % count == 0 for axis, count in self.counts.items()
        )
        if not self.are_equal:
            counts = zip(self.size, output_size, strict=True)
            return _kernels.resample(x, [averaging_taps(*each, x.dtype) for each in counts])
        last = with_channels_last(x) if x.ndim == spatial + 2 else None
        if last is None or x.flags.c_contiguous:
            return np.ascontiguousarray(self._means(x, 0))
        pixels, back = last
        return self._means(pixels, 1).transpose(back)

    def _means(self, x: Array, behind: int) -> Array:
        """Means along the spatial axes, which are those before the last ``behind`` ones."""
        numbers = 1
        for axis, count in self.counts.items():
            place = x.ndim + axis - behind
            numbers *= x.shape[place] // count
            x = _sums_of_equal(np.ascontiguousarray(x), place, count, x.ndim - behind)
        if numbers > 1:
            x /= x.dtype.type(numbers)
        return x

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = grads[0]
        if self.whole:
            share = grad / math.prod(self.size)
            whole = np.broadcast_to(share, (*share.shape[: -len(self.size)], *self.size))
            return (whole if whole.size > share.size else whole.copy(),)
        if not self.counts:
            return (grad.copy(order="K"),)
        if grad.size == 0:
            return (np.zeros((*grad.shape[: -len(self.size)], *self.size), grad.dtype),)
        counts = grad.shape[-len(self.size) :]
        if self.are_equal:
            steps = [n // count for n, count in zip(self.size, counts, strict=True)]
            places = [repeating_taps(*each) for each in zip(self.size, steps, strict=True)]
            return (_kernels.resample(grad / grad.dtype.type(math.prod(steps)), places),)
        sizes = zip(self.size, counts, strict=True)
        return (_kernels.resample(grad, [averaging_taps_back(*n, grad.dtype) for n in sizes]),)


def _sums_of_equal(x: Array, axis: int, count: int, end: int) -> Array:
    """Sum over each of ``count`` equal parts of an axis; spatial axes end before ``end``."""
    shape, step = x.shape, x.shape[axis] // count
    groups = x.reshape(math.prod(shape[:axis]) * count, step, math.prod(shape[axis + 1 :]))
    if math.prod(shape[axis + 1 : end]) > 1:
        y = _kernels.totals_of_columns(groups)
    else:
        taps = [repeating_taps(1, 1), adding_taps(shape[axis], step, x.dtype)]
        lines = x.reshape(math.prod(shape[:axis]), 1, shape[axis], math.prod(shape[axis + 1 :]))
        y = _kernels.resample(lines.transpose(0, 3, 1, 2), taps).transpose(0, 2, 3, 1)
    return y.reshape(*shape[:axis], count, *shape[axis + 1 :])


class AdaptiveMaxPool(Operation):
    """``AdaptiveMaxPool(x, output_size, return_indices)``: the largest element of each window.

    With ``return_indices`` also its place in the flattened spatial axes. The first of equals
    wins, and the last nan.
    """

    makes_gradients = True

    def forward(
        self, x: Array, output_size: tuple[int, ...], return_indices: bool
    ) -> Array | tuple[Array, Array]:
        spatial = len(output_size)
        self.shape, size = x.shape, x.shape[-spatial:]
        self.windows = _equal_windows(size, output_size)
        if self.windows is not None:
            y, winner = _kernels.largest(x, self.windows, output_size)
            self.save(winner)
            if not return_indices:
                return y
            return y, flat_places(winner, self.windows, output_size, size)
        places = np.zeros((1,) * (2 * spatial), dtype=np.int64)
        for axis, (length, count) in enumerate(zip(size, output_size, strict=True)):
            start, end = adaptive_bounds(length, count)
            widest = int((end - start).max(initial=1))
            inside = np.minimum(start[:, None] + np.arange(widest), end[:, None] - 1)
            shape = [1] * (2 * spatial)
            shape[axis], shape[spatial + axis] = count, widest
            places = places * length + inside.reshape(shape)
        places = places.reshape(*output_size, math.prod(places.shape[spatial:]))
        candidates = x.reshape(*x.shape[:-spatial], math.prod(size))[..., places]
        winner = candidates.argmax(axis=-1)
        y = np.take_along_axis(candidates, winner[..., None], -1)[..., 0]
        if np.isnan(y).any():  # the first nan was found
            last = candidates.shape[-1] - 1 - np.isnan(candidates)[..., ::-1].argmax(axis=-1)
            winner = np.where(np.isnan(y), last, winner)
        broadcast = np.broadcast_to(places, candidates.shape)
        indices = np.take_along_axis(broadcast, winner[..., None], -1)[..., 0]
        self.save(indices)
        self.spatial = spatial
        y = with_channels_as(x, y)
        return (y, with_channels_as(x, indices)) if return_indices else y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (indices,) = self.saved
        if self.windows is not None:
            size = self.shape[-len(self.windows.kernel) :]
            return (_kernels.gradient_of_largest(grads[0], indices, self.windows, size),)
        rows = math.prod(self.shape[: -self.spatial])
        windows = math.prod(indices.shape[-self.spatial :])
        grad = np.zeros((rows, math.prod(self.shape[-self.spatial :])), dtype=grads[0].dtype)
        row = np.arange(rows)[:, None]
        np.add.at(grad, (row, indices.reshape(rows, windows)), grads[0].reshape(rows, windows))
        return (grad.reshape(self.shape),)


def _equal_windows(size: tuple[int, ...], count: tuple[int, ...]) -> Windows | None:
    """Windows that cover an image side by side, if they are equal and not too large to be named."""
    if not all(count) or any(n % m for n, m in zip(size, count, strict=True)):
        return None
    steps = tuple([n // m for n, m in zip(size, count, strict=True)])
    if math.prod(steps) >= MANY:
        return None
    return Windows.make(steps, steps, (0,) * len(steps), (1,) * len(steps))
