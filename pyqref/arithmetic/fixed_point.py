"""Integer-only systems: a 31-bit multiplier and a shift (gemmlowp, TFLite, CMSIS-NN)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from pyqref.numerics.fixed_point import (
    Ties,
    bias_half_away,
    multiply_rounded_once,
)
from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray
from .base import Arithmetic
from .ending import shifted
from .multiplied import as_fixed_point, multiplied_twice, shift_tie
from .qnnpack import with_integer_bias
from .scaling import Scaling
from .step import Note
from .tflite_operations import TFLiteOperations, TFLiteRuyOperations, TFLiteSingleOperations

__all__ = ["BIAS_HALF_AWAY", "CMSISNN", "TFLite", "TFLiteRuy", "TFLiteSingle"]

#: The formula of ``eq-bias-half-away``.
BIAS_HALF_AWAY = "rha(fl64({b} / fl64(fl32({s_x}) * fl32({s_w}))))"


class _FixedPoint(Arithmetic):
    """Base of the integer-only systems: bias, multiplier, zero point after the rounding."""

    label: ClassVar[str] = "eq-multiply-rounded-twice"

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The rounded bias: int64 (``eq-bias-half-away``)."""
        return bias_half_away(bias, s_x, s_w).astype(np.int64)

    @abstractmethod
    def multiply(self, total: IntArray, integer: Array, exponent: Array, note: Note) -> IntArray:
        """Sums in units of the output, rounded."""

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        total = with_integer_bias(
            self, accumulator, bias, s_x, s_w, note, "eq-bias-half-away", BIAS_HALF_AWAY
        )
        multiplier = real_multiplier(s_x, s_w, s_y, note)
        integer, exponent = as_fixed_point(multiplier, note)
        rounded = self.multiply(total, integer, exponent, note)
        return shifted(rounded, z_y, low, high, note)


class _RoundedTwice(_FixedPoint):
    """A product that keeps the upper half, rounded; then a shift, rounded again."""

    first: ClassVar[Ties]
    second: ClassVar[Ties]

    def multiply(self, total: IntArray, integer: Array, exponent: Array, note: Note) -> IntArray:
        """Sums in units of the output (``eq-multiply-rounded-twice``)."""
        return multiplied_twice(total, integer, exponent, self.first, self.second, note)


class TFLite(TFLiteOperations, _RoundedTwice):
    r"""TFLite's and gemmlowp's reference arithmetic, without real numbers.

    Equations ``eq-bias-half-away``, ``eq-fixed-point-multiplier`` and
    ``eq-multiply-rounded-twice``: ties of the product go up, those of the shift away from zero.
    Then the zero point. The multiplier is :math:`s_x s_w / s_y` in double precision; for a weight
    per tensor the product is one of float32 numbers.

    Examples
    --------
    >>> sums = np.int64([[-10], [10]])
    >>> TFLite().requantize(sums, None, 0.5, 0.5, 1.0, 10).tolist()
    [[7], [13]]
    """

    name = "tflite"
    summary = "TFLite's reference (gemmlowp): 31-bit multiplier, two roundings, ties away from zero"
    first, second = "up", "away"


class CMSISNN(TFLite):
    r"""CMSIS-NN on Arm Cortex-M, which is made to equal :class:`TFLite`.

    Equations as there. Built with its option for one rounding it computes as
    :class:`TFLiteSingle`.

    Examples
    --------
    >>> sums = np.int64([[-10], [10]])
    >>> CMSISNN().requantize(sums, None, 0.5, 0.5, 1.0, 10).tolist()
    [[7], [13]]
    """

    name = "cmsis-nn"
    summary = "CMSIS-NN: the numbers of TFLite's reference on Arm Cortex-M"


class TFLiteRuy(TFLiteRuyOperations, _RoundedTwice):
    r"""TFLite's optimized kernels (ruy): as :class:`TFLite`, but ties go up both times.

    Equations ``eq-bias-half-away``, ``eq-fixed-point-multiplier`` and
    ``eq-multiply-rounded-twice``.

    Examples
    --------
    >>> sums = np.int64([[-10], [10]])
    >>> TFLiteRuy().requantize(sums, None, 0.5, 0.5, 1.0, 10).tolist()
    [[8], [13]]
    """

    name = "tflite-ruy"
    matmul = TFLite().matmul  # BATCH_MATMUL is the reference's
    summary = "TFLite's optimized kernels (ruy): 31-bit multiplier, two roundings, ties upward"
    first, second = "up", "up"


class TFLiteSingle(TFLiteSingleOperations, _FixedPoint):
    r"""TFLite and CMSIS-NN built to round once.

    Equations ``eq-bias-half-away``, ``eq-fixed-point-multiplier`` and ``eq-multiply-rounded-once``.

    Examples
    --------
    >>> sums = np.int64([[-10], [10]])
    >>> TFLiteSingle().requantize(sums, None, 0.5, 0.5, 1.0, 10).tolist()
    [[8], [13]]
    """

    name = "tflite-single"
    summary = "TFLite and CMSIS-NN built for one rounding: 31-bit multiplier, ties upward"
    label = "eq-multiply-rounded-once"

    def multiply(self, total: IntArray, integer: Array, exponent: Array, note: Note) -> IntArray:
        """Sums in units of the output (``eq-multiply-rounded-once``)."""
        shift = 31 - np.asarray(exponent)
        return note(
            "rounded",
            multiply_rounded_once(total, integer, exponent),
            self.label,
            "rsu({x} * {m}, {shift})",
            lambda: shift_tie(total * integer, shift, "up"),
            x=total,
            m=integer,
            shift=shift,
        )


def real_multiplier(s_x: float, s_w: NumberOrArray, s_y: float, note: Note) -> NumberOrArray:
    """Units of the output in one unit of the accumulator, in double precision."""
    label = "eq-fixed-point-multiplier"
    x, y = np.float32(s_x), np.float64(np.float32(s_y))
    unit: Any
    if np.ndim(s_w) == 0:
        unit = np.float64(x * np.float32(s_w))
        formula = "fl32(fl32({s_x}) * fl32({s_w}))"
    else:
        unit = np.float64(x) * np.asarray(s_w).astype(np.float32).astype(np.float64)
        formula = "fl64(fl32({s_x}) * fl32({s_w}))"
    unit = note("unit of the accumulator", unit, label, formula, s_x=s_x, s_w=s_w)
    return note("real multiplier", unit / y, label, "{unit} / fl32({s})", unit=unit, s=s_y)
