"""ONNX: QLinear operators, and quantize and dequantize around operators on real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyqref.numerics.fixed_point import bias_half_away
from pyqref.numerics.requantize import accumulator_scale, multiplier_fbgemm
from pyqref.numerics.rounding import clamp_to_int, round_half_even
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Array, NumberOrArray, Packed
from .base import Arithmetic, rounded_then_shifted
from .fbgemm import scaled_by, unit_of_accumulator
from .fixed_point import BIAS_HALF_AWAY, TFLite
from .onnx_operations import QLinearOperations, sum_in_order
from .packed import real_of
from .qnnpack import with_integer_bias
from .real_operations import RealOperations
from .scaling import Scaling
from .step import Note
from .tflite_operations import XNNPACKOperations

if TYPE_CHECKING:
    from pyqref.numerics.elementwise import Grid

    from .operations import Function

__all__ = ["ONNX", "ONNXQDQ", "TFLiteXNNPACK"]

_BIAS = "rne(fl32({b} / fl32(fl32({s_x}) * fl32({s_w}))))"


class ONNX(QLinearOperations, Arithmetic):
    r"""ONNX's QLinearConv, QLinearMatMul and QGemm.

    Equation ``eq-requantize-onnx``:

    .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(\mathrm{fl}_{32}(a +
              b^{int})\, M)\big) + z_y\Big), \quad M = \mathrm{fl}_{32}(A / s_y), \quad
              b^{int} = \mathrm{sat}_{32}(\mathrm{rne}(\mathrm{fl}_{32}(b / A)))

    A model file holds the integer bias; its zero point is 0 and its scale A.

    Examples
    --------
    >>> sums = np.int64([[5], [7]])  # 2.5 and 3.5
    >>> ONNX().requantize(sums, None, 0.5, 0.5, 0.5, 11).tolist()
    [[13], [15]]
    """

    name = "onnx"
    summary = "ONNX's QLinear operators: integer bias, zero point after rounding to even"
    #: How the bias becomes an integer.
    bias_label: ClassVar[str] = "eq-requantize-onnx"
    bias_formula: ClassVar[str] = _BIAS

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The rounded bias: int64."""
        scaled = np.asarray(bias, np.float32) / accumulator_scale(s_x, s_w)
        return clamp_to_int(round_half_even(scaled), -(2**31), 2**31 - 1, np.int64)

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """Real operators between DequantizeLinear and QuantizeLinear: ``eq-requantize-qdq``."""
        real = real_of(_WithStoredBias(self), packed, x_grid)(x)
        return self._on_grid(function(real), out)

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        label = "eq-requantize-onnx"
        how = self.bias_label, self.bias_formula
        total = with_integer_bias(self, accumulator, bias, s_x, s_w, note, *how)
        unit = unit_of_accumulator(s_x, s_w, note)
        multiplier = note(
            "multiplier",
            multiplier_fbgemm(unit, s_y),
            "eq-multiplier-fbgemm",
            "{unit} / fl32({s_y})",
            unit=unit,
            s_y=s_y,
        )
        scaled = scaled_by(total.astype(np.float32), multiplier, note, label)
        return rounded_then_shifted(scaled, z_y, low, high, note, label)


class TFLiteXNNPACK(XNNPACKOperations, ONNX):
    r"""TFLite's kernels from XNNPACK, which its interpreter takes unless told otherwise.

    Equation ``eq-requantize-onnx``, with the bias of TFLite's converter, ``eq-bias-half-away``.

    Examples
    --------
    >>> TFLiteXNNPACK().requantize(np.int64([[10]]), None, 0.5, 0.5, 1.0, 11).tolist()
    [[13]]
    """

    name = "tflite-xnnpack"
    matmul = TFLite().matmul  # BATCH_MATMUL is the reference's
    summary = "TFLite's XNNPACK: as ONNX's operators, with the integer bias of TFLite's converter"
    bias_label = "eq-bias-half-away"
    bias_formula = BIAS_HALF_AWAY

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The rounded bias: int64 (``eq-bias-half-away``)."""
        return bias_half_away(bias, s_x, s_w).astype(np.int64)


class ONNXQDQ(ONNX):
    r"""DequantizeLinear, an operator on real numbers, QuantizeLinear, without fusion.

    Equation ``eq-requantize-qdq``:

    .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(\mathrm{fl}_{32}(r +
              \mathrm{fl}_{32}(b^{int} A)) / s_y)\big) + z_y\Big), \qquad
              r = \mathrm{fl}_{32}(a\, s_x\, s_w)

    Here the real sum is rounded once; a run time rounds each product and sum, in an order of its
    own, so that results next to ties may differ. Run times fuse these operators if they may, and
    then compute as :class:`ONNX`.

    Examples
    --------
    >>> sums = np.int64([[5], [7]])
    >>> ONNXQDQ().requantize(sums, None, 0.5, 0.5, 0.5, 11).tolist()
    [[13], [15]]
    """

    name = "onnx-qdq"
    summary = "ONNX's operators on real numbers, between those for grids: division at the end"
    add = RealOperations.add
    mul = RealOperations.mul

    def average(self, taps: IntArray, count: IntArray, grid: Grid, whole: bool) -> IntArray | None:
        """Real numbers, added one after the other, divided, quantized."""
        total = sum_in_order(taps, np.float32(grid.scale))
        return self._on_grid(np.asarray(total / np.asarray(count, np.float32)), grid)

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        label = "eq-requantize-qdq"
        real = note(
            "real result",
            _real(accumulator, s_x, s_w),
            label,
            "fl32(fl64({a} * (fl32({s_x}) * fl32({s_w}))))",
            a=accumulator,
            s_x=s_x,
            s_w=s_w,
        )
        if bias is not None:
            formula = f"fl32({_BIAS} * fl32(fl32({{s_x}}) * fl32({{s_w}})))"
            integer = self.bias(bias, s_x, s_w).astype(np.float32)
            term = integer * accumulator_scale(s_x, s_w)
            term = note("bias", term, label, formula, b=bias, s_x=s_x, s_w=s_w)
            real = note("bias added", real + term, label, "{v} + {b}", v=real, b=term)
        formula = "{v} / fl32({s_y})"
        scaled = note("scaled", real / np.float32(s_y), label, formula, v=real, s_y=s_y)
        return rounded_then_shifted(scaled, z_y, low, high, note, label)


class _WithStoredBias:
    """Sums of an arithmetic as real results, with the bias that a model file holds."""

    def __init__(self, model: ONNX) -> None:
        self.model = model
        self.accumulate = model.accumulate

    def dequantize(
        self, accumulator: IntArray, bias: Array | None, s_x: float, s_w: NumberOrArray
    ) -> FloatArray:
        real = _real(accumulator, s_x, s_w)
        if bias is None:
            return real
        integer = self.model.bias(bias, s_x, s_w).astype(np.float32)
        return np.asarray(real + integer * accumulator_scale(s_x, s_w))


def _real(accumulator: IntArray, s_x: float, s_w: Any) -> FloatArray:
    """The real sum, rounded once."""
    x, w = np.float64(np.float32(s_x)), np.asarray(s_w).astype(np.float32).astype(np.float64)
    return np.asarray((accumulator * (x * w)).astype(np.float32))
