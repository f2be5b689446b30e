"""Images as the kernels of pooling take them: those that lie in another order, band by band."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pyqref._kernels.arrays import contiguous, images
from pyqref.numerics.types import IntArray

__all__ = ["Geometry", "run_in_bands"]

#: Bytes of a copy.
_MOST = 1 << 18


class Geometry(NamedTuple):
    """Windows along depth, height and width, and what follows from them.

    Attributes
    ----------
    planes, rows, columns
        First and last place (exclusive) of each window inside the axis, and its divisor.
    steps
        From one place of a window to the next.
    taps
        Places in all windows of a channel.
    sizes
        Numbers of windows along the spatial axes.
    is_even
        Whether all windows are of one size.
    """

    planes: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    steps: tuple[int, ...]
    taps: int
    sizes: tuple[int, ...]
    is_even: bool = False

    def along(self, axis: int) -> np.ndarray:
        """The windows along the depth, the height or the width."""
        return (self.planes, self.rows, self.columns)[axis]


def run_in_bands(
    pool: Callable[..., IntArray], q: IntArray, geometry: Geometry, *rest: Any
) -> IntArray:
    """``pool(q, None, geometry, *rest)`` of images in neither of the orders that it takes.

    They are copied: channels last, small ones as a whole, of large ones what some windows see.
    """
    if q.size <= _MOST:
        q, result = images(q, geometry.sizes)
        return pool(q, result, geometry, *rest)
    batch, channels = q.shape[:2]
    out = np.empty((batch, *geometry.sizes, channels), q.dtype)
    lines = q.transpose(0, *range(2, q.ndim), 1)
    windows = geometry.along(5 - q.ndim)
    at_once = _channels_at_once(windows, q.shape)
    size = prod(q.shape[3:]) * at_once
    for image in range(batch):
        for first in range(0, channels, at_once):
            some = slice(first, first + at_once)
            for at, low, high in _bands(windows, _MOST // size):
                part = out[image : image + 1, at, ..., some]
                seen = contiguous(lines[image : image + 1, low:high, ..., some])
                result = np.empty(part.shape, q.dtype)
                here = _part_of(geometry, 5 - q.ndim, at, low)
                pool(_first(seen), _first(result), here, *rest)
                part[...] = result
    return _first(out)


def _first(images: np.ndarray) -> np.ndarray:
    """``(batch, channels, *size)`` of images with their channels last."""
    return images.transpose(0, images.ndim - 1, *range(1, images.ndim - 1))


def _channels_at_once(windows: np.ndarray, shape: tuple[int, ...]) -> int:
    """Channels of which what the longest window sees may be copied, or one."""
    longest = max(int((windows[:, 1] - windows[:, 0]).max()), 1)
    return max(1, min(shape[1], _MOST // (longest * prod(shape[3:]))))


def _bands(windows: np.ndarray, most: int) -> Iterator[tuple[slice, int, int]]:
    """Windows that see at most ``most`` places, or one; from where to where they do.

    Examples
    --------
    >>> list(_bands(np.array([[0, 2, 2], [1, 3, 2], [2, 4, 2]]), 3))
    [(slice(0, 2, None), 0, 3), (slice(2, 3, None), 2, 4)]
    """
    start = 0
    while start < len(windows):
        stop = int(np.searchsorted(windows[:, 1], windows[start, 0] + most, side="right"))
        stop = max(start + 1, stop)
        # With dilation, the first window need not be the one that begins first.
        low = int(windows[start:stop, 0].min())
        # At least one place: some windows may see none.
        yield slice(start, stop), low, max(low + 1, int(windows[start:stop, 1].max()))
        start = stop


def _part_of(geometry: Geometry, axis: int, at: slice, low: int) -> Geometry:
    """Some windows along one of three axes, where place ``low`` is the first."""
    whole = geometry.along(axis)
    moved = whole[at] - np.array([low, low, 0])
    planes, rows, columns = (moved if k == axis else geometry.along(k) for k in range(3))
    taps = geometry.taps * len(moved) // len(whole)
    sizes = (len(moved), *geometry.sizes[1:])
    return Geometry(planes, rows, columns, geometry.steps, taps, sizes, geometry.is_even)
