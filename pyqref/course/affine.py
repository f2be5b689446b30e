"""Exercises on integers that stand for real numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array
from .arrays import float32, int8, uint8
from .exercise import Case, Exercise, Mistake
from .wrong import half_away, half_up, right, saturate, wrap

__all__ = ["DEQUANTIZE", "QUANTIZE", "QUANTIZE_PER_CHANNEL"]

INT8, UINT8 = (-128, 127), (0, 255)


def quantize(x: Array, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Array:
    """Solution."""
    return saturate(right(x / scale + zero_point), quant_min, quant_max)


def rounded_by(rounding: Callable[[Any], Any]) -> Callable[..., Any]:
    """The solution with another way to round."""

    def wrong(x: Any, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Any:
        return saturate(rounding(x / scale + zero_point), quant_min, quant_max)

    return wrong


def added_after(x: Array, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Array:
    """The zero point after rounding."""
    return saturate(right(x / scale) + zero_point, quant_min, quant_max)


def without_zero_point(x: Array, scale: float, _z: int, quant_min: int, quant_max: int) -> Array:
    """No zero point."""
    return saturate(right(x / scale), quant_min, quant_max)


def subtracted(x: Array, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Array:
    """The zero point with the wrong sign."""
    return saturate(right(x / scale - zero_point), quant_min, quant_max)


def cast_first(x: Array, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Array:
    """Eight bits before the clamp."""
    return saturate(wrap(right(x / scale + zero_point), quant_min), quant_min, quant_max)


def unclamped(x: Array, scale: float, zero_point: int, _low: int, _high: int) -> Array:
    """No clamp."""
    return right(x / scale + zero_point).astype(np.int64)


ROUNDING = (
    (
        "rounds halves up",
        "Ties go to the even neighbour (2.5 to 2): use np.rint, not floor(v + 0.5).",
        half_up,
    ),
    (
        "rounds halves away from zero",
        "Ties go to the even neighbour; C's round goes away from zero. Use np.rint.",
        half_away,
    ),
    (
        "truncates",
        "A cast to an integer drops the fraction: round before the cast.",
        np.trunc,
    ),
    ("rounds down", "Floor is off by up to a whole step: use np.rint.", np.floor),
)

QUANTIZE = Exercise(
    name="quantize",
    task=(
        "Give the integers that stand for the real numbers x: divide by the scale, add the zero "
        "point, round to the nearest integer with ties to even, and clamp to quant_min..quant_max."
    ),
    signature="quantize(x, scale, zero_point, quant_min, quant_max)",
    results=("integers",),
    label="eq-affine-quantize",
    reference="pyqref.numerics.affine.quantize_per_tensor",
    solution=quantize,
    cases=(
        Case("inside the range", (float32([0.1, -1.7, 3.65, 5.55]), 0.5, 10, *UINT8)),
        Case("negative numbers", (float32([-0.2, -0.7, -1.3, -7.9]), 1.0, 0, *INT8)),
        Case("ties", (float32([0.5, 1.5, 2.5, -0.5, -1.5, -2.5]), 1.0, 0, *INT8)),
        Case("ties, odd zero point", (float32([0.5, 1.5, 2.5]), 1.0, 3, *UINT8)),
        Case("far outside", (float32([-1e6, 1e6, 300, -300, 4e4, -4e4]), 1.0, 128, *UINT8)),
        Case("just outside", (float32([127, 128, 200, -129]), 1.0, 0, *INT8)),
        Case("four bits", (float32([-1, 0.3, 3, 9]), 0.25, 4, 0, 15)),
    ),
    mistakes=(
        *(Mistake(name, why, rounded_by(way)) for name, why, way in ROUNDING),
        Mistake(
            "adds the zero point after rounding",
            "The zero point belongs inside the rounding; outside, ties differ where it is odd.",
            added_after,
        ),
        Mistake(
            "forgets the zero point",
            "The real number 0 is stored as the zero point: add it.",
            without_zero_point,
        ),
        Mistake("subtracts the zero point", "Quantizing adds, dequantizing subtracts.", subtracted),
        Mistake(
            "casts before it clamps",
            "A cast to eight bits wraps around: 300 becomes 44. Clamp first.",
            cast_first,
        ),
        Mistake(
            "does not clamp",
            "Numbers outside the range must become its ends, quant_min and quant_max.",
            unclamped,
        ),
    ),
)


def dequantize(q: Array, scale: float, zero_point: int) -> Array:
    """Solution."""
    return (q.astype(np.int64) - zero_point) * scale


def in_eight_bits(q: Array, scale: float, zero_point: int) -> Array:
    """The difference wraps around."""
    return wrap(q.astype(np.int64) - zero_point, int(np.iinfo(q.dtype).min)) * scale


DEQUANTIZE = Exercise(
    name="dequantize",
    task=(
        "Give the real numbers for which the 8-bit integers q stand: subtract the zero point, "
        "multiply by the scale."
    ),
    signature="dequantize(q, scale, zero_point)",
    results=("numbers",),
    label="eq-affine-dequantize",
    reference="pyqref.numerics.affine.dequantize_per_tensor",
    solution=dequantize,
    cases=(
        Case("above the zero point", (uint8([10, 20, 255]), 0.5, 10)),
        Case("below the zero point", (uint8([0, 3, 9]), 0.5, 10)),
        Case("signed", (int8([-128, -1, 0, 127]), 0.25, 100)),
        Case("signed, negative zero point", (int8([-128, 0, 127]), 0.25, -100)),
    ),
    mistakes=(
        Mistake(
            "subtracts in eight bits",
            "9 - 10 is 255 in uint8: widen the integers before you subtract.",
            in_eight_bits,
        ),
        Mistake(
            "forgets the zero point",
            "The zero point stands for the real number 0: subtract it.",
            lambda q, scale, _z: q.astype(np.int64) * scale,
        ),
        Mistake(
            "adds the zero point",
            "Quantizing adds, dequantizing subtracts.",
            lambda q, scale, z: (q.astype(np.int64) + z) * scale,
        ),
        Mistake(
            "subtracts after scaling",
            "The zero point is an integer: subtract it before the scale multiplies.",
            lambda q, scale, z: q.astype(np.int64) * scale - z,
        ),
    ),
)


def along(values: Array, ndim: int, axis: int) -> Array:
    """Values for an axis, shaped to broadcast."""
    shape = [1] * ndim
    shape[axis] = -1
    return np.asarray(values).reshape(shape)


def per_channel(w: Array, scales: Array, points: Array, axis: int, low: int, high: int) -> Array:
    """Solution."""
    steps = w / along(scales, w.ndim, axis)
    return saturate(right(steps + along(points, w.ndim, axis)), low, high)


def last_axis(w: Array, scales: Array, points: Array, _axis: int, low: int, high: int) -> Array:
    """NumPy's broadcasting, as it comes."""
    return saturate(right(w / scales + points), low, high)


