"""What depends on one byte alone is computed for 256 bytes, and then looked up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.arrays import contiguous, dense, room_like, side_by_side
from pyqref._kernels.parts import parts
from pyqref.numerics import elementwise as reference
from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
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
        return table[q.view(np.uint8)]
    q = dense(q)
    result = room_like(q, table.dtype)
    kernel.look_up(contiguous(table), q, result, threads.limit)
    return result


def cat(arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid) -> IntArray:
    """As :func:`pyqref.numerics.elementwise.cat` (``eq-quantized-cat``)."""
    kernel = registry.twin("elementwise")
    if kernel is None or out.storage not in _BYTES:
        return reference.cat(arrays, grids, axis, out)
    on_one_grid = all(map(out.__eq__, grids))
    if sum(each.size for each in arrays) > _FEW:
        if not _lie_alike(arrays):
            return _joined_in_any_order(arrays, grids, axis, out)
        if not on_one_grid:
            return _joined_by_rows(kernel, arrays, grids, axis, out)
    elif not on_one_grid:
        arrays = [
            q if grid == out else look_up(_between(grid, out), q)
            for q, grid in zip(arrays, grids, strict=True)
        ]
    return _joined(kernel, arrays, axis)


def _joined(kernel: Any, arrays: Sequence[IntArray], axis: int) -> IntArray:
    """The arrays one after the other; with the channels last in memory if all have them so."""
    arrays, result, rows = side_by_side(tuple(arrays), axis)
    if rows:
        kernel.cat(arrays, result, rows, threads.limit)
    return result


def _lie_alike(arrays: Sequence[IntArray]) -> bool:
    """Whether a kernel joins arrays as they lie."""
    return all(each.flags.c_contiguous for each in arrays) or _have_channels_last(arrays)


def _have_channels_last(arrays: Sequence[IntArray]) -> bool:
    return arrays[0].ndim > 2 and all(
        np.moveaxis(each, 1, -1).flags.c_contiguous for each in arrays
    )


def _joined_by_rows(
    kernel: Any, arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid
) -> IntArray:
    """As :func:`_joined`, of large arrays on different grids: some rows at a time."""
    tables = [None if grid == out else _between(grid, out) for grid in grids]
    moved, result, rows = side_by_side(tuple(arrays), axis)
    in_memory = result if result.flags.c_contiguous else np.moveaxis(result, 1, -1)
    target = in_memory.reshape(rows, -1)
    sources = [each.reshape(rows, -1) for each in moved]
    step = max(1, _FEW // target.shape[1])
    rooms = [np.empty((step if step > 1 else 0, each.shape[1]), out.storage) for each in sources]
    for row in range(0, rows, step):
        if step > 1:
            some = [each[row : row + step] for each in sources]
            for k, table in enumerate(tables):
                if table is not None:
                    room = rooms[k][: len(some[k])]
                    kernel.look_up(table, some[k], room, threads.limit)
                    some[k] = room
            place = target[row : row + step]
            kernel.cat(tuple(some), place, len(place), threads.limit)
            continue
        first = 0
        for table, each in zip(tables, sources, strict=True):
            place = target[row, first : first + each.shape[1]]
            first += each.shape[1]
            if table is None:
                place[...] = each[row]
            else:
                kernel.look_up(table, each[row], place, threads.limit)
    return result


def _joined_in_any_order(
    arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid
) -> IntArray:
    """As :func:`_joined`, of large arrays that lie in different ways."""
    shape = list(arrays[0].shape)
    shape[axis] = sum(each.shape[axis] for each in arrays)
    if not all(each.flags.c_contiguous for each in arrays) and _have_channels_last(arrays):
        shape.append(shape.pop(1))
        result = np.moveaxis(np.empty(shape, out.storage), -1, 1)
    else:
        result = np.empty(shape, out.storage)
    first = 0
    for q, grid in zip(arrays, grids, strict=True):
        place = result[(slice(None),) * axis + (slice(first, first + q.shape[axis]),)]
        first += q.shape[axis]
        for at in parts(q, most=_FEW):
            place[at] = q[at] if grid == out else look_up(_between(grid, out), q[at])
    return result


@lru_cache(maxsize=256)
def _between(grid: Grid, out: Grid) -> np.ndarray:
    """Each byte of one grid on another grid; kept, since a layer asks for it each time."""
    every = np.arange(256, dtype=np.uint8).view(out.storage)
    return quantize_per_tensor(dequantize_per_tensor(every, grid.scale, grid.zero_point), *out)
