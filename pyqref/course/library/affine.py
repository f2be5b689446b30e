"""Knowledge of the checker about exercises on integers that stand for real numbers."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import CLAMPS, ROUNDINGS, change, integers_of, places, tie

__all__ = ["DEQUANTIZE", "QUANTIZE", "QUANTIZE_PER_CHANNEL"]

RANGES = ((0, 255), (-128, 127), (0, 15), (-8, 7), (0, 127), (-127, 127))


def draw_quantize(random: np.random.Generator) -> tuple[Case, ...]:
    """Grids of every kind: exact scales with ties, other scales without."""
    cases = []
    for number, (low, high) in enumerate(RANGES * 2):
        exact = number % 2 == number // len(RANGES)
        scale = float(random.choice([0.25, 0.5, 2.0] if exact else [0.1, 0.037, 1.3, 0.7]))
        point = int(random.integers(low, high + 1)) if number % 4 else 0
        x = (places(random, low, high, 6, exact) - point) * scale
        words = f"drawn: {'ties' if exact else 'no ties'}, {low}..{high}, zero point {point}"
        cases.append(Case(words, (x.astype(np.float32), scale, point, low, high)))
    return tuple(cases)


QUANTIZE = Library(
    exercise="quantize",
    answer="""\
def quantize(x, scale, zero_point, quant_min, quant_max):
    q = np.rint(x / scale + zero_point)
    return np.clip(q, quant_min, quant_max).astype(np.int64)
""",
    changes=(
        *ROUNDINGS,
        *CLAMPS,
        change(
            "adds the zero point after rounding",
            "The zero point belongs inside the rounding; outside, ties differ where it is odd.",
            ("x / scale + zero_point)", "x / scale) + zero_point"),
        ),
        change(
            "forgets the zero point",
            "The real number 0 is stored as the zero point: add it.",
            (" + zero_point", ""),
        ),
        change(
            "subtracts the zero point",
            "Quantizing adds, dequantizing subtracts.",
            (" + zero_point", " - zero_point"),
        ),
        change(
            "adds the zero point before it divides",
            "The zero point counts in steps, not in units of x: divide first, then add.",
            ("x / scale + zero_point", "(x + zero_point) / scale"),
        ),
        change(
            "subtracts the zero point before it divides",
            "The zero point counts in steps, not in units of x: divide first, then add.",
            ("x / scale + zero_point", "(x - zero_point) / scale"),
        ),
        change(
            "multiplies by the scale",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("x / scale", "x * scale"),
        ),
        change(
            "forgets the scale",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("x / scale", "x"),
        ),
        change(
            "clamps before it adds the zero point",
            "The range is that of the result: add the zero point, then clamp.",
            (" + zero_point)", ")"),
            (
                "return np.clip(q, quant_min, quant_max)",
                "return (np.clip(q, quant_min, quant_max) + zero_point)",
            ),
        ),
        change(
            "adds quant_min",
            "The zero point is the whole shift: quant_min is only an end of the range.",
            (" + zero_point", " + zero_point + quant_min"),
        ),
        change(
            "shifts by quant_min instead of the zero point",
            "The real number 0 is stored as the zero point, which need not be quant_min.",
            (" + zero_point", " + quant_min"),
        ),
        change(
            "takes the size of x",
            "Negative numbers are stored below the zero point: keep the sign.",
            ("x / scale", "np.abs(x) / scale"),
        ),
        change(
            "rounds before it divides",
            "Only the number of steps is rounded: divide by the scale first.",
            ("x / scale", "np.rint(x) / scale"),
        ),
    ),
    draw=draw_quantize,
    traits=(
        Trait(
            "the number lies half way between two integers (a tie)",
            lambda x, s, z, low, high: tie(x / s + z),
        ),
        Trait(
            "the number lies outside the range quant_min..quant_max",
            lambda x, s, z, low, high: (np.rint(x / s + z) < low) | (np.rint(x / s + z) > high),
        ),
        Trait("the number lies below the range", lambda x, s, z, low, high: x / s + z < low),
        Trait("the number lies above the range", lambda x, s, z, low, high: x / s + z > high),
        Trait(
            "the number lies inside the range",
            lambda x, s, z, low, high: (x / s + z > low) & (x / s + z < high),
        ),
        Trait("x is negative", lambda x, s, z, low, high: x < 0),
        Trait("the zero point is not 0", lambda x, s, z, low, high: z != 0),
        Trait("the zero point is odd", lambda x, s, z, low, high: z % 2 == 1),
        Trait("the range is not 0..255", lambda x, s, z, low, high: (low, high) != (0, 255)),
        Trait("quant_min is negative", lambda x, s, z, low, high: low < 0),
        Trait("the range has not 8 bits", lambda x, s, z, low, high: high - low < 254),
        Trait(
            "the number is no whole number of steps",
            lambda x, s, z, low, high: x / s != np.rint(x / s),
        ),
    ),
)


def draw_dequantize(random: np.random.Generator) -> tuple[Case, ...]:
    """Signed and unsigned bytes, small and large zero points."""
    cases = []
    for signed in (False, True, False, True):
        low, high = (-128, 127) if signed else (0, 255)
        q = integers_of(random, signed, 8)
        point = int(random.integers(low, high + 1))
        scale = float(random.choice([0.1, 0.037, 1.3, 2.5]))
        words = f"drawn: {'int8' if signed else 'uint8'}, zero point {point}"
        cases.append(Case(words, (q, scale, point)))
    return tuple(cases)


_MINUS = "q.astype(np.int64) - zero_point"
DEQUANTIZE = Library(
    exercise="dequantize",
    answer="""\
