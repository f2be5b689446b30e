"""TFLite's operations without weights, in integers; and those of XNNPACK."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyqref.numerics.affine import reciprocal32
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.fixed_point import Ties, shift_right
from pyqref.numerics.noted import noted
from pyqref.numerics.rounding import round_half_away
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Packed
from .ending import on_grid, rounded_to_even, saturated, tie
from .multiplied import as_fixed_point, multiplied_twice, shift_tie
from .operations import Function, Operations
from .products import centred, centred_product, ratio_of_product
from .real_operations import product, total_of
from .step import Note, of, silent

__all__ = ["TFLiteOperations", "TFLiteRuyOperations", "TFLiteSingleOperations", "XNNPACKOperations"]

#: Bits by which TFLite shifts the terms of a sum to the left.
_LEFT = 20


class TFLiteSingleOperations(Operations):
    """Operations that TFLite computes without a multiplier, and matrix products."""

    real_layers = False

    def quantize(self, x: FloatArray, out: Grid, note: Note = silent) -> IntArray | None:
        r"""QUANTIZE of its reference: by a division, ties away from zero.

        Equation ``eq-tflite-quantize``:

        .. math:: q = \mathrm{sat}\big(\mathrm{rha}(\mathrm{fl}_{32}(x / s)) + z\big)
        """
        label, scale = "eq-tflite-quantize", np.float32(out.scale)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.asarray(x, np.float32) / scale
        note("in steps of the output", scaled, label, "fl32({v}) / {s}", v=x, s=scale)
        rounded = round_half_away(scaled)
        way = "away from zero"
        shown = saturated(rounded)
        note("rounded", shown, label, "rha({v})", lambda: tie(scaled, way), v=scaled)
        return on_grid(rounded, out, False, note, label)

    def average(
        self, taps: IntArray, count: IntArray, grid: Grid, whole: bool, note: Note = silent
    ) -> IntArray | None:
        r"""AVERAGE_POOL_2D: ties of the stored int8 mean go away from zero.

        Equation ``eq-tflite-average``, with the sum :math:`S = \sum_k (q_k - 128)` of n integers
        that are stored as quint8 here, and as int8 there:

        .. math:: q = \mathrm{sgn}(S) \lfloor (|S| + \lfloor n / 2 \rfloor) / n \rfloor + 128

        Beside the image stands the zero point, where it counts.
        """
        if np.dtype(grid.storage).itemsize > 1:
            return None
        label, number = "eq-tflite-average", np.asarray(noted("count", count), np.int64)
        offset = 128 if grid.quant_min == 0 else 0
        sums = total_of(taps, note, label)
        total = sums + number * (grid.zero_point - offset)
        formula = "{S} + {n} * ({z} - {offset})"
        numbers = {"S": sums, "n": number, "z": grid.zero_point, "offset": offset}
        note("sum of the int8 integers", total, label, formula, **numbers)
        rounded = np.sign(total) * ((np.abs(total) + number // 2) // number)
        note(
            "rounded",
            rounded,
            label,
            "rha({S} / {n})",
            lambda: tie(total / number, "away from zero"),
            S=total,
            n=number,
        )
        return on_grid(rounded, grid, False, note, label, offset)

    def matmul(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        note: Note = silent,
    ) -> IntArray | None:
        """BATCH_MATMUL: as a layer without a bias."""
        return product(self, a, a_grid, b, b_grid, out, note)

    def function(
        self, q: IntArray, grid: Grid, out: Grid, function: Function, note: Note = silent
    ) -> IntArray | None:
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

    def rescale(self, q: IntArray, grid: Grid, out: Grid, note: Note = silent) -> IntArray | None:
        r"""QUANTIZE from one grid to another.

        Equation ``eq-tflite-rescale``: ``eq-multiply-rounded-twice`` of :math:`q - z_x`, with the
        real multiplier :math:`s_x / s_y`, in double precision.
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        multiplier = np.float64(np.float32(grid.scale)) / np.float64(np.float32(out.scale))
        label = "eq-tflite-rescale"
        s_x, s_y = np.float32(grid.scale), np.float32(out.scale)
        note("real multiplier", multiplier, label, "{s_x} / {s_y}", s_x=s_x, s_y=s_y)
        rounded = _multiplied(centred(q, grid, note), multiplier, note, self.rescale_ties)
        return on_grid(rounded, out, False, note, label)

    def add(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        relu: bool = False,
        note: Note = silent,
    ) -> IntArray | None:
        r"""ADD: both terms 20 bits to the left, each times its multiplier, then the sum.

        Equation ``eq-tflite-add``, with M for the product of ``eq-multiply-rounded-twice``:

        .. math:: q = \mathrm{sat}\Big(M\big(M(2^{20}(a - z_a), s_a / t) + M(2^{20}(b - z_b),
                  s_b / t),\; t / (2^{20} s_y)\big) + z_y\Big), \qquad t = 2 \max(s_a, s_b)
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        s_a, s_b, s_y = (np.float64(np.float32(each.scale)) for each in (a_grid, b_grid, out))
        label, twice = "eq-tflite-add", 2 * max(s_a, s_b)
        note("twice the larger scale", twice, label, "2 * max({s_a}, {s_b})", s_a=s_a, s_b=s_b)
        terms = []
        for which, q, grid, scale in (("first", a, a_grid, s_a), ("second", b, b_grid, s_b)):
            own = of(which, note)
            less = centred(q, grid, own)
            shifted = less << _LEFT
            own("shifted left", shifted, label, f"{{d}} * 2**{_LEFT}", d=less)
            ratio = scale / twice
            own("real multiplier", ratio, label, "{s} / {t}", s=scale, t=twice)
            terms.append(_multiplied(shifted, ratio, own))
        total = note("sum", terms[0] + terms[1], label, "{a} + {b}", a=terms[0], b=terms[1])
        ratio = twice / (2**_LEFT * s_y)
        note("real multiplier", ratio, label, f"{{t}} / (2**{_LEFT} * {{s_y}})", t=twice, s_y=s_y)
        return on_grid(_multiplied(total, ratio, note), out, relu, note, label)

    def mul(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        relu: bool = False,
        note: Note = silent,
    ) -> IntArray | None:
        r"""MUL: the product of integers times one multiplier.

        Equation ``eq-tflite-mul``: ``eq-multiply-rounded-twice`` of :math:`(a - z_a)(b - z_b)`,
        with the real multiplier :math:`\mathrm{fl}_{32}(\mathrm{fl}_{32}(s_a s_b) / s_y)`.
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        label = "eq-tflite-mul"
        total = centred_product(a, a_grid, b, b_grid, note, label)
        ratio = np.float64(ratio_of_product(a_grid, b_grid, out, note, label))
        return on_grid(_multiplied(total, ratio, note), out, relu, note, label)


