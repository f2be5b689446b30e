"""TensorRT: symmetric, the bias in real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.requantize import accumulator_scale
from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray
from .base import Arithmetic
from .ending import rounded_then_shifted
from .fbgemm import unit_of_accumulator
from .real_operations import RealOperations
from .scaling import Scaling
from .step import Note

__all__ = ["TensorRT"]


class TensorRT(RealOperations, Arithmetic):
    r"""The order that TensorRT documents: result, bias, division by the scale, ties to even.

    Equation ``eq-requantize-tensorrt``:

    .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(
              \mathrm{fl}_{32}(\mathrm{fl}_{32}(a A) + b) / s_y)\big) + z_y\Big)

    TensorRT's zero points are 0. Those of a model that has others are taken off before and added
    after, as integers.

    Notes
    -----
    A model of the documentation: it was not compared with TensorRT itself.

    Examples
    --------
    >>> sums = np.int64([[5], [7]])
    >>> TensorRT().requantize(sums, np.float32([0.5]), 0.5, 0.5, 0.5, 0, -128, 127).tolist()
    [[4], [4]]
    """

    name = "tensorrt"
    summary = "TensorRT as documented: symmetric, real bias, division by the output scale"

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The bias in units of the accumulator, float32: a number to compare with other systems.

        :meth:`requantize` adds the real bias, as it is, to the real result.
        """
        return np.asarray(np.asarray(bias, np.float32) / accumulator_scale(s_x, s_w))

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        label = "eq-requantize-tensorrt"
        unit = unit_of_accumulator(s_x, s_w, note)
        value = accumulator.astype(np.float32)
        real = note("real result", value * unit, label, "{a} * {unit}", a=value, unit=unit)
        if bias is not None:
            term = np.asarray(bias, np.float32)
            real = note("bias added", real + term, label, "{v} + {b}", v=real, b=term)
        formula = "{v} / fl32({s_y})"
        scaled = note("scaled", real / np.float32(s_y), label, formula, v=real, s_y=s_y)
        return rounded_then_shifted(scaled, z_y, low, high, note, label)
