"""Parts that products of two tensors share: centred integers, and the multiplier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyqref.numerics.types import IntArray

from .step import Note, of

if TYPE_CHECKING:
    from pyqref.numerics.elementwise import Grid

__all__ = ["centred", "centred_product", "ratio_of_product"]


def centred(q: IntArray, grid: Grid, note: Note) -> IntArray:
    """Integers less the zero point."""
    label, z = "eq-affine-dequantize", grid.zero_point
    less = np.asarray(q).astype(np.int64) - z
    return np.asarray(note("less the zero point", less, label, "{q} - {z}", q=q, z=z))


def centred_product(
    a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, note: Note, label: str
) -> IntArray:
    """Products of integers of two tensors, less the zero points."""
    left = centred(a, a_grid, of("first", note))
    right = centred(b, b_grid, of("second", note))
    return np.asarray(note("product", left * right, label, "{a} * {b}", a=left, b=right))


def ratio_of_product(a: Grid, b: Grid, out: Grid, note: Note, label: str) -> np.floating[Any]:
    """Return the multiplier of a product of integers, in float32."""
    s_a, s_b, s_y = (np.float32(each.scale) for each in (a, b, out))
    numbers = {"s_a": s_a, "s_b": s_b, "s_y": s_y}
    ratio: np.floating[Any] = s_a * s_b / s_y
    note("real multiplier", ratio, label, "fl32({s_a} * {s_b}) / {s_y}", **numbers)
    return ratio
