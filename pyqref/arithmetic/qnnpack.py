"""qnnpack: the bias as an integer, a reciprocal for the multiplier."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.requantize import bias_as_integer, multiplier_qnnpack
from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray
from .base import Arithmetic, rounded_then_shifted
from .fbgemm import scaled_by, unit_of_accumulator
from .operations import EngineOperations
from .scaling import Scaling
from .step import Note

__all__ = ["QNNPACK", "with_integer_bias"]


class QNNPACK(EngineOperations, Arithmetic):
    r"""torch's qnnpack: the bias becomes an integer in units of the accumulator.

    Equations ``eq-bias-integer``, ``eq-requantize-bias`` and ``eq-requantize``, with
    ``eq-multiplier-qnnpack``.

    Examples
    --------
    >>> sums = np.int64([[0], [8]])
    >>> QNNPACK().requantize(sums, np.float32([3.0]), 0.5, 0.25, 1.0, 10).tolist()
    [[13], [14]]
    """

    name = "qnnpack"
    summary = "torch's qnnpack: float32 multiplier by a reciprocal, integer bias, ties to even"
    engine = "qnnpack"

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The rounded bias: int64 (``eq-bias-integer``)."""
        return bias_as_integer(bias, s_x, s_w).astype(np.int64)

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        unit = unit_of_accumulator(s_x, s_w, note)
        multiplier = note(
            "multiplier",
            multiplier_qnnpack(unit, s_y),
            "eq-multiplier-qnnpack",
            "{unit} * fl32(1 / fl32({s_y}))",
            unit=unit,
            s_y=s_y,
        )
        total = with_integer_bias(self, accumulator, bias, s_x, s_w, note, "eq-bias-integer")
        scaled = scaled_by(total.astype(np.float32), multiplier, note)
        return rounded_then_shifted(scaled, z_y, low, high, note)


def with_integer_bias(
    model: Arithmetic,
    accumulator: IntArray,
    bias: Array | None,
    s_x: float,
    s_w: NumberOrArray,
    note: Note,
    label: str,
    formula: str = "rne(fl32({b} * fl32(1 / fl32(fl64({s_x} * {s_w})))))",
) -> IntArray:
    """Accumulators with the bias added as an integer, if there is one."""
    if bias is None:
        return accumulator
    term = model.bias(bias, s_x, s_w)
    term = note("bias", term, label, formula, b=bias, s_x=s_x, s_w=s_w)
    return note("sum", accumulator + term, label, "{a} + {b}", a=accumulator, b=term)
