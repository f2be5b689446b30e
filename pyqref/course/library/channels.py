"""Knowledge of the checker about the exercise on a scale for each channel."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .grid import ROUNDINGS, clamps_of, grid_traits
from .model import Library, Trait
from .parts import change, places, rows

__all__ = ["QUANTIZE_PER_CHANNEL"]


def draw_per_channel(random: np.random.Generator) -> tuple[Case, ...]:
    """Every axis of arrays with two and four axes, with ties and without."""
    cases = []
    shapes = (
        ((3, 4), 0),
        ((3, 4), 1),
        ((4, 4), 1),
        ((2, 3, 2, 2), 1),
        ((3, 3, 2, 2), 1),
        ((2, 2, 3), 2),
    )
    for number, (shape, axis) in enumerate(shapes):
        low, high = ((-128, 127), (0, 255), (-128, 127), (-8, 7), (0, 15), (0, 255))[number]
        exact = number % 2 == 0
        count = shape[axis]
        pool = [0.25, 0.5, 1.0, 2.0] if exact else [0.1, 0.037, 1.3, 0.7]
        scales = random.permutation(pool)[:count]
        points = random.integers(low, high + 1, count)
        size = int(np.prod(shape))
        grid = random.permutation(places(random, low, high, size, exact)[:size]).reshape(shape)
        grid.flat[0], grid.flat[-1] = low - 40, high + 40_000
        form = [1] * len(shape)
        form[axis] = -1
        w = (grid - points.reshape(form)) * scales.reshape(form)
        words = f"drawn: shape {shape}, axis {axis}, {low}..{high}"
        cases.append(Case(words, (w.astype(np.float32), scales, points, axis, low, high)))
    return tuple(cases)


def _of_channel(values: object, w: np.ndarray, axis: int) -> np.ndarray:
    shape = [1] * w.ndim
    shape[axis] = -1
    return np.asarray(values).reshape(shape)


def _place(w: np.ndarray, s: object, z: object, axis: int, low: int, high: int) -> np.ndarray:
    return w / _of_channel(s, w, axis) + _of_channel(z, w, axis)


_OWN = "Each channel has a scale of its own."
_POINT = "Each channel has a zero point of its own."
QUANTIZE_PER_CHANNEL = Library(
    exercise="quantize_per_channel",
    answer="""\
def quantize_per_channel(w, scales, zero_points, axis, quant_min, quant_max):
    shape = [1] * w.ndim
    shape[axis] = -1
    scales, zero_points = np.reshape(scales, shape), np.reshape(zero_points, shape)
    q = np.rint(w / scales + zero_points)
    return np.clip(q, quant_min, quant_max).astype(np.int64)
