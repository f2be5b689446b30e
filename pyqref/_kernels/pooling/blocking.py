"""Images as the kernels of pooling take them: those that lie in another order, block by block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from pyqref._kernels.layout import contiguous, images
from pyqref._kernels.parts import parts
from pyqref.numerics.types import IntArray

__all__ = [
    "MOST_WIDE",
    "Geometry",
    "channels_first",
    "channels_last",
    "run_by_planes",
    "run_in_blocks",
]

#: Bytes of a copy, and windows along an axis that see it.
_MOST, _OUTPUTS = 1 << 18, 1 << 12
#: Wider integers of a copy: for each there may be five of eight bytes at a time.
MOST_WIDE = 1 << 14


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
    longest
        Places that the longest window sees along each spatial axis.
    has_buffer
        Whether 32 bits hold the sum of each window.
    is_even
        Whether all windows are of one size.
    """

    planes: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    steps: tuple[int, ...]
    taps: int
    sizes: tuple[int, ...]
    longest: tuple[int, ...] = ()
    has_buffer: bool = True
    is_even: bool = False

    @property
    def windows(self) -> tuple[np.ndarray, ...]:
        """The windows along each spatial axis."""
        return (self.planes, self.rows, self.columns)[-len(self.sizes) :]


def run_in_blocks(
    pool: Callable[..., IntArray],
    one_by_one: Callable[..., IntArray],
    q: IntArray,
    geometry: Geometry,
    *rest: object,
) -> IntArray:
    """``pool(q, result, geometry, *rest)`` of images that it does not take.

    They are copied: channels last, small ones as a whole, of large ones what some windows see.
    Where a window is too large for that, ``one_by_one(q, geometry, *rest)`` needs no copy.
    """
    most = _MOST if q.itemsize == 1 else MOST_WIDE
    if q.size <= most:
        q, result = images(q, geometry.sizes)
        return pool(q, result, geometry, *rest)
    channels, *places = _most(q.shape, geometry, most)
    if prod(places) > most:
        return one_by_one(q, geometry, *rest)
    batch, every = q.shape[:2]
    if q.flags.c_contiguous or q.itemsize > 1:
        out = channels_last(np.empty((batch, every, *geometry.sizes), q.dtype))
    else:
        out = np.empty((batch, *geometry.sizes, every), q.dtype)
    lines = channels_last(q)
    first_channels = range(0, q.shape[1], channels)
    axes = [list(_blocks(*each)) for each in zip(geometry.windows, places, strict=True)]
    for image, first, blocks in product(range(q.shape[0]), first_channels, product(*axes)):
        at, some = slice(image, image + 1), slice(first, first + channels)
        part = out[(at, *(block.outputs for block in blocks), some)]
        seen = contiguous(lines[(at, *(block.seen for block in blocks), some)])
        result = np.empty(part.shape, q.dtype)
        pool(channels_first(seen), channels_first(result), _part_of(geometry, blocks), *rest)
        part[...] = result
    return channels_first(out)


def run_by_planes(pool: Callable[[IntArray], IntArray], q: IntArray, n: int) -> IntArray:
    """``pool(q)``, an equation in NumPy, of some channels at a time; each has ``n`` axes."""
    if q.size <= MOST_WIDE or q.ndim != n + 2:
        return pool(q)
    made = ((at, pool(q[at])) for at in parts(q, range(2, q.ndim), MOST_WIDE))
    at, some = next(made)
    out = np.empty((*q.shape[:2], *some.shape[2:]), q.dtype)
    out[at[:2]] = some
    for at, some in made:
        out[at[:2]] = some
    return out


def channels_first(images: np.ndarray) -> np.ndarray:
    """``(batch, channels, *size)`` of images with their channels last."""
    return images.transpose(0, images.ndim - 1, *range(1, images.ndim - 1))


def channels_last(images: np.ndarray) -> np.ndarray:
    """``(batch, *size, channels)`` of images with their channels first."""
    return images.transpose(0, *range(2, images.ndim), 1)


def _most(shape: tuple[int, ...], geometry: Geometry, copied: int) -> list[int]:
    """Channels, and places along each axis, that are copied at a time: enough for a window.

    Lines are cut last, and images first.
    """
    # The first axis, channels, and the others.
    most = [geometry.longest[0], 1, *geometry.longest[1:]]
    whole = [shape[2], shape[1], *shape[3:]]
    size = prod(shape[2:])
    buffer = copied * size // max(size, prod(geometry.sizes))  # the results take no more
    for axis in reversed(range(len(most))):
        least = most[axis]
        most[axis] = max(least, min(whole[axis], least * buffer // prod(most)))
    return [most[1], most[0], *most[2:]]


class _Block(NamedTuple):
    """Some outputs along an axis, and the places that they see."""

    outputs: slice
    seen: slice


def _blocks(windows: np.ndarray, most: int) -> Iterator[_Block]:
    """Windows that see at most ``most`` places, or one; from where to where they do.

    Examples
    --------
    >>> for outputs, seen in _blocks(np.array([[0, 2, 2], [1, 3, 2], [2, 4, 2]]), 3):
    ...     print(outputs, seen)
    slice(0, 2, None) slice(0, 3, None)
    slice(2, 3, None) slice(2, 4, None)
    """
    start = 0
    while start < len(windows):
        stop = bisect_right(windows[:, 1], windows[start, 0] + most, start)
        stop = max(start + 1, min(stop, start + _OUTPUTS))
        # With dilation, the first window need not be the one that begins first.
        low = int(windows[start:stop, 0].min())
        # At least one place: some windows may see none.
        high = max(low + 1, int(windows[start:stop, 1].max()))
        yield _Block(slice(start, stop), slice(low, high))
        start = stop


def _part_of(geometry: Geometry, blocks: tuple[_Block, ...]) -> Geometry:
    """The windows of some blocks, whose places are counted from the first that they see."""
    moved = [
        windows[block.outputs] - np.array([block.seen.start, block.seen.start, 0])
        for windows, block in zip(geometry.windows, blocks, strict=True)
    ]
    sizes = tuple(map(len, moved))
    taps = geometry.taps * prod(sizes) // prod(geometry.sizes)
    planes, rows, columns = [geometry.planes, geometry.rows][: 3 - len(moved)] + moved
    return Geometry(planes, rows, columns, geometry.steps, taps, sizes, geometry.longest)
