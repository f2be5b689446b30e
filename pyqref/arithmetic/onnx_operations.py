"""ONNX Runtime's QLinear operators beside those with weights, as experiments show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.elementwise import Grid
from pyqref.numerics.noted import noted
from pyqref.numerics.rounding import clamp_to_int, fma32, round_half_even
from pyqref.numerics.types import FloatArray, IntArray

from .ending import on_grid, rounded_to_even
from .products import centred_product, ratio_of_product
from .real_operations import RealOperations, total_of
from .step import Note, of, silent

__all__ = ["QLinearOperations", "is_constant", "sum_in_order"]


class QLinearOperations(RealOperations):
    r"""QLinearAdd, QLinearMul, QLinearAveragePool and their like.

    Joining (QLinearConcat) and functions (QLinearSigmoid, QLinearLeakyRelu) follow
    ``eq-real-operation``, QuantizeLinear too. Layers with a real input are DynamicQuantizeLinear,
    MatMulInteger, and then ``eq-real-result``.
    """

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
        r"""QLinearAdd: the zero points make one constant, and both products are fused.

        Equation ``eq-onnx-add``, with :math:`r = \mathrm{fl}_{32}(s / s_y)`:

        .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fma}(a, r_a,\,
                  \mathrm{fma}(b, r_b,\, \mathrm{fl}_{32}(z_y - \mathrm{fma}(r_a, z_a,
                  \mathrm{fl}_{32}(r_b z_b)))))\big)\Big)

        Where along the last axis of the result that is longer than 1 the first array has one
        element only, or where there is no such axis, the two arrays are exchanged.
        """
        if np.dtype(out.storage).itemsize > 1:
            return super().add(a, a_grid, b, b_grid, out, relu, note)
        a, b = np.asarray(a), np.asarray(b)
        if is_constant(a.shape, np.broadcast_shapes(a.shape, b.shape)):
            a, a_grid, b, b_grid = b, b_grid, a, a_grid
            first, second = of("second", note), of("first", note)
        else:
            first, second = of("first", note), of("second", note)
        label, y = "eq-onnx-add", np.float32(out.scale)
        r_a, r_b = np.float32(a_grid.scale) / y, np.float32(b_grid.scale) / y
        z_a, z_b = np.float32(a_grid.zero_point), np.float32(b_grid.zero_point)
        with np.errstate(over="ignore", invalid="ignore"):
            for own, ratio, grid in ((first, r_a, a_grid), (second, r_b, b_grid)):
                s = np.float32(grid.scale)
                own("multiplier", ratio, label, "{s} / {s_y}", s=s, s_y=y)
            constant = np.float32(out.zero_point) - fma32(r_a, z_a, r_b * z_b)
            zeros = {"z_a": z_a, "r_a": r_a, "z_b": z_b, "r_b": r_b, "z": out.zero_point}
            formula = "{z} - fl32(fma({r_a}, {z_a}, fl32({r_b} * {z_b})))"
            note("constant", constant, label, formula, **zeros)
            inner = fma32(b.astype(np.float32), r_b, constant)
            second("added to it", inner, label, "fma({q}, {r}, {c})", q=b, r=r_b, c=constant)
            total = fma32(a.astype(np.float32), r_a, inner)
            first("added to it", total, label, "fma({q}, {r}, {c})", q=a, r=r_a, c=inner)
        return _stored(total, out, relu, note, label)

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
        r"""QLinearMul: one multiplier, and the zero point before the rounding.

        Equation ``eq-onnx-mul``:

        .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(\mathrm{fl}_{32}(
                  (a - z_a)(b - z_b)\, m) + z_y)\big)\Big), \qquad
                  m = \mathrm{fl}_{32}(\mathrm{fl}_{32}(s_a s_b) / s_y)
        """
        if np.dtype(out.storage).itemsize > 1:
            return super().mul(a, a_grid, b, b_grid, out, relu, note)
        label = "eq-onnx-mul"
        total = centred_product(a, a_grid, b, b_grid, note, label).astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            multiplier = ratio_of_product(a_grid, b_grid, out, note, label)
            scaled = note("scaled", total * multiplier, label, "{v} * {M}", v=total, M=multiplier)
            return _stored(_with_zero(scaled, out, note, label), out, relu, note, label)

    def average(
        self, taps: IntArray, count: IntArray, grid: Grid, whole: bool, note: Note = silent
    ) -> IntArray | None:
        r"""QLinearGlobalAveragePool where the window is the image, else QLinearAveragePool.

        Equation ``eq-onnx-global-average``, with the exact sum S of n integers less the zero point:

        .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(S\, m)\big) + z\Big),
                  \qquad m = \mathrm{fl}_{32}(s / \mathrm{fl}_{32}(s\, n))

        Equation ``eq-onnx-average``, whose sum is one of real numbers, one after the other:

        .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(\mathrm{fl}_{32}(
                  \mathrm{fl}_{32}(\textstyle\sum_k \hat x_k / n) / s) + z)\big)\Big)
        """
        number, scale = np.asarray(noted("count", count)).astype(np.float32), np.float32(grid.scale)
        if whole:
            label, multiplier = "eq-onnx-global-average", scale / (scale * number)
            note("multiplier", multiplier, label, "{s} / fl32({s} * {n})", s=scale, n=number)
            total = total_of(taps, note, label).astype(np.float32)
            scaled = note("scaled", total * multiplier, label, "{v} * {M}", v=total, M=multiplier)
            return on_grid(rounded_to_even(scaled, note, label), grid, False, note, label)
        label, total = "eq-onnx-average", sum_in_order(taps, scale, note)
        mean = note("mean", total / number, label, "{v} / {n}", v=total, n=number)
        scaled = note("scaled", mean / scale, label, "{v} / {s}", v=mean, s=scale)
        return _stored(_with_zero(scaled, grid, note, label), grid, False, note, label)

    def dynamic_grid(self, low: Any, high: Any, reduce_range: bool) -> Grid:
        r"""DynamicQuantizeLinear: 8 bits, whatever ``reduce_range`` says (``eq-onnx-dynamic``).

        .. math:: s = \mathrm{fl}_{32}\big(\mathrm{fl}_{32}(x_{max} - x_{min}) / 255\big), \qquad
                  z = \mathrm{sat}(\mathrm{rne}(\mathrm{fl}_{32}(-x_{min} / s)))

        of a range that holds 0. If it holds nothing else, the scale is 1.
        """
        low, high = np.float32(min(low, 0.0)), np.float32(max(high, 0.0))
        scale = (high - low) / np.float32(255) if high > low else np.float32(1)
        zero_point = clamp_to_int(round_half_even(-low / scale), 0, 255, np.int64)
        return Grid(float(scale), int(zero_point))


def is_constant(shape: tuple[int, ...], result: tuple[int, ...]) -> bool:
    """Return True if an array has one element along the last long axis of a result."""
    sizes = (1,) * (len(result) - len(shape)) + shape
    along = [own for own, size in zip(sizes, result, strict=True) if size != 1]
    return not along or along[-1] == 1


def _with_zero(scaled: FloatArray, out: Grid, note: Note, label: str) -> FloatArray:
    z = np.float32(out.zero_point)
    return np.asarray(note("with zero point", scaled + z, label, "{v} + {z}", v=scaled, z=z))


def _stored(total: FloatArray, out: Grid, relu: bool, note: Note, label: str) -> IntArray:
    """A sum that holds the zero point already, rounded to even and clamped."""
    noted("with zero point", total)
    rounded = rounded_to_even(total, note, label, ", zero point included")
    return on_grid(rounded, out, relu, note, label, offset=0)


def sum_in_order(taps: IntArray, scale: np.floating[Any], note: Note = silent) -> FloatArray:
    """Real numbers of the last axis, added one after the other in float32."""
    total = np.zeros(taps.shape[:-1], np.float32)
    for tap in range(taps.shape[-1]):
        total = total + taps[..., tap].astype(np.float32) * scale
    formula = "sum of (q - z) * {s}, one after the other, over {count} places"
    label, numbers = "eq-onnx-average", {"s": scale, "count": taps.shape[-1]}
    return np.asarray(note("real sum", total, label, formula, **numbers))
