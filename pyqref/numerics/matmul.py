"""Matrix product of two activations: exact sums, quantized like any real number."""

from __future__ import annotations

import numpy as np

from .affine import quantize_per_tensor
from .elementwise import Grid
from .linear import exact_matmul
from .types import IntArray

__all__ = ["quantized_matmul"]


def quantized_matmul(a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid) -> IntArray:
    r"""Product of quantized matrices, one pair after the other.

    Equation ``eq-quantized-matmul``:

    .. math:: q = \mathrm{quantize}\Big(\mathrm{fl}_{32}\big(\textstyle\sum_k (a_k - z_a)
              (b_k - z_b)\big) \cdot \mathrm{fl}_{32}(s_a s_b)\Big)

    Unlike in a linear layer there is no weight to prepare a multiplier for; the zero point
    is added before rounding.

    Parameters
    ----------
    a, b
        Integers ``(..., M, K)`` and ``(..., K, N)`` on their grids; leading axes broadcast.
    out
        Grid of the result ``(..., M, N)``.

    Examples
    --------
    >>> grid = Grid(0.5, 0)
    >>> quantized_matmul(np.uint8([[2, 4]]), grid, np.uint8([[2], [6]]), grid, Grid(1.0, 10))
    array([[17]], dtype=uint8)
    """
    left = np.asarray(a).astype(np.int64) - a_grid.zero_point
    right = np.asarray(b).astype(np.int64) - b_grid.zero_point
    with np.errstate(over="ignore", invalid="ignore"):
        unit = np.float32(a_grid.scale) * np.float32(b_grid.scale)
        product = exact_matmul(left, right).astype(np.float32) * unit
    return quantize_per_tensor(product, *out)
