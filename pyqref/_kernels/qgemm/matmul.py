"""Products of two activations, by the kernel of linear layers: one matrix is packed block by block.

The same results as :mod:`pyqref.numerics.matmul`.
"""

from __future__ import annotations

from itertools import product
from types import ModuleType
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref._kernels.quantize import quantize_per_tensor
from pyqref.numerics import matmul as reference
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray

from .finish import finish_of_reals, finish_of_sums
from .pack import PANEL, pack_transposed

__all__ = ["quantized_matmul"]

#: Bytes of either matrix, and results, of a block; the most depths, columns of one.
_BYTES, _RESULTS, _DEPTH, _COLUMNS = 1 << 17, 1 << 15, 2048, 512
#: Rows whose sums over more depths are buffered, for the columns of one panel.
_ROWS = 256


def quantized_matmul(a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid) -> IntArray:
    """Fast form of :func:`pyqref.numerics.matmul.quantized_matmul` (``eq-quantized-matmul``)."""
    kernel = registry.twin("qgemm")
    if kernel is None or a.size == 0 or b.size == 0:
        return reference.quantized_matmul(a, a_grid, b, b_grid, out)
    if a.ndim > 2 and b.ndim == 2:  # one matrix of all rows: the other is packed only once
        rows = a.reshape(-1, a.shape[-1])
        flat = quantized_matmul(rows, a_grid, b, b_grid, out)
        return flat.reshape(*a.shape[:-1], b.shape[-1])
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:])
    result = np.empty((*a.shape[:-1], b.shape[-1]), out.storage)
    for pair in np.ndindex(batch):
        _one_pair(kernel, a[pair], a_grid, b[pair], b_grid, out, result[pair])
    return result


def _one_pair(
    kernel: ModuleType,
    a: IntArray,
    a_grid: Grid,
    b: IntArray,
    b_grid: Grid,
    out: Grid,
    result: IntArray,
) -> None:
    """``a (M, K)`` times ``b (K, N)`` into ``result (M, N)``, block by block."""
    rows, columns = result.shape
    deep = min(len(b), _DEPTH)
    wide = min(_COLUMNS, max(_BYTES // deep // PANEL, 1) * PANEL)
    high = max(min(_RESULTS // min(wide, columns), _BYTES // deep), 1)
    tall = rows if deep == len(b) else _ROWS
    with np.errstate(over="ignore"):
        unit = np.float32(a_grid.scale) * np.float32(b_grid.scale)
    for top, column in product(range(0, rows, tall), range(0, columns, wide)):
        some, block = a[top : top + tall], b[:, column : column + wide]
        place = result[top : top + tall, column : column + wide]
        # Exact in 64 bits, however many depths there are.
        sums = None if deep == len(b) else np.zeros(place.shape, np.int64)
        for first in range(0, len(b), deep):
            depth = slice(first, first + deep)
            weight = _Weight(kernel, a_grid.zero_point, b_grid.zero_point, block[depth])
            for row in range(0, len(some), high):
                at = slice(row, row + high)
                if sums is None:
                    place[at] = quantize_per_tensor(weight.times(some[at], np.float32, unit), *out)
                else:
                    sums[at] += weight.times(some[at, depth], np.int32)
        if sums is not None:
            place[...] = quantize_per_tensor(sums.astype(np.float32) * unit, *out)


class _Weight:
    """One block of the second matrix, packed as a weight."""

    def __init__(self, kernel: ModuleType, x_zero_point: int, zero_point: int, b: IntArray) -> None:
        # Weights are int8: bytes of uint8, and their zero point, lose 128.
        zero_point -= 128 if b.dtype == np.uint8 else 0
        self.kernel, self.x_zero_point, self.packed = kernel, x_zero_point, pack_transposed(b)
        self.zero_points = np.full(1, zero_point, np.int64) if zero_point else None

    def times(self, x: IntArray, kind: type, unit: Any = 1) -> np.ndarray:
        """Sums for each row of ``x``, int32, or float32: rounded, and multiplied by ``unit``."""
        packed = self.packed
        finish = finish_of_sums(self.zero_points)
        if kind is np.float32:
            finish = finish_of_reals(self.zero_points, np.full(1, unit, np.float32))
        out: np.ndarray = np.empty((len(x), packed.columns), kind)
        self.kernel.linear(
            contiguous(x), self.x_zero_point, out, packed.finished(finish), threads.limit
        )
        return out
