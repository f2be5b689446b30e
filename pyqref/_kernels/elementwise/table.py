"""Functions of one byte, computed for all 256 bytes and then looked up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import PART, contiguous, in_one_order
from pyqref._kernels.parts import by_parts, copied_by_parts, parts
from pyqref._kernels.quantize import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics import elementwise as reference
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray

from ..._typing import Array

__all__ = ["cat", "join", "look_up"]

_BYTES = (np.dtype(np.uint8), np.dtype(np.int8))
#: Bytes that may be copied.
_FEW = 1 << 19


def look_up(table: IntArray, q: IntArray) -> IntArray:
    """``table[q]`` for each byte of ``q``; in memory the result lies as ``q`` does.

    Parameters
    ----------
    table
        256 bytes: the result for each byte, taken as unsigned.
    q
        uint8 or int8, of any shape.

    Returns
    -------
    Of the shape of ``q`` and the type of ``table``.

    Examples
    --------
    >>> look_up(np.arange(256).astype(np.uint8)[::-1], np.uint8([0, 1, 255]))
    array([255, 254,   0], dtype=uint8)
    """
    kernel = registry.twin("elementwise")
    if kernel is None:
        return np.asarray(table[q.view(np.uint8)])
    result: IntArray | None = kernel.look_up(contiguous(table), q, table.dtype, threads.limit)
    if result is None:
        return copied_by_parts(lambda part, _: look_up(table, part), q, table.dtype)
    return result


def cat(arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid) -> IntArray:
    """Fast form of :func:`pyqref.numerics.elementwise.cat` (``eq-quantized-cat``)."""
    kernel = registry.twin("elementwise")
    are_bytes = out.storage in _BYTES
    if kernel is None or not (are_bytes or _are_many(arrays)):
        return reference.cat(arrays, grids, axis, out)
    if are_bytes:
        tables = tuple(
            [None if on is out or _are_one(on, out) else _between(on, out) for on in grids]
        )
        joined: IntArray | None = kernel.cat(tuple(arrays), tables, axis, threads.limit)
        if joined is None and not _are_many(arrays):
            in_rows = tuple([contiguous(each) for each in arrays])
            joined = kernel.cat(in_rows, tables, axis, threads.limit)
        if joined is not None:
            return joined
    return _joined_by_parts(arrays, grids, axis, out)


def join(arrays: tuple[Any, ...], axis: int) -> Array:
    """Fast form of ``np.concatenate``, for an axis counted from the front.

    Examples
    --------
    >>> join((np.float32([1.0]), np.float32([2.0, 3.0])), 0)
    array([1., 2., 3.], dtype=float32)
    """
    kernel = registry.twin("elementwise")
    joined = None if kernel is None else kernel.cat(arrays, None, axis, threads.limit)
    return np.concatenate(arrays, axis) if joined is None else joined


def _are_many(arrays: Sequence[IntArray]) -> bool:
    return sum(each.size for each in arrays) > _FEW


def _joined_by_parts(
    arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid
) -> IntArray:
    """Join large arrays that have different layouts or no bytes, like :func:`cat`."""
    shape = list(arrays[0].shape)
    shape[axis] = sum(each.shape[axis] for each in arrays)
    if in_one_order(arrays) and not all(each.flags.c_contiguous for each in arrays):
        last = np.empty((shape[0], *shape[2:], shape[1]), out.storage)
        result = np.moveaxis(last, -1, 1)
    else:
        result = np.empty(shape, out.storage)
    first = 0
    for q, grid in zip(arrays, grids, strict=True):
        place = result[(slice(None),) * axis + (slice(first, first + q.shape[axis]),)]
        first += q.shape[axis]
        for at in parts(q, most=PART):
            place[at] = q[at] if _are_one(grid, out) else _moved(q[at], grid, out)
    return result


def _moved(q: IntArray, grid: Grid, out: Grid) -> IntArray:
    """Integers of one grid on another grid."""
    if out.storage in _BYTES:
        return look_up(_between(grid, out), q)
    return by_parts(lambda part: _requantized(part, grid, out), q)


def _are_one(grid: Grid, out: Grid) -> bool:
    """Return True if a byte means the same on both, whatever their ranges."""
    return grid.scale == out.scale and grid.zero_point == out.zero_point


@lru_cache(maxsize=256)
def _between(grid: Grid, out: Grid) -> np.ndarray:
    """Each byte of one grid on another grid; kept, since a layer asks for it each time."""
    return _requantized(np.arange(256, dtype=np.uint8).view(out.storage), grid, out)


def _requantized(q: IntArray, grid: Grid, out: Grid) -> IntArray:
    return quantize_per_tensor(dequantize_per_tensor(q, grid.scale, grid.zero_point), *out)
