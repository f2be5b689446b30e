"""TFLite's operations without weights, in integers; and those of XNNPACK."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyqref.numerics.affine import reciprocal32
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.fixed_point import (
    Ties,
    fixed_point_multiplier,
    multiply_rounded_twice,
    shift_right,
)
from pyqref.numerics.noted import noted
from pyqref.numerics.rounding import clamp_to_int, round_half_away, round_half_even
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Packed
from .operations import Function, Operations
from .real_operations import product

__all__ = ["TFLiteOperations", "TFLiteRuyOperations", "TFLiteSingleOperations", "XNNPACKOperations"]

#: Bits by which TFLite shifts the terms of a sum to the left.
_LEFT = 20


class TFLiteSingleOperations(Operations):
    """What TFLite computes without a multiplier; beside it, matrix products."""

    def quantize(self, x: FloatArray, out: Grid) -> IntArray | None:
        r"""QUANTIZE of its reference: by a division, ties away from zero.

        Equation ``eq-tflite-quantize``:

        .. math:: q = \mathrm{sat}\big(\mathrm{rha}(\mathrm{fl}_{32}(x / s)) + z\big)
        """
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.asarray(x, np.float32) / np.float32(out.scale)
        return _stored(round_half_away(scaled).astype(np.float64), out)

    def average(self, taps: IntArray, count: IntArray, grid: Grid, whole: bool) -> IntArray | None:
        r"""AVERAGE_POOL_2D: ties of the stored int8 mean go away from zero.

        Equation ``eq-tflite-average``, with the sum :math:`S = \sum_k (q_k - 128)` of n integers
        that are stored as quint8 here, and as int8 there:

        .. math:: q = \mathrm{sgn}(S) \lfloor (|S| + \lfloor n / 2 \rfloor) / n \rfloor + 128

        Beside the image stands the zero point, where it counts.
        """
        if np.dtype(grid.storage).itemsize > 1:
            return None
        number = np.asarray(noted("count", count), np.int64)
        offset = 128 if grid.quant_min == 0 else 0
        total = noted("sum", taps.sum(axis=-1) + number * (grid.zero_point - offset))
        rounded = noted("rounded", np.sign(total) * ((np.abs(total) + number // 2) // number))
        return clamp_to_int(rounded + offset, grid.quant_min, grid.quant_max, grid.storage)

    def matmul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid
    ) -> IntArray | None:
        """BATCH_MATMUL: as a layer without a bias."""
        return product(self, a, a_grid, b, b_grid, out)

    def function(self, q: IntArray, grid: Grid, out: Grid, function: Function) -> IntArray | None:
        """Not defined: LOGISTIC and its like have tables and grids of their own."""
        return None

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """Not defined: TFLite has no such layers."""
        return None

    def dynamic(self, packed: Packed, x: FloatArray, reduce_range: bool) -> FloatArray | None:
        """Not defined: its hybrid layers have a symmetric grid for each row."""
        return None


class TFLiteOperations(TFLiteSingleOperations):
    """TFLite's reference: every multiplier has 31 bits, and rounds twice."""

    #: Where ties of the second rounding go as a tensor is put on another grid.
    rescale_ties: ClassVar[Ties] = "away"

    def rescale(self, q: IntArray, grid: Grid, out: Grid) -> IntArray | None:
        r"""QUANTIZE from one grid to another.

        Equation ``eq-tflite-rescale``: ``eq-multiply-rounded-twice`` of :math:`q - z_x`, with the
        real multiplier :math:`s_x / s_y`, in double precision.
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        multiplier = np.float64(np.float32(grid.scale)) / np.float64(np.float32(out.scale))
        return _stored(_multiplied(_centred(q, grid), multiplier, self.rescale_ties), out)

    def add(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        r"""ADD: both terms 20 bits to the left, each times its multiplier, then the sum.

        Equation ``eq-tflite-add``, with M for the product of ``eq-multiply-rounded-twice``:

        .. math:: q = \mathrm{sat}\Big(M\big(M(2^{20}(a - z_a), s_a / t) + M(2^{20}(b - z_b),
                  s_b / t),\; t / (2^{20} s_y)\big) + z_y\Big), \qquad t = 2 \max(s_a, s_b)
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        s_a, s_b, s_y = (np.float64(np.float32(each.scale)) for each in (a_grid, b_grid, out))
        twice = 2 * max(s_a, s_b)
        term_a = _multiplied(_centred(a, a_grid) << _LEFT, s_a / twice, mark=" a")
        term_b = _multiplied(_centred(b, b_grid) << _LEFT, s_b / twice, mark=" b")
        total = noted("sum", term_a + term_b)
        return _stored(_multiplied(total, twice / (2**_LEFT * s_y)), out, relu)

    def mul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        r"""MUL: the product of integers times one multiplier.

        Equation ``eq-tflite-mul``: ``eq-multiply-rounded-twice`` of :math:`(a - z_a)(b - z_b)`,
        with the real multiplier :math:`\mathrm{fl}_{32}(\mathrm{fl}_{32}(s_a s_b) / s_y)`.
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        total = noted("product", _centred(a, a_grid) * _centred(b, b_grid))
        return _stored(_multiplied(total, _ratio(a_grid, b_grid, out)), out, relu)


class TFLiteRuyOperations(TFLiteOperations):
    """TFLite's optimized kernels: another QUANTIZE, the rest as the reference."""

    rescale_ties = "up"

    def quantize(self, x: FloatArray, out: Grid) -> IntArray | None:
        r"""QUANTIZE: by a reciprocal, ties to even.

        Equation ``eq-quantize-after``.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.asarray(x, np.float32) * reciprocal32(out.scale)
        return _stored(round_half_even(scaled).astype(np.float64), out)


class XNNPACKOperations(TFLiteRuyOperations):
    """XNNPACK's: one multiplier a tensor, one rounding. Where it has none, the optimized kernels.

    Means and matrix products are not XNNPACK's in TFLite's interpreter.
    """

    def rescale(self, q: IntArray, grid: Grid, out: Grid) -> IntArray | None:
        r"""From one grid to another, with a multiplier of 8 bits behind the point.

        Equation ``eq-xnnpack-rescale``, where :math:`s_x / s_y \ge 2^{-8}`:

        .. math:: q = \mathrm{sat}\big(\mathrm{rsu}(m (q_x - z_x),\, 8) + z_y\big), \qquad
                  m = \mathrm{rne}(2^8\, \mathrm{fl}_{32}(s_x / s_y))
        """
        ratio = np.float32(grid.scale) / np.float32(out.scale)
        if np.dtype(out.storage).itemsize > 1 or ratio < 2.0**-8:
            return super().rescale(q, grid, out)
        multiplier = np.int64(np.rint(np.float64(ratio) * 2**8))
        return _stored(shift_right(_centred(q, grid) * multiplier, 8, "up"), out)

    def add(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        r"""A sum with two multipliers, the larger of 21 bits, and one rounding.

        Equation ``eq-xnnpack-add``, where both ratios are in :math:`[2^{-10}, 2^8)`:

        .. math::
            \begin{gathered}
            q = \mathrm{sat}\big(\mathrm{rsu}(m_a (a - z_a) + m_b (b - z_b),\, t) + z_y\big),
            \\[1ex] r = \mathrm{fl}_{32}(s / s_y), \quad m = \mathrm{rne}(r\, 2^t), \quad
            t = 20 - \lfloor \log_2 \max(r_a, r_b) \rfloor
            \end{gathered}
        """
        ratios = [np.float32(each.scale) / np.float32(out.scale) for each in (a_grid, b_grid)]
        if np.dtype(out.storage).itemsize > 1 or not 2.0**-10 <= min(ratios) <= max(ratios) < 2**8:
            return super().add(a, a_grid, b, b_grid, out, relu)
        shift = 21 - int(np.frexp(max(ratios))[1])
        m_a, m_b = (np.int64(np.rint(np.ldexp(np.float64(each), shift))) for each in ratios)
        noted("multiplier a", m_a)
        noted("multiplier b", m_b)
        noted("shift", shift)
        total = noted("sum", m_a * _centred(a, a_grid) + m_b * _centred(b, b_grid))
        return _stored(noted("rounded", shift_right(total, shift, "up")), out, relu)

    def mul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        r"""A product with a real multiplier.

        Equation ``eq-xnnpack-mul``:

        .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}((a - z_a)(b - z_b)\,
                  m)\big) + z_y\Big), \qquad m = \mathrm{fl}_{32}(\mathrm{fl}_{32}(s_a s_b) / s_y)
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        total = noted("product", _centred(a, a_grid) * _centred(b, b_grid)).astype(np.float32)
        scaled = noted("scaled", total * noted("multiplier", _ratio(a_grid, b_grid, out)))
        rounded = noted("rounded", round_half_even(scaled))
        return _stored(rounded.astype(np.float64), out, relu)


def _centred(q: IntArray, grid: Grid) -> IntArray:
    return np.asarray(q).astype(np.int64) - grid.zero_point


def _ratio(a: Grid, b: Grid, out: Grid) -> np.floating[Any]:
    """What a product of integers is multiplied by, in float32."""
    ratio: np.floating[Any] = np.float32(a.scale) * np.float32(b.scale) / np.float32(out.scale)
    return ratio


def _multiplied(total: IntArray, multiplier: Any, ties: Ties = "away", mark: str = "") -> IntArray:
    """The first rounding upward, the second as told: ``eq-multiply-rounded-twice``."""
    integer, exponent = fixed_point_multiplier(np.float64(multiplier))
    noted(f"multiplier{mark}", integer)
    noted(f"exponent{mark}", exponent)
    rounded = multiply_rounded_twice(total, integer, exponent, "up", ties)
    return noted(f"rounded{mark}", rounded)


def _stored(rounded: Any, out: Grid, relu: bool = False) -> IntArray:
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    return clamp_to_int(rounded + out.zero_point, low, high, out.storage)