""",
    changes=(
        *ROUNDINGS,
        *clamps_of("q", "zero_points"),
        change(
            "lets the scales lie along the last axis",
            "NumPy broadcasts from the last axis: give the scales a shape with -1 at the axis and "
            "1 elsewhere.",
            ("shape[axis] = -1", "shape[-1] = -1"),
        ),
        change("always takes axis 0", "The axis is an argument.", ("[axis] = -1", "[0] = -1")),
        change(
            "counts the axis from the end",
            "axis counts from the first one: shape[axis] = -1.",
            ("[axis] = -1", "[-1 - axis] = -1"),
        ),
        change("always takes axis 1", "The axis is an argument.", ("[axis] = -1", "[1] = -1")),
        *rows(
            "w / scales",
            *(
                ("takes one scale for all", _OWN, f"w / {one}")
                for one in (
                    "np.max(scales)",
                    "np.min(scales)",
                    "np.mean(scales)",
                    "np.ravel(scales)[0]",
                    "np.ravel(scales)[-1]",
                )
            ),
            (
                "takes the scales in the reverse order",
                "scales[k] belongs to index k along the axis.",
                "w / np.ravel(scales)[::-1].reshape(shape)",
            ),
            (
                "takes the scale of the channel before",
                "scales[k] belongs to index k along the axis.",
                "w / np.roll(np.ravel(scales), 1).reshape(shape)",
            ),
            ("forgets the scales", "Divide by the scale of the channel.", "w"),
        ),
        *rows(
            "+ zero_points",
            *(
                ("takes one zero point for all", _POINT, f"+ {one}")
                for one in (
                    "np.ravel(zero_points)[0]",
                    "np.ravel(zero_points)[-1]",
                    "np.max(zero_points)",
                    "np.rint(np.mean(zero_points))",
                )
            ),
        ),
        change(
            "takes scale and zero point of the last channel for all",
            "In a loop over the channels each writes its own part of the result.",
            ("w / scales", "w / np.ravel(scales)[-1]"),
            ("+ zero_points", "+ np.ravel(zero_points)[-1]"),
        ),
        change(
            "takes scale and zero point of the first channel for all",
            "Each channel has a scale and a zero point of its own.",
            ("w / scales", "w / np.ravel(scales)[0]"),
            ("+ zero_points", "+ np.ravel(zero_points)[0]"),
        ),
        change(
            "leaves fractions",
            "The result is the nearest integer: round, then clamp.",
            ("np.rint(w / scales + zero_points)", "w / scales + zero_points"),
            (".astype(np.int64)", ""),
        ),
        change(
            "clamps before it adds the zero points",
            "The range is that of the result: add the zero point, then clamp.",
            (" + zero_points)", ")"),
            (
                "np.clip(q, quant_min, quant_max)",
                "(np.clip(q, quant_min, quant_max) + zero_points)",
            ),
        ),
        change(
            "forgets the zero points",
            "Add the zero point of the channel.",
            (" + zero_points)", ")"),
        ),
        change(
            "subtracts the zero points",
            "Quantizing adds, dequantizing subtracts.",
            ("+ zero_points", "- zero_points"),
        ),
        change(
            "adds the zero points after rounding",
            "The zero point belongs inside the rounding; outside, ties differ where it is odd.",
            ("w / scales + zero_points)", "w / scales) + zero_points"),
        ),
        change(
            "adds the zero points before it divides",
            "The zero point counts in steps, not in units of w: divide first, then add.",
            ("w / scales + zero_points", "(w + zero_points) / scales"),
        ),
        change(
            "multiplies by the scales",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("w / scales", "w * scales"),
        ),
        change(
            "does not move the axis back",
            "The result has the axes of w in their order: undo np.moveaxis at the end.",
            (".astype(np.int64)", ".astype(np.int64).swapaxes(axis, -1)"),
        ),
        change(
            "does not move the axis back",
            "The result has the axes of w in their order: undo np.moveaxis at the end.",
            (
                "return np.clip(q, quant_min, quant_max)",
                "return np.moveaxis(np.clip(q, quant_min, quant_max), axis, -1)",
            ),
        ),
        change(
            "does not move the axis back",
            "The result has the axes of w in their order: undo np.moveaxis at the end.",
            (
                "return np.clip(q, quant_min, quant_max)",
                "return np.moveaxis(np.clip(q, quant_min, quant_max), axis, 0)",
            ),
        ),
    ),
    draw=draw_per_channel,
    traits=(
        Trait("the axis is not 0", lambda w, s, z, axis, low, high: axis != 0),
        Trait("the axis is not the last one", lambda w, s, z, axis, low, high: axis != w.ndim - 1),
        Trait("w has more than two axes", lambda w, s, z, axis, low, high: w.ndim > 2),
        Trait(
            "the axis is not 0 or w has more than two axes",
            lambda w, s, z, axis, low, high: axis != 0 or w.ndim > 2,
        ),
        Trait(
            "the channel has a zero point other than 0",
            lambda w, s, z, axis, low, high: _of_channel(z, w, axis) != 0,
        ),
        Trait(
            "the channel is not the first one",
            lambda w, s, z, axis, low, high: _of_channel(np.arange(len(s)), w, axis) > 0,
        ),
        *grid_traits(_place, lambda *a: np.rint(_place(*a))),
        Trait("w is negative", lambda w, s, z, axis, low, high: w < 0),
    ),
)
