"""Pooling: the largest element, or the mean, of each window.

Arrays are ``(..., *size)``: any leading axes, then one, two or three spatial axes. The
loops run over the positions in the kernel, never over the pixels.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import lies_in_result_order
from pyqref._kernels.order import with_channels_as
from pyqref.numerics.pooling import pooled_sizes

from .operation import Array, Operation
from .windows import Windows

__all__ = ["MANY", "AvgPool", "MaxPool", "flat_places"]


def _plan(
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> tuple[tuple[int, ...], Windows, tuple[tuple[Any, ...], ...]]:
    """Return the number of windows along each axis, the windows, and each position's index."""
    count = pooled_sizes(size, kernel, stride, padding, dilation, ceil_mode)
    windows = pooling_windows(size, count, kernel, stride, padding, dilation)
    return count, windows, tuple([where for _, where in windows.positions(count)])


#: Kept for the next call, unless there are many positions.
_kept_plan = lru_cache(maxsize=64)(_plan)
_FEW = 64
#: Positions in a kernel that a byte cannot name.
MANY = 256
#: Windows whose sizes are kept for the next call.
_SMALL = 1 << 12


def pooling_windows(
    size: tuple[int, ...],
    count: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> Windows:
    """Windows padded on the right by as much as the last one needs."""
    pairs = tuple(
        (p, max(0, (n - 1) * s + d * (k - 1) + 1 - length - p))
        for length, n, k, s, p, d in zip(
            size, count, kernel, stride, padding, dilation, strict=True
        )
    )
    return Windows(kernel, stride, dilation, pairs)


def _padded(x: Array, windows: Windows, value: Any) -> Array:
    """``x`` with a border of ``value``; ``x`` itself if there is none."""
    return _kernels.pad(x, windows.padding, value) if any(map(any, windows.padding)) else x


def _has_channels_last(x: Array, kernel: tuple[int, ...]) -> bool:
    """Return True for images that a kernel pools channel beside channel."""
    if x.flags.c_contiguous or x.dtype != np.float32 or math.prod(kernel) >= MANY:
        return False
    return x.ndim == 4 and len(kernel) == 2 and lies_in_result_order(x)


def lowest(dtype: np.dtype[Any]) -> float:
    """The value that loses against every other in a search for the largest."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


class MaxPool(Operation):
    """``MaxPool(x, kernel, stride, padding, dilation, ceil_mode, return_indices)``.

    The largest element of each window and, with ``return_indices``, its place in the
    flattened spatial axes. The first of equals wins; nan wins over everything. The
    others are tuples with one int for each spatial axis, two booleans last.
    """

    makes_gradients = True

    def forward(
        self,
        x: Array,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        ceil_mode: bool,
        return_indices: bool,
    ) -> Array | tuple[Array, Array]:
        self.size = x.shape[-len(kernel) :]
        plan = _kept_plan if math.prod(kernel) <= _FEW else _plan
        self.count, self.windows, places = plan(
            self.size, kernel, stride, padding, dilation, ceil_mode
        )
        if self.needs[0] or return_indices or _has_channels_last(x, kernel):
            y, winner = _kernels.largest(x, self.windows, self.count)
            self.save(winner)
            if not return_indices:
                return y
            return y, flat_places(winner, self.windows, self.count, self.size)
        padded = _padded(x, self.windows, lowest(x.dtype))
        y = padded[places[0]].copy("K")
        for where in places[1:]:
            np.maximum(y, padded[where], out=y)
        return with_channels_as(x, y)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (winner,) = self.saved
        return (_kernels.gradient_of_largest(grads[0], winner, self.windows, self.size),)


def flat_places(
    winner: Array, windows: Windows, count: tuple[int, ...], size: tuple[int, ...]
) -> Array:
    """Places of the winners of windows in the flattened spatial axes of the unpadded array."""
    flat = np.zeros(winner.shape, dtype=np.int64)
    positions = np.unravel_index(winner, windows.kernel)
    for axis, (position, length) in enumerate(zip(positions, size, strict=True)):
        start = np.arange(count[axis]) * windows.stride[axis]
        start = start - windows.padding[axis][0]
        start = start.reshape(-1, *(1,) * (len(size) - axis - 1))
        flat = flat * length + start + position * windows.dilation[axis]
    return flat


def _window_sizes(
    size: tuple[int, ...],
    windows: Windows,
    count: tuple[int, ...],
    padding: tuple[int, ...],
    count_include_pad: bool,
) -> Array:
    """Number of elements of each window that count: of all of them if these are as many."""
    sizes = np.ones((1,) * len(size), dtype=np.int64)
    for axis, (length, p) in enumerate(zip(size, padding, strict=True)):
        start = np.arange(count[axis]) * windows.stride[axis] - p
        end = np.minimum(start + windows.kernel[axis], length + p)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, length)
        sizes = sizes * (end - start).reshape(-1, *(1,) * (len(size) - axis - 1))
    if math.prod(sizes.shape) and (sizes == sizes.flat[0]).all():
        return sizes.reshape(-1)[:1].reshape((1,) * len(size))
    return sizes


_kept_sizes = lru_cache(maxsize=64)(_window_sizes)


class AvgPool(Operation):
    """``AvgPool(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)``.

    The sum of each window over its number of elements, which counts the padding if
    ``count_include_pad``, or over ``divisor_override`` if that is not None.
    """

    makes_gradients = True

    def forward(
        self,
        x: Array,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Array:
        ones = (1,) * len(kernel)
        self.size = x.shape[-len(kernel) :]
        plan = _kept_plan if math.prod(kernel) <= _FEW else _plan
        self.count, self.windows, places = plan(self.size, kernel, stride, padding, ones, ceil_mode)
        self.divisor: Any = divisor_override
        if divisor_override is None:
            sizes = _kept_sizes if math.prod(self.count) <= _SMALL else _window_sizes
            self.divisor = sizes(
                self.size, self.windows, self.count, padding, bool(count_include_pad)
            ).astype(x.dtype)
        if _has_channels_last(x, kernel):
            divisor = np.asarray(self.divisor, x.dtype)
            return _kernels.means_of_windows(x, self.windows, self.count, divisor)
        padded = _padded(x, self.windows, 0)
        y = np.zeros((*x.shape[: -len(kernel)], *self.count), dtype=x.dtype)
        for where in places:
            y += padded[where]
        if y.dtype.kind == "f":
            y /= self.divisor
        else:
            y //= np.asarray(self.divisor)
        return with_channels_as(x, y)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = grads[0]
        divisor = np.asarray(self.divisor, grad.dtype)
        return (_kernels.gradient_of_means(grad, self.windows, self.size, divisor),)
