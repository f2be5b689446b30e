"""fbgemm: a real bias, one division for the multiplier."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.requantize import accumulator_scale, multiplier_fbgemm
from pyqref.numerics.rounding import fma32
from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray
from .base import Arithmetic
from .ending import rounded_then_shifted
from .operations import EngineOperations
from .scaling import Scaling
from .step import Note

__all__ = ["FBGEMM"]


class FBGEMM(EngineOperations, Arithmetic):
    r"""torch's fbgemm (and its default, ``x86``): the bias stays real.

    Equations ``eq-requantize-bias`` and ``eq-requantize``, with ``eq-multiplier-fbgemm``: the bias
    is divided by the unit of the accumulator, or, for a weight per tensor, multiplied by the
    reciprocal and added with one rounding.

    Examples
    --------
    >>> sums = np.int64([[0], [8]])
    >>> FBGEMM().requantize(sums, np.float32([3.0]), 0.5, 0.25, 1.0, 10).tolist()
    [[13], [14]]
    """

    name = "fbgemm"
    summary = "torch's fbgemm: float32 multiplier by division, real bias, ties to even"
    engine = "fbgemm"

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The bias over the unit of the accumulator: float32."""
        unit = accumulator_scale(s_x, s_w)
        if np.ndim(s_w) == 0:
            return np.asarray(bias, np.float32) * (np.float32(1) / unit)
        return np.asarray(bias, np.float32) / unit

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        unit = unit_of_accumulator(s_x, s_w, note)
        multiplier = note(
            "multiplier",
            multiplier_fbgemm(unit, s_y),
            "eq-multiplier-fbgemm",
            "{unit} / fl32({s_y})",
            unit=unit,
            s_y=s_y,
        )
        value = accumulator.astype(np.float32)
        if bias is not None and np.ndim(s_w) == 0:
            inverse = note(
                "reciprocal of the unit",
                np.float32(1) / unit,
                "eq-requantize-bias",
                "1 / {unit}",
                unit=unit,
            )
            value = note(
                "bias added, rounded once",
                fma32(bias, inverse, accumulator),
                "eq-requantize-bias",
                "fma({b}, {inverse}, {a})",
                b=bias,
                inverse=inverse,
                a=accumulator,
            )
        elif bias is not None:
            term = note(
                "bias",
                self.bias(bias, s_x, s_w),
                "eq-requantize-bias",
                "{b} / {unit}",
                b=bias,
                unit=unit,
            )
            value = note("sum", value + term, "eq-requantize-bias", "{a} + {b}", a=value, b=term)
        scaled = scaled_by(value, multiplier, note)
        return rounded_then_shifted(scaled, z_y, low, high, note)


def unit_of_accumulator(s_x: float, s_w: NumberOrArray, note: Note) -> NumberOrArray:
    """Return the value of one unit of the accumulator, in float32."""
    return note(
        "unit of the accumulator",
        accumulator_scale(s_x, s_w),
        "eq-accumulator-scale",
        "fl32({s_x}) * fl32({s_w})",
        s_x=s_x,
        s_w=s_w,
    )


def scaled_by(
    value: np.ndarray, multiplier: NumberOrArray, note: Note, label: str = "eq-requantize-bias"
) -> np.ndarray:
    """A sum in units of the output, float32."""
    return note("scaled", value * multiplier, label, "{v} * {M}", v=value, M=multiplier)
