"""Adding and multiplying by a number: the grid changes instead of the integers."""

from __future__ import annotations

import numpy as np

from .affine import reciprocal32
from .elementwise import Grid, relu
from .rounding import clamp_to_int, round_half_even
from .types import IntArray

__all__ = ["add_scalar", "mul_scalar"]


def add_scalar(
    q: IntArray, grid: Grid, number: float, fused_relu: bool = False
) -> tuple[IntArray, Grid]:
    r"""Add a real number to every element.

    Equation ``eq-add-scalar``:

    .. math::
        z' = z - \mathrm{rne}(c / s), \qquad (q, s, z) \mapsto \begin{cases}
            (q,\; s,\; z') & q_{min} \le z' \le q_{max} \\
            (\mathrm{rescale}(q),\; s\,\frac{q_{max} - z'}{q_{max} - q_{min}},\; q_{min})
                & z' < q_{min} \\
            (\mathrm{rescale}(q),\; s\,\frac{z' - q_{min}}{q_{max} - q_{min}},\; q_{max})
                & z' > q_{max}
        \end{cases}

    with :math:`\mathrm{rescale}(q) = \mathrm{sat}(\mathrm{rne}((q - z') \cdot
    s\,\iota(s'')) + z'')`: moving the zero point is exact up to the rounding of c; when
    it would leave the range, the scale grows so that it just fits.

    Returns
    -------
    The integers and the grid in which to read them.

    Examples
    --------
    >>> q, grid = add_scalar(np.uint8([10, 20]), Grid(0.5, 10), 2.0)
    >>> q, grid.zero_point
    (array([10, 20], dtype=uint8), 6)
    """
    low, high = grid.quant_min, grid.quant_max
    moved = grid.zero_point - int(np.rint(np.float64(number) / grid.scale))
    if low <= moved <= high:
        new = grid._replace(zero_point=moved)
    elif moved < low:
        scale = (float(high) - moved) / (float(high) - low) * grid.scale
        new = grid._replace(scale=scale, zero_point=low)
    else:
        scale = (float(moved) - low) / (float(high) - low) * grid.scale
        new = grid._replace(scale=scale, zero_point=high)
    q = np.asarray(q)
    if new.scale != grid.scale:
        multiplier = np.float32(grid.scale) * reciprocal32(new.scale)
        rounded = round_half_even((q.astype(np.int64) - moved).astype(np.float32) * multiplier)
        q = clamp_to_int(rounded.astype(np.float64) + new.zero_point, low, high, grid.storage)
    return (relu(q, new.zero_point) if fused_relu else q), new


def mul_scalar(
    q: IntArray, grid: Grid, number: float, fused_relu: bool = False
) -> tuple[IntArray, Grid]:
    r"""Multiply every element by a real number.

    Equation ``eq-mul-scalar``:

    .. math:: (q, s, z) \mapsto \begin{cases}
        (q,\; c s,\; z) & c > 0 \\
        (q_{min} + q_{max} - q,\; -c s,\; q_{min} + q_{max} - z) & c < 0 \\
        (0,\; 1,\; 0) & c = 0
        \end{cases}

    Returns
    -------
    The integers and the grid in which to read them.

    Examples
    --------
    >>> q, grid = mul_scalar(np.uint8([10, 20]), Grid(0.5, 10), -2.0)
    >>> q, grid.scale, grid.zero_point
    (array([245, 235], dtype=uint8), 1.0, 245)
    """
    q = np.asarray(q)
    mirror = grid.quant_min + grid.quant_max
    if number > 0:
        new = grid._replace(scale=grid.scale * number)
    elif number < 0:
        new = grid._replace(scale=grid.scale * -number, zero_point=mirror - grid.zero_point)
        q = (mirror - q.astype(np.int64)).astype(grid.storage)
    else:
        new = grid._replace(scale=1.0, zero_point=0)
        q = np.zeros_like(q)
    return (relu(q, new.zero_point) if fused_relu else q), new
