"""Sums of more products than 32 bits hold: some depths at a time, added up in 64."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from pyqref._kernels import threads
from pyqref.numerics.types import IntArray

from ..._typing import Array
from .finish import finish_of_sums
from .pack import PackedLinear

__all__ = ["deep_sums"]

#: Depths at a time, a multiple of 4, whose sums of bytes times weights fit; bytes that are copied.
_DEPTH, _COPIED = 1 << 15, 1 << 18


def deep_sums(
    kernel: ModuleType,
    x: IntArray,
    x_zero_point: int,
    packed: PackedLinear,
    weight_zero_points: int | Array,
) -> IntArray:
    r"""Fast :func:`pyqref.numerics.linear.linear_accumulator`, of any depth: int64 ``(..., N)``.

    Bytes and weights are multiplied as they are, and zero points taken out of the exact sums:
    :math:`\sum x w - z_x \sum w - z_w (\sum x - K z_x)`.
    """
    result = np.empty((*x.shape[:-1], packed.columns), np.int64)
    zero_points = np.asarray(weight_zero_points, np.int64).reshape(-1)
    # int8 become uint8, 128 higher, and so does their zero point.
    flip = 128 if x.dtype == np.int8 else 0
    x_zero_point += flip
    high = max(1, _COPIED // min(packed.depth, _DEPTH))
    rows, sums = x.reshape(-1, packed.depth), result.reshape(-1, packed.columns)
    for first in range(0, len(rows), high):
        some, block = rows[first : first + high], sums[first : first + high]
        block[...] = -x_zero_point * packed.sums.astype(np.int64)
        for start in range(0, packed.depth, _DEPTH):
            taken = some[:, start : start + _DEPTH].view(np.uint8)
            part = np.zeros((len(taken) + 1, taken.shape[1]), np.uint8)
            np.bitwise_xor(taken, np.uint8(flip), out=part[:-1])
            _add_products(kernel, part, start, packed, block)
            total = part[:-1].sum(axis=1, keepdims=True, dtype=np.int64)
            block -= zero_points * (total - part.shape[1] * x_zero_point)
    return result


def _add_products(
    kernel: ModuleType, x: IntArray, start: int, packed: PackedLinear, sums: IntArray
) -> None:
    """Add ``x``, some depths from ``start`` on, times the weights of these depths.

    The last row of ``x`` is 0: what it gives is taken from the others. Kernels that multiply signed
    bytes lower all of ``x`` by 128, and would need the sums of just these weights to undo it.
    """
    for first, width, panel in packed.parts(start, x.shape[1]):
        columns = min(width, packed.columns - first)
        products, no_sums = np.empty((len(x), columns), np.int32), np.zeros(columns, np.int32)
        weight = PackedLinear(panel, no_sums, columns, x.shape[1]).finished(finish_of_sums(None))
        kernel.linear(x, 0, products, weight, threads.limit)
        sums[:, first : first + columns] += products[:-1] - products[-1]