def dequantize(q, scale, zero_point):
    return (q.astype(np.int64) - zero_point) * scale
""",
    changes=(
        change(
            "subtracts in eight bits",
            "9 - 10 is 255 in uint8: widen the integers before you subtract.",
            (_MINUS, f"wrap({_MINUS}, int(np.iinfo(q.dtype).min))"),
        ),
        change(
            "forgets the zero point",
            "The zero point stands for the real number 0: subtract it.",
            (" - zero_point", ""),
        ),
        change(
            "adds the zero point",
            "Quantizing adds, dequantizing subtracts.",
            (" - zero_point", " + zero_point"),
        ),
        change(
            "subtracts after scaling",
            "The zero point is an integer: subtract it before the scale multiplies.",
            (f"({_MINUS}) * scale", "q.astype(np.int64) * scale - zero_point"),
        ),
        change(
            "adds the zero point after scaling",
            "Dequantizing subtracts the zero point, before the scale multiplies.",
            (f"({_MINUS}) * scale", "q.astype(np.int64) * scale + zero_point"),
        ),
        change(
            "divides by the scale",
            "The scale is the size of a step: the steps are multiplied by it.",
            (" * scale", " / scale"),
        ),
        change(
            "forgets the scale",
            "The scale is the size of a step: the steps are multiplied by it.",
            (" * scale", ""),
        ),
        change(
            "subtracts the wrong way round",
            "Steps count from the zero point: q - zero_point, not zero_point - q.",
            (_MINUS, "zero_point - q.astype(np.int64)"),
        ),
        change(
            "rounds the result",
            "The result is real: only quantizing rounds.",
            (f"({_MINUS}) * scale", f"np.rint(({_MINUS}) * scale)"),
        ),
        change(
            "truncates the result",
            "The result is real: a cast to an integer drops the fraction.",
            (f"({_MINUS}) * scale", f"np.trunc(({_MINUS}) * scale)"),
        ),
        change(
            "takes the size of the difference",
            "Integers below the zero point stand for negative numbers: keep the sign.",
            (f"({_MINUS})", f"np.abs({_MINUS})"),
        ),
        change(
            "cuts negative numbers off",
            "Integers below the zero point stand for negative numbers.",
            (f"({_MINUS})", f"np.maximum({_MINUS}, 0)"),
        ),
        change(
            "reads int8 as uint8",
            "A signed byte has negative values: keep its type when you widen it.",
            ("q.astype(np.int64)", "q.astype(np.uint8).astype(np.int64)"),
        ),
    ),
    draw=draw_dequantize,
    traits=(
        Trait("q lies below the zero point", lambda q, s, z: q.astype(int) < z),
        Trait("q lies above the zero point", lambda q, s, z: q.astype(int) > z),
        Trait("q is negative", lambda q, s, z: q.astype(int) < 0),
        Trait("q is int8", lambda q, s, z: q.dtype == np.int8),
        Trait("q is uint8", lambda q, s, z: q.dtype == np.uint8),
        Trait("the zero point is not 0", lambda q, s, z: z != 0),
        Trait(
            "q - zero_point does not fit the bytes of q",
            lambda q, s, z: (
                (q.astype(int) - z < np.iinfo(q.dtype).min)
                | (q.astype(int) - z > np.iinfo(q.dtype).max)
            ),
        ),
    ),
)


def draw_per_channel(random: np.random.Generator) -> tuple[Case, ...]:
    """Every axis of arrays with two and four axes, with ties and without."""
    cases = []
    shapes = (((3, 4), 0), ((3, 4), 1), ((4, 4), 1), ((2, 3, 2, 2), 1), ((3, 3, 2, 2), 1))
    for number, (shape, axis) in enumerate(shapes):
        low, high = ((-128, 127), (0, 255), (-128, 127), (-8, 7), (0, 15))[number]
        exact = number % 2 == 0
        count = shape[axis]
        pool = [0.25, 0.5, 1.0, 2.0] if exact else [0.1, 0.037, 1.3, 0.7]
        scales = random.permutation(pool)[:count]
        points = random.integers(low, high + 1, count)
        size = int(np.prod(shape))
        grid = random.permutation(places(random, low, high, size, exact)[:size]).reshape(shape)
        grid.flat[0], grid.flat[-1] = low - 40, high + 40
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
        *CLAMPS,
        change(
            "lets the scales lie along the last axis",
            "NumPy broadcasts from the last axis: give the scales a shape with -1 at the axis and "
            "1 elsewhere.",
            ("shape[axis] = -1", "shape[-1] = -1"),
        ),
        change("always takes axis 0", "The axis is an argument.", ("[axis] = -1", "[0] = -1")),
        change("always takes axis 1", "The axis is an argument.", ("[axis] = -1", "[1] = -1")),
        change(
            "takes one scale for all",
            "Each channel has a scale of its own.",
            ("w / scales", "w / np.max(scales)"),
        ),
        change(
            "takes one scale for all",
            "Each channel has a scale of its own.",
            ("w / scales", "w / np.ravel(scales)[0]"),
        ),
        change(
            "takes one zero point for all",
            "Each channel has a zero point of its own.",
            ("+ zero_points", "+ np.ravel(zero_points)[0]"),
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
        Trait(
            "the number lies half way between two integers (a tie)",
            lambda w, s, z, axis, low, high: tie(
                w / _of_channel(s, w, axis) + _of_channel(z, w, axis)
            ),
        ),
        Trait(
            "the number lies outside the range",
            lambda w, s, z, axis, low, high: (
                np.rint(w / _of_channel(s, w, axis) + _of_channel(z, w, axis))
                != np.clip(
                    np.rint(w / _of_channel(s, w, axis) + _of_channel(z, w, axis)), low, high
                )
            ),
        ),
        Trait("quant_min is negative", lambda w, s, z, axis, low, high: low < 0),
        Trait("the range is not 0..255", lambda w, s, z, axis, low, high: (low, high) != (0, 255)),
        Trait("w is negative", lambda w, s, z, axis, low, high: w < 0),
    ),
)
