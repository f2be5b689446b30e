"""Operations on the elements of quantized arrays: sums, products, clamps, joining."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from .affine import dequantize_per_tensor, quantize_per_tensor, reciprocal32
from .noted import noted
from .rounding import clamp_to_int, fma32, round_half_even, round_shift_right
from .types import Engine, FloatArray, IntArray

__all__ = [
    "Grid",
    "add",
    "add_fixed_point",
    "cat",
    "clamp",
    "dequantize_fused",
    "mul",
    "quantize_after",
    "relu",
    "relu6",
    "sum_fixed_point",
    "zero_is_coarse",
]


class Grid(NamedTuple):
    """Scale, zero point and integer range of one quantized array.

    Examples
    --------
    >>> Grid(0.1, 3).lowest
    (3, 255)
    """

    scale: float
    zero_point: int
    quant_min: int = 0
    quant_max: int = 255
    storage: Any = np.uint8

    @property
    def lowest(self) -> tuple[int, int]:
        """Range after a ReLU: from the zero point up."""
        return max(self.quant_min, self.zero_point), self.quant_max


#: In steps of a sum: smaller rounding errors of zero are as those of other numbers.
COARSE_ZERO = 2.0**-10


def dequantize_fused(q: Array, grid: Grid, exact_zero: bool = True) -> FloatArray:
    r"""Dequantize with one fused multiply-add, as vector code does inside a sum.

    Equation ``eq-dequantize-fused``:

    .. math:: \hat x = \begin{cases} 0 & q = z \\
              \mathrm{fma}\big(q,\, s,\, \mathrm{fl}_{32}(-z \cdot s)\big) & q \ne z
              \end{cases}

    Without its own case, real zero would come out as the rounding error of :math:`z \cdot s`,
    which grows with the scale.

    Parameters
    ----------
    q
        Integers.
    grid
        Their grid.
    exact_zero
        False leaves out the first case.

    Examples
    --------
    >>> dequantize_fused(np.uint8([0, 10, 20]), Grid(0.5, 10)).tolist()
    [-5.0, 0.0, 5.0]
    >>> dequantize_fused(np.uint8([255]), Grid(1028.02, 255)).tolist()
    [0.0]
    """
    q, scale = np.asarray(q), np.float32(grid.scale)
    with np.errstate(over="ignore"):
        fused = fma32(q.astype(np.float32), scale, np.float32(-grid.zero_point) * scale)
    return np.where(q == grid.zero_point, np.float32(0), fused) if exact_zero else fused


def zero_is_coarse(a: Grid, b: Grid, out: Grid) -> bool:
    """Return True if rounding errors of real zero are visible in a sum on the grid ``out``.

    Examples
    --------
    >>> zero_is_coarse(Grid(0.3, 3), Grid(0.1, 7), Grid(0.2, 0))
    False
    >>> zero_is_coarse(Grid(1028.02, 255), Grid(0.1, 7), Grid(0.2, 0))
    True
    """
    with np.errstate(over="ignore"):
        errors = [
            abs(float(each.zero_point) * float(scale) - float(np.float32(each.zero_point) * scale))
            for each, scale in ((a, np.float32(a.scale)), (b, np.float32(b.scale)))
        ]
    return sum(errors) >= float(np.float32(out.scale)) * COARSE_ZERO


def quantize_after(x: FloatArray, grid: Grid, relu: bool = False) -> IntArray:
    r"""Quantize with the zero point added after rounding.

    Equation ``eq-quantize-after``:

    .. math:: q = \mathrm{sat}\big(\mathrm{rne}(\mathrm{fl}_{32}(x\, \iota(s))) + z\big)

    Examples
    --------
    >>> quantize_after(np.float32([0.5, 1.5, 2.5]), Grid(1.0, 1)).tolist()
    [1, 3, 3]
    """
    scaled = noted("scaled", x * reciprocal32(grid.scale))
    rounded = noted("rounded", round_half_even(scaled)).astype(np.float64)
    low, high = grid.lowest if relu else (grid.quant_min, grid.quant_max)
    return clamp_to_int(rounded + grid.zero_point, low, high, grid.storage)


def add(
    a: IntArray,
    a_grid: Grid,
    b: IntArray,
    b_grid: Grid,
    out: Grid,
    engine: Engine = "fbgemm",
    relu: bool = False,
) -> IntArray:
    r"""Sum of two quantized arrays, with a fused ReLU if asked.

    Equation ``eq-quantized-add``:

    .. math:: q = \mathrm{quantize\_after}(\hat a + \hat b)

    with both sides dequantized by ``eq-dequantize-fused`` and summed in float32. Zero has its own
    case only where its rounding errors on both grids, :math:`|z s - \mathrm{fl}_{32}(z s)|`,
    come to at least :math:`2^{-10}` steps of the result. The engine qnnpack adds 8-bit unsigned
    integers by ``eq-add-fixed-point`` instead.

    Parameters
    ----------
    a, b
        Integers that broadcast together.
    a_grid, b_grid, out
        Their grids, and the result's.

    Examples
    --------
    >>> a, b = np.uint8([2, 100]), np.uint8([4, 200])
    >>> add(a, Grid(0.5, 0), b, Grid(0.25, 0), Grid(1.0, 10)).tolist()
    [12, 110]
    """
    if engine == "qnnpack" and np.dtype(out.storage) == np.uint8:
        return add_fixed_point(a, a_grid, b, b_grid, out, relu)
    exact_zero = zero_is_coarse(a_grid, b_grid, out)
    with np.errstate(over="ignore", invalid="ignore"):
        real_a = noted("real a", dequantize_fused(a, a_grid, exact_zero))
        real_b = noted("real b", dequantize_fused(b, b_grid, exact_zero))
        total = noted("sum", real_a + real_b)
    return quantize_after(total, out, relu)


def add_fixed_point(
    a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
) -> IntArray:
    r"""Sum in integers, with the ratios of the scales as fixed-point numbers.

    Equation ``eq-add-fixed-point``:

    .. math::
        \begin{gathered}
        r_a = s_a / s_y, \quad r_b = s_b / s_y, \quad
        t = 21 - \lfloor \log_2 \max(r_a, r_b) \rfloor, \quad
        m = \mathrm{rne}(r \cdot 2^t), \\[1ex]
        q = \mathrm{sat}\big(\mathrm{rsr}(m_a (a - z_a) + m_b (b - z_b),\; t) + z_y\big)
        \end{gathered}

    The ratios are float32; the larger multiplier has 22 bits, so the sum fits 32.

    Examples
    --------
    >>> a, b = np.uint8([3, 5]), np.uint8([0, 0])  # halves round away from zero
    >>> add_fixed_point(a, Grid(0.5, 0), b, Grid(0.5, 0), Grid(1.0, 10)).tolist()
    [12, 13]
    """
    total, shift = sum_fixed_point(a, a_grid, b, b_grid, out)
    shifted = noted("rounded", round_shift_right(total, min(shift, 62))) + out.zero_point
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    return clamp_to_int(shifted, low, high, out.storage)


def sum_fixed_point(
    a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid
) -> tuple[IntArray, int]:
    """The sum in ``eq-add-fixed-point`` before it is shifted to the right, and by how many bits.

    Examples
    --------
    >>> sum_fixed_point(np.uint8([3]), Grid(0.5, 0), np.uint8([0]), Grid(0.5, 0), Grid(1.0, 10))
    (array([6291456]), 22)
    """
    ratio_a = np.float32(a_grid.scale) / np.float32(out.scale)
    ratio_b = np.float32(b_grid.scale) / np.float32(out.scale)
    shift = 22 - int(np.frexp(max(ratio_a, ratio_b))[1])
    multiplier_a, multiplier_b = (
        np.int64(np.rint(np.ldexp(np.float64(r), shift))) for r in (ratio_a, ratio_b)
    )
    noted("multiplier a", multiplier_a)
    noted("multiplier b", multiplier_b)
    noted("shift", shift)
    total = multiplier_a * (np.asarray(a).astype(np.int64) - a_grid.zero_point)
    total = total + multiplier_b * (np.asarray(b).astype(np.int64) - b_grid.zero_point)
    noted("sum", total)
    if shift < 0:
        total, shift = total << np.int64(-shift), 0
    return total, shift


def mul(
    a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
) -> IntArray:
    r"""Product of two quantized arrays: an integer product and one multiplier.

    Equation ``eq-quantized-mul``:

    .. math:: q = \mathrm{sat}\big(\mathrm{rne}((a - z_a)(b - z_b) \cdot m) + z_y\big),
              \qquad m = \mathrm{fl}_{32}(s_a s_b) \cdot \iota(s_y)

    Examples
    --------
    >>> a, b = np.uint8([12, 14]), np.uint8([6, 8])
    >>> mul(a, Grid(0.5, 10), b, Grid(1.0, 5), Grid(0.5, 100)).tolist()
    [102, 112]
    """
    left = np.asarray(a).astype(np.int64) - a_grid.zero_point
    right = np.asarray(b).astype(np.int64) - b_grid.zero_point
    with np.errstate(over="ignore", invalid="ignore"):
        multiplier = np.float32(a_grid.scale) * np.float32(b_grid.scale) * reciprocal32(out.scale)
        noted("multiplier", multiplier)
        product = noted("product", left * right).astype(np.float32)
        rounded = noted("rounded", round_half_even(noted("scaled", product * multiplier)))
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    return clamp_to_int(rounded.astype(np.float64) + out.zero_point, low, high, out.storage)


def cat(arrays: Sequence[IntArray], grids: Sequence[Grid], axis: int, out: Grid) -> IntArray:
    r"""Join quantized arrays along an axis on one grid.

    Equation ``eq-quantized-cat``:

    .. math:: q_i' = \begin{cases} q_i & (s_i, z_i) = (s_y, z_y) \\
              \mathrm{quantize}(\mathrm{dequantize}(q_i)) & \text{otherwise} \end{cases}

    Examples
    --------
    >>> pair = [np.uint8([10, 20]), np.uint8([10, 20])]
    >>> cat(pair, [Grid(0.1, 0), Grid(0.2, 10)], 0, Grid(0.1, 0)).tolist()
    [10, 20, 0, 20]
    """
    parts = []
    for q, grid in zip(arrays, grids, strict=True):
        if (grid.scale, grid.zero_point) != (out.scale, out.zero_point):
            q = quantize_per_tensor(dequantize_per_tensor(q, grid.scale, grid.zero_point), *out)
        parts.append(np.asarray(q, dtype=out.storage))
    return np.concatenate(parts, axis=axis)


def relu(q: IntArray, zero_point: int) -> IntArray:
    r"""ReLU on the integers.

    Equation ``eq-quantized-relu``:

    .. math:: q' = \max(q, z)

    Examples
    --------
    >>> relu(np.uint8([0, 5, 9]), 5)
    array([5, 5, 9], dtype=uint8)
    """
    q = np.asarray(q)
    return np.asarray(np.maximum(q, q.dtype.type(zero_point)))


def clamp(q: IntArray, grid: Grid, low: float | None, high: float | None) -> IntArray:
    r"""Clamp to real bounds, on the integers.

    Equation ``eq-quantized-clamp``:

    .. math:: q' = \min(\max(q, \mathrm{quantize}(low)), \mathrm{quantize}(high))

    Examples
    --------
    >>> clamp(np.uint8([0, 50, 255]), Grid(0.1, 20), -1.0, 6.0).tolist()
    [10, 50, 80]
    """
    q = np.asarray(q)
    with np.errstate(over="ignore"):
        if low is not None:
            q = np.maximum(q, quantize_per_tensor(np.float32(low), *grid))
        if high is not None:
            q = np.minimum(q, quantize_per_tensor(np.float32(high), *grid))
    return np.asarray(q)


def relu6(q: IntArray, grid: Grid) -> IntArray:
    r"""ReLU6 on the integers.

    Equation ``eq-quantized-relu6``:

    .. math:: q' = \min(\max(q, z), \mathrm{quantize}(6))

    Examples
    --------
    >>> relu6(np.uint8([0, 40, 255]), Grid(0.1, 20)).tolist()
    [20, 40, 80]
    """
    return clamp(relu(q, grid.zero_point), grid, None, 6.0)
