"""An exercise on quantization-aware training: the step there and back, and its gradient."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .affine import INT8, UINT8
from .arrays import float32
from .exercise import Case, Exercise, Mistake
from .wrong import half_up, right

__all__ = ["FAKE_QUANTIZE"]


def place_of(x: Array, scale: float, zero_point: int) -> Array:
    """Integers before the clamp."""
    return right(x / scale + zero_point)


def there_and_back(steps: Array, scale: float, zero_point: int, low: int, high: int) -> Array:
    """Clamp, and back to real numbers."""
    return (np.clip(steps, low, high) - zero_point) * scale


def fake_quantize(
    x: Array, scale: float, zero_point: int, low: int, high: int
) -> tuple[Array, Array]:
    """Solution."""
    steps = place_of(x, scale, zero_point)
    inside = ((steps >= low) & (steps <= high)).astype(np.float64)
    return there_and_back(steps, scale, zero_point, low, high), inside


def everywhere(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """A gradient that knows no clamp."""
    y, inside = fake_quantize(x, scale, zero_point, low, high)
    return y, np.ones_like(inside)


def nowhere(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """The true gradient of a staircase."""
    y, inside = fake_quantize(x, scale, zero_point, low, high)
    return y, np.zeros_like(inside)


def unrounded(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """Inside by the number before rounding."""
    y, _ = fake_quantize(x, scale, zero_point, low, high)
    place = x / scale + zero_point
    return y, ((place >= low) & (place <= high)).astype(np.float64)


def strictly_inside(
    x: Array, scale: float, zero_point: int, low: int, high: int
) -> tuple[Array, Array]:
    """The ends of the range left out."""
    steps = place_of(x, scale, zero_point)
    inside = ((steps > low) & (steps < high)).astype(np.float64)
    return there_and_back(steps, scale, zero_point, low, high), inside


def divided(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """The chain rule through the scale, taken half way."""
    y, inside = fake_quantize(x, scale, zero_point, low, high)
    return y, inside / scale


def unclamped(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """No clamp on the way forward."""
    _, inside = fake_quantize(x, scale, zero_point, low, high)
    return (place_of(x, scale, zero_point) - zero_point) * scale, inside


def shifted(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """The zero point not taken back."""
    _, inside = fake_quantize(x, scale, zero_point, low, high)
    return np.clip(place_of(x, scale, zero_point), low, high) * scale, inside


def rounded_up(x: Array, scale: float, zero_point: int, low: int, high: int) -> tuple[Array, Array]:
    """Ties upwards."""
    steps = half_up(x / scale + zero_point)
    inside = ((steps >= low) & (steps <= high)).astype(np.float64)
    return there_and_back(steps, scale, zero_point, low, high), inside


FAKE_QUANTIZE = Exercise(
    name="fake_quantize",
    task=(
        "Give y, which is x quantized and dequantized again, and the derivative of y by x that "
        "the straight-through estimator takes: 1 where the rounded integer lies within "
        "quant_min..quant_max before the clamp, 0 elsewhere."
    ),
    signature="fake_quantize(x, scale, zero_point, quant_min, quant_max)",
    results=("y", "derivative"),
    label="eq-fake-quantize",
    reference="pyqref.numerics.fake_quantize.fake_quantize_per_tensor",
    solution=fake_quantize,
    cases=(
        Case("inside the range", (float32([0.1, -1.7, 3.65]), 0.5, 10, *UINT8)),
        Case("outside", (float32([-100.0, 1.0, 500.0, 2e4]), 0.5, 10, *UINT8)),
        Case("at the ends", (float32([0.0, -128.0, 127.0, 127.4, -128.4]), 1.0, 0, *INT8)),
        Case("ties", (float32([0.5, 1.5, 2.5, -0.5]), 1.0, 0, *INT8)),
    ),
    mistakes=(
        Mistake(
            "passes the gradient everywhere",
            "What was clamped does not change with x: the derivative is 0 there.",
            everywhere,
        ),
        Mistake(
            "stops the gradient everywhere",
            "A staircase has slope 0, and nothing would be learned: inside the range take 1.",
            nowhere,
        ),
        Mistake(
            "takes the mask before rounding",
            "127.4 rounds to 127 and is not clamped: compare the rounded integer.",
            unrounded,
        ),
        Mistake(
            "leaves out the ends of the range",
            "quant_min and quant_max themselves are inside.",
            strictly_inside,
        ),
        Mistake(
            "divides the gradient by the scale",
            "Dequantizing multiplies by the scale again: the two cancel.",
            divided,
        ),
        Mistake("does not clamp", "y lies within what the integers can hold.", unclamped),
        Mistake(
            "does not take the zero point back",
            "Dequantizing subtracts the zero point before it scales.",
            shifted,
        ),
        Mistake("rounds halves up", "Ties go to the even neighbour: use np.rint.", rounded_up),
    ),
)