def first_axis(w: Array, scales: Array, points: Array, _axis: int, low: int, high: int) -> Array:
    """Axis 0 whatever was asked for."""
    return per_channel(w, scales, points, 0, low, high)


def one_scale(w: Array, scales: Array, points: Array, axis: int, low: int, high: int) -> Array:
    """The largest scale for everything."""
    return per_channel(w, np.full_like(scales, np.max(scales)), points, axis, low, high)


def no_points(w: Array, scales: Array, points: Array, axis: int, low: int, high: int) -> Array:
    """No zero points."""
    return per_channel(w, scales, np.zeros_like(points), axis, low, high)


_SQUARE = float32([[1.2, -3.4, 5.3], [2.2, 0.3, -6.1], [7.7, -0.9, 4.4]])
_KERNELS = (np.arange(24, dtype=np.float32) - 11.8).reshape(2, 3, 2, 2)

QUANTIZE_PER_CHANNEL = Exercise(
    name="quantize_per_channel",
    task=(
        "Quantize the array w with a scale and a zero point for each index along the axis: "
        "round(w / scale + zero_point), clamped."
    ),
    signature="quantize_per_channel(w, scales, zero_points, axis, quant_min, quant_max)",
    results=("integers",),
    label="eq-affine-quantize-channel",
    reference="pyqref.numerics.affine.quantize_per_channel",
    solution=per_channel,
    cases=(
        Case("rows of a matrix", (_SQUARE[:2], np.array([1.0, 0.5]), np.array([0, 0]), 0, *INT8)),
        Case("a square matrix", (_SQUARE, np.array([1.0, 0.5, 0.25]), np.zeros(3, int), 0, *INT8)),
        Case("columns", (_SQUARE[:2], np.array([1.0, 0.5, 2.0]), np.array([1, 2, 3]), 1, *INT8)),
        Case("a convolution", (_KERNELS, np.array([2.0, 0.5]), np.array([0, 5]), 0, *INT8)),
        Case("a transposed one", (_KERNELS, np.array([2.0, 1, 0.5]), np.zeros(3, int), 1, *INT8)),
    ),
    mistakes=(
        Mistake(
            "lets the scales lie along the last axis",
            "NumPy broadcasts from the last axis: give the scales a shape with -1 at the axis and "
            "1 elsewhere.",
            last_axis,
        ),
        Mistake("always takes axis 0", "The axis is an argument.", first_axis),
        Mistake("takes one scale for all", "Each channel has a scale of its own.", one_scale),
        Mistake("forgets the zero points", "Add the zero point of the channel.", no_points),
    ),
)
