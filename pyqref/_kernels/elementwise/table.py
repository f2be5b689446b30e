"""What depends on one byte alone is computed for 256 bytes, and then looked up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import in_one_order
from pyqref.numerics import elementwise as reference
from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray

__all__ = ["cat", "look_up"]


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
    (flat,), restore = in_one_order(q)
    result = np.empty(flat.shape, table.dtype)
    kernel.look_up(np.ascontiguousarray(table), flat, result, threads.get_num_threads())
    return restore(result)


def cat(arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid) -> IntArray:
    """As :func:`pyqref.numerics.elementwise.cat` (``eq-quantized-cat``)."""
    storage = np.dtype(out.storage)
    if registry.twin("elementwise") is None or storage.itemsize != 1:
        return reference.cat(arrays, grids, axis, out)
    every = np.arange(256, dtype=np.uint8).view(storage)
    parts = []
    for q, grid in zip(arrays, grids, strict=True):
        if (grid.scale, grid.zero_point) != (out.scale, out.zero_point):
            real = dequantize_per_tensor(every, grid.scale, grid.zero_point)
            q = look_up(quantize_per_tensor(real, *out), q)
        parts.append(q)
    return np.concatenate(parts, axis=axis)
