"""What depends on one byte alone is computed for 256 bytes, and then looked up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import PART, contiguous, in_one_order, side_by_side
from pyqref._kernels.parts import by_parts, copied_by_parts, parts
from pyqref._kernels.quantize import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics import elementwise as reference
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray

__all__ = ["cat", "look_up"]

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
    """As :func:`pyqref.numerics.elementwise.cat` (``eq-quantized-cat``)."""
    kernel = registry.twin("elementwise")
    are_bytes = out.storage in _BYTES
    if kernel is None or not (are_bytes or _are_many(arrays)):
        return reference.cat(arrays, grids, axis, out)
    if not (are_bytes and in_one_order(arrays)) and _are_many(arrays):
        return _joined_by_parts(arrays, grids, axis, out)
    tables = [None if grid is out or _are_one(grid, out) else _between(grid, out) for grid in grids]
    parts_of_rows, result, rows = side_by_side(tuple(arrays), axis)
    if rows:
        kernel.cat(parts_of_rows, tuple(tables), result, rows, threads.limit)
    return result


def _are_many(arrays: Sequence[IntArray]) -> bool:
    return sum(each.size for each in arrays) > _FEW


def _joined_by_parts(
    arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid
) -> IntArray:
    """As :func:`cat`, of large arrays that lie in different ways, or are no bytes."""
    if in_one_order(arrays):
        _, result, _ = side_by_side(tuple(arrays), axis)
    else:
        shape = list(arrays[0].shape)
        shape[axis] = sum(each.shape[axis] for each in arrays)
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
    """Whether a byte means the same on both, whatever their ranges."""
    return grid.scale == out.scale and grid.zero_point == out.zero_point


@lru_cache(maxsize=256)
def _between(grid: Grid, out: Grid) -> np.ndarray:
    """Each byte of one grid on another grid; kept, since a layer asks for it each time."""
    return _requantized(np.arange(256, dtype=np.uint8).view(out.storage), grid, out)


def _requantized(q: IntArray, grid: Grid, out: Grid) -> IntArray:
    return quantize_per_tensor(dequantize_per_tensor(q, grid.scale, grid.zero_point), *out)
