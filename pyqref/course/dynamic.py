"""An exercise on dynamic quantization: a linear layer that chooses the grid of its input."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .affine import UINT8
from .arrays import float32, int8
from .exercise import Case, Exercise, Mistake
from .wrong import right, saturate, wrap

__all__ = ["LINEAR_DYNAMIC"]


def grid_of(x: Array, steps: int = 255) -> tuple[float, int]:
    """Scale and zero point of the range of x, widened to hold 0."""
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = (high - low) / steps
    return scale, int(right(-low / scale))


def sums(x: Array, grid: tuple[float, int], w: Array) -> Array:
    """Exact sums of centred integers, (M, N)."""
    scale, zero_point = grid
    centred = saturate(right(x / scale + zero_point), *UINT8) - zero_point
    return centred @ w.astype(np.int64).T


def on(grid: tuple[float, int], x: Array, w: Array, scales: Array, bias: Array | float) -> Array:
    """The layer, its input on a given grid."""
    return sums(x, grid, w) * (grid[0] * scales) + bias


def linear_dynamic(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """Solution."""
    return on(grid_of(x), x, w, scales, bias)


def row_by_row(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """A grid for each row."""
    return np.stack([linear_dynamic(row, w, scales, bias) for row in x])


def without_zero(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """The range as it is."""
    low = float(x.min())
    scale = (float(x.max()) - low) / 255
    return on((scale, int(np.clip(right(-low / scale), *UINT8))), x, w, scales, bias)


def uncentred(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """The zero point not subtracted."""
    scale, zero_point = grid_of(x)
    q = saturate(right(x / scale + zero_point), *UINT8)
    return (q @ w.astype(np.int64).T) * (scale * scales) + bias


def centred_in_8_bits(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """Differences that wrap around."""
    scale, zero_point = grid_of(x)
    q = saturate(right(x / scale + zero_point), *UINT8)
    return (wrap(q - zero_point, 0) @ w.astype(np.int64).T) * (scale * scales) + bias


def bias_inside(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """The bias scaled with the sums."""
    grid = grid_of(x)
    return (sums(x, grid, w) + bias) * (grid[0] * scales)


def rounded_output(x: Array, w: Array, scales: Array, bias: Array) -> Array:
    """The output on the grid of the input."""
    scale, zero_point = grid_of(x)
    steps = right(linear_dynamic(x, w, scales, bias) / scale) + zero_point
    return (saturate(steps, *UINT8) - zero_point) * scale


# Ranges of 255 steps of 1/16 and of 1/32, so that every grid below is exact.
_BOTH = float32([[-2.0, 0.71, 3.03, 1.5], [13.9375, -0.4, 0.03, 0.26]])
_ABOVE = float32([[7.96875, 2.01, 0.77, 1.26], [3.3, 4.4, 5.5, 6.6]])
_W = int8([[10, -20, 30, 127], [-128, 5, 64, -3], [1, 2, -3, 4]])
_ONE, _SCALES = float32([0.5, 0.5, 0.5]), float32([0.5, 0.25, 2.0])
_BIAS, _NONE = float32([1.0, -2.0, 0.5]), float32([0.0, 0.0, 0.0])

LINEAR_DYNAMIC = Exercise(
    name="linear_dynamic",
    task=(
        "Write a linear layer with dynamic quantization: x is real (M, K), the weight int8 (N, K) "
        "with one scale a row and zero points of 0, the bias real (N,). Choose scale and zero "
        "point of x from the range of all of x, widened to hold 0, for the integers 0..255; "
        "quantize x as in the exercise quantize, take exact sums of centred integers, scale them "
        "back, add the bias. The result is real."
    ),
    signature="linear_dynamic(x, weight, weight_scales, bias)",
    results=("y",),
    label="eq-linear-dynamic",
    reference="pyqref.numerics.dynamic.linear_dynamic",
    solution=linear_dynamic,
    cases=(
        Case("one row", (_BOTH[1:] - float32([[0, 1.6, 0, 0]]), _W, _ONE, _NONE)),
        Case("two rows", (_BOTH, _W, _ONE, _NONE)),
        Case("a scale for each output", (_BOTH, _W, _SCALES, _NONE)),
        Case("a bias", (_BOTH, _W, _SCALES, _BIAS)),
        Case("above zero only", (_ABOVE, _W, _SCALES, _BIAS)),
        Case("below zero only", (-_ABOVE, _W, _SCALES, _BIAS)),
    ),
    mistakes=(
        Mistake(
            "does not quantize the input",
            "That is a weight-only layer: the sums must be of integers on both sides.",
            lambda x, w, scales, bias: x.astype(np.float64) @ (w.T * scales) + bias,
        ),
        Mistake(
            "takes a grid for each row",
            "One scale and one zero point hold for the whole input.",
            row_by_row,
        ),
        Mistake(
            "the range does not hold zero",
            "0 must be an integer exactly: take min(x.min(), 0) and max(x.max(), 0).",
            without_zero,
        ),
        Mistake(
            "takes one bit off",
            "Seven bits are what fbgemm does with reduce_range; here use all of 0..255.",
            lambda x, w, scales, bias: on(grid_of(x, 127), x, w, scales, bias),
        ),
        Mistake(
            "forgets the zero point of the input",
            "The sums are of centred integers: subtract the zero point first.",
            uncentred,
        ),
        Mistake(
            "centres in eight bits",
            "7 - 32 is 231 in uint8: widen before you subtract.",
            centred_in_8_bits,
        ),
        Mistake(
            "takes one scale for all outputs",
            "Each row of the weight has a scale of its own.",
            lambda x, w, scales, bias: linear_dynamic(x, w, scales[:1], bias),
        ),
        Mistake(
            "scales the bias",
            "The bias is real: add it to the scaled sums.",
            bias_inside,
        ),
        Mistake(
            "forgets the bias",
            "Add it at the end, as a real number.",
            lambda x, w, scales, _bias: on(grid_of(x), x, w, scales, 0),
        ),
        Mistake(
            "quantizes the output",
            "That is a static layer. A dynamic one gives real numbers: nothing is rounded again.",
            rounded_output,
        ),
    ),
)
