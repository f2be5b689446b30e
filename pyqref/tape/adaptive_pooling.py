"""Adaptive pooling: as many windows as are asked for, whatever the size of the input.

Window ``i`` of ``n`` over ``length`` elements goes from ``floor(i * length / n)`` to
``ceil((i + 1) * length / n)``.
"""

from __future__ import annotations

import math

import numpy as np

from pyqref import _kernels
from pyqref._kernels.order import with_channels_last

from .operation import Array, Operation
from .products import matmul
from .sums import total

__all__ = ["AdaptiveAvgPool", "AdaptiveMaxPool", "adaptive_bounds"]


def adaptive_bounds(length: int, count: int) -> tuple[Array, Array]:
    """First element and end of each of ``count`` windows over ``length`` elements."""
    index = np.arange(count)
    return index * length // count, -(-(index + 1) * length // count)


def averaging_matrix(length: int, count: int, dtype: np.dtype[np.generic]) -> Array:
    """Matrix ``(count, length)`` whose rows average one window each."""
    start, end = adaptive_bounds(length, count)
    element = np.arange(length)
    inside = (element >= start[:, None]) & (element < end[:, None])
    return (inside / (end - start)[:, None]).astype(dtype)


class AdaptiveAvgPool(Operation):
    """``AdaptiveAvgPool(x, output_size)``: the mean of each window.

    A window is a product of intervals, so its mean is a mean of means: one matrix
    product for each axis, or where windows are equal and side by side a sum.
    """

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
            return x.copy(order="C")
        # Means of unequal windows are products of matrices, whose last bits depend on how x lies.
        are_equal = all(count and x.shape[axis] % count == 0 for axis, count in self.counts.items())
        last = with_channels_last(x) if are_equal and x.ndim == spatial + 2 else None
        if last is None or x.flags.c_contiguous:
            return np.ascontiguousarray(self._means(x, 0))
        pixels, back = last
        return self._means(pixels, 1).transpose(back)

    def _means(self, x: Array, behind: int) -> Array:
        """Means along the spatial axes, which are those before the last ``behind`` ones."""
        numbers = 1
        for axis, count in self.counts.items():
            place = x.ndim + axis - behind
            length = x.shape[place]
            if count and length % count == 0:
                x = _sums_of_equal(np.ascontiguousarray(x), place, count, x.ndim - behind)
                numbers *= length // count
            else:
                x = _along(x, place, averaging_matrix(length, count, x.dtype).T)
        if numbers > 1:
            x /= x.dtype.type(numbers)
        return x

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = grads[0]
        if self.whole:
            leading = grad.shape[: -len(self.size)]
            return (np.broadcast_to(grad / np.prod(self.size).item(), (*leading, *self.size)),)
        for axis, count in self.counts.items():
            grad = _along(grad, axis, averaging_matrix(self.size[axis], count, grad.dtype))
        return (grad,)


def _sums_of_equal(x: Array, axis: int, count: int, end: int) -> Array:
    """Sum over each of ``count`` equal parts of an axis; spatial axes end before ``end``."""
    shape, step = x.shape, x.shape[axis] // count
    groups = x.reshape(math.prod(shape[:axis]) * count, step, math.prod(shape[axis + 1 :]))
    if math.prod(shape[axis + 1 : end]) > 1:
        y = _kernels.totals_of_columns(groups)
    else:
        y = groups[:, 0].copy()
        for place in range(1, step):
            y += groups[:, place]
    return y.reshape(*shape[:axis], count, *shape[axis + 1 :])


def _along(x: Array, axis: int, matrix: Array) -> Array:
    return np.moveaxis(matmul(np.moveaxis(x, axis, -1), matrix), -1, axis)


class AdaptiveMaxPool(Operation):
    """``AdaptiveMaxPool(x, output_size, return_indices)``: the largest element of each window.

    With ``return_indices`` also its place in the flattened spatial axes.
    """

    def forward(
        self, x: Array, output_size: tuple[int, ...], return_indices: bool
    ) -> Array | tuple[Array, Array]:
        spatial = len(output_size)
        self.shape = x.shape
        size = x.shape[-spatial:]
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
        broadcast = np.broadcast_to(places, candidates.shape)
        indices = np.take_along_axis(broadcast, winner[..., None], -1)[..., 0]
        self.save(indices)
        self.spatial = spatial
        return (y, indices) if return_indices else y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (indices,) = self.saved
        rows = math.prod(self.shape[: -self.spatial])
        windows = math.prod(indices.shape[-self.spatial :])
        grad = np.zeros((rows, math.prod(self.shape[-self.spatial :])), dtype=grads[0].dtype)
        row = np.arange(rows)[:, None]
        np.add.at(grad, (row, indices.reshape(rows, windows)), grads[0].reshape(rows, windows))
        return (grad.reshape(self.shape),)