class TFLiteRuyOperations(TFLiteOperations):
    """TFLite's optimized kernels: another QUANTIZE, the rest as the reference."""

    rescale_ties = "up"

    def quantize(self, x: FloatArray, out: Grid, note: Note = silent) -> IntArray | None:
        r"""QUANTIZE: by a reciprocal, ties to even.

        Equation ``eq-quantize-after``.
        """
        label, inverse = "eq-quantize-after", reciprocal32(out.scale)
        note("reciprocal", inverse, label, "1 / fl32({s})", s=out.scale)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.asarray(x, np.float32) * inverse
        note("in steps of the output", scaled, label, "fl32({v}) * {i}", v=x, i=inverse)
        return on_grid(rounded_to_even(scaled, note, label), out, False, note, label)


class XNNPACKOperations(TFLiteRuyOperations):
    """XNNPACK's: one multiplier a tensor, one rounding. Where it has none, the optimized kernels.

    Means and matrix products are not XNNPACK's in TFLite's interpreter.
    """

    def rescale(self, q: IntArray, grid: Grid, out: Grid, note: Note = silent) -> IntArray | None:
        r"""From one grid to another, with a multiplier of 8 bits behind the point.

        Equation ``eq-xnnpack-rescale``, where :math:`s_x / s_y \ge 2^{-8}`:

        .. math:: q = \mathrm{sat}\big(\mathrm{rsu}(m (q_x - z_x),\, 8) + z_y\big), \qquad
                  m = \mathrm{rne}(2^8\, \mathrm{fl}_{32}(s_x / s_y))
        """
        ratio = np.float32(grid.scale) / np.float32(out.scale)
        if np.dtype(out.storage).itemsize > 1 or ratio < 2.0**-8:
            return super().rescale(q, grid, out, note)
        label = "eq-xnnpack-rescale"
        s_x, s_y = np.float32(grid.scale), np.float32(out.scale)
        note("ratio of scales", ratio, label, "{s_x} / {s_y}", s_x=s_x, s_y=s_y)
        multiplier = np.int64(np.rint(np.float64(ratio) * 2**8))
        note("multiplier", multiplier, label, "rne({r} * 2**8)", r=ratio)
        total = centred(q, grid, note) * multiplier
        return on_grid(_shifted(total, 8, note, label), out, False, note, label)

    def add(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        relu: bool = False,
        note: Note = silent,
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
            return super().add(a, a_grid, b, b_grid, out, relu, note)
        label = "eq-xnnpack-add"
        shift = 21 - int(np.frexp(max(ratios))[1])
        noted("shift", shift)
        terms = []
        given = ("first", a, a_grid), ("second", b, b_grid)
        for (which, q, grid), ratio in zip(given, ratios, strict=True):
            own = of(which, note)
            s, s_y = np.float32(grid.scale), np.float32(out.scale)
            own("ratio of scales", ratio, label, "{s} / {s_y}", s=s, s_y=s_y)
            multiplier = np.int64(np.rint(np.ldexp(np.float64(ratio), shift)))
            own("multiplier", multiplier, label, "rne({r} * 2**{t})", r=ratio, t=shift)
            less = centred(q, grid, own)
            terms.append(multiplier * less)
            own("product", terms[-1], label, "{m} * {d}", m=multiplier, d=less)
        total = note("sum", terms[0] + terms[1], label, "{a} + {b}", a=terms[0], b=terms[1])
        return on_grid(_shifted(total, shift, note, label), out, relu, note, label)

    def mul(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        relu: bool = False,
        note: Note = silent,
    ) -> IntArray | None:
        r"""A product with a real multiplier.

        Equation ``eq-xnnpack-mul``:

        .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}((a - z_a)(b - z_b)\,
                  m)\big) + z_y\Big), \qquad m = \mathrm{fl}_{32}(\mathrm{fl}_{32}(s_a s_b) / s_y)
        """
        if np.dtype(out.storage).itemsize > 1:
            return None
        label = "eq-xnnpack-mul"
        total = centred_product(a, a_grid, b, b_grid, note, label).astype(np.float32)
        ratio = ratio_of_product(a_grid, b_grid, out, note, label)
        scaled = note("scaled", total * ratio, label, "{v} * {M}", v=total, M=ratio)
        return on_grid(rounded_to_even(scaled, note, label), out, relu, note, label)


def _multiplied(total: IntArray, multiplier: Any, note: Note, ties: Ties = "away") -> IntArray:
    """The first rounding upward, the second as told: ``eq-multiply-rounded-twice``."""
    return multiplied_twice(total, *as_fixed_point(multiplier, note), "up", ties, note)


def _shifted(total: IntArray, shift: int, note: Note, label: str) -> IntArray:
    """Divided by a power of two, ties upward."""
    rounded = shift_right(total, shift, "up")
    said = "rsu({x}, {t})"
    note("rounded", rounded, label, said, lambda: shift_tie(total, shift, "up"), x=total, t=shift)
    return rounded
