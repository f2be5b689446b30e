"""Real arithmetic in double precision, rounded once at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray
from .base import Arithmetic
from .ending import rounded_then_shifted
from .real_operations import RealOperations
from .scaling import Scaling
from .step import Note

__all__ = ["Float64"]


class Float64(RealOperations, Arithmetic):
    r"""Integers of the real layer, computed in double precision and rounded once.

    Equation ``eq-requantize-double``: all in double precision, from the scales as they are given.

    Examples
    --------
    >>> sums = np.int64([[0], [8]])
    >>> Float64().requantize(sums, np.float32([3.0]), 0.5, 0.25, 1.0, 10).tolist()
    [[13], [14]]
    """

    name = "float64"
    summary = "the real layer in double precision, rounded once: what the others approximate"
    precision = np.float64

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The bias over the unit of the accumulator: float64."""
        unit = np.float64(s_x) * np.asarray(s_w, np.float64)
        return np.asarray(np.asarray(bias, np.float64) / unit)

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, _ = scaling
        label = "eq-requantize-double"
        unit = note(
            "unit of the accumulator",
            np.float64(s_x) * np.asarray(s_w, np.float64),
            label,
            "{s_x} * {s_w}",
            s_x=s_x,
            s_w=s_w,
        )
        real = note(
            "real result", accumulator * unit, label, "{a} * {unit}", a=accumulator, unit=unit
        )
        if bias is not None:
            exact = np.asarray(bias, np.float64)
            real = note("bias added", real + exact, label, "{v} + {b}", v=real, b=exact)
        scaled = note("scaled", real / np.float64(s_y), label, "{v} / {s_y}", v=real, s_y=s_y)
        return rounded_then_shifted(scaled, z_y, low, high, note, label)
