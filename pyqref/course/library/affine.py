"""Knowledge of the checker about exercises on integers that stand for real numbers."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .grid import CLAMPS, ROUNDINGS, grid_traits
from .model import Library, Trait
from .parts import change, integers_of, places, rows

__all__ = ["DEQUANTIZE", "QUANTIZE"]

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


_STEPS = "The scale is the size of a step: dividing by it gives the number of steps."
_STEPS_ROUND = "Only the number of steps is rounded: divide by the scale first."
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
            _STEPS,
            ("x / scale", "x * scale"),
        ),
        change(
            "forgets the scale",
            _STEPS,
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
        *rows(
            "x / scale",
            ("rounds before it divides", _STEPS_ROUND, "np.rint(x) / scale"),
            ("truncates before it divides", _STEPS_ROUND, "np.trunc(x) / scale"),
            ("divides the scale by x", _STEPS, "scale / np.where(x == 0, 1e-9, x)"),
            ("takes the scale for an integer", _STEPS, "x / max(int(scale), 1)"),
            (
                "clamps before it divides",
                "quant_min and quant_max are integers of the grid: divide first, clamp last.",
                "np.clip(x, quant_min, quant_max) / scale",
            ),
        ),
        *rows(
            "np.rint(x / scale + zero_point)",
            (
                "truncates before it adds the zero point",
                "int(x / scale) drops the fraction: add the zero point, then round.",
                "np.trunc(x / scale) + zero_point",
            ),
            (
                "rounds halves away from zero before it adds the zero point",
                "Ties go to the even neighbour, and the zero point belongs inside the rounding.",
                "half_away(x / scale) + zero_point",
            ),
            (
                "subtracts the zero point after rounding",
                "Quantizing adds the zero point, and inside the rounding.",
                "np.rint(x / scale) - zero_point",
            ),
        ),
        *rows(
            "return np.clip(q, quant_min, quant_max).astype(np.int64)",
            (
                "gives the real numbers back",
                "The integers are asked for: dequantizing is another exercise.",
                "return (np.clip(q, quant_min, quant_max) - zero_point) * scale",
            ),
            (
                "leaves fractions",
                "The result is the nearest integer: round, then clamp.",
                "return np.clip(x / scale + zero_point, quant_min, quant_max)",
            ),
        ),
    ),
    draw=draw_quantize,
    traits=(
        *grid_traits(
            lambda x, s, z, low, high: x / s + z, lambda x, s, z, low, high: np.rint(x / s + z)
        ),
        Trait("x is negative", lambda x, s, z, low, high: x < 0),
        Trait("the zero point is not 0", lambda x, s, z, low, high: z != 0),
        Trait("the zero point is odd", lambda x, s, z, low, high: z % 2 == 1),
        Trait("the scale is not 1", lambda x, s, z, low, high: s != 1),
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


_GRID = "The equation is (q - zero_point) * scale."
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
        *(
            change(
                "subtracts in eight bits",
                "9 - 10 is 255 in uint8: widen the integers before you subtract.",
                (_MINUS, f"wrap({_MINUS}, {low})"),
            )
            for low in (0, -1)
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
        *rows(
            f"({_MINUS}) * scale",
            ("swaps scale and zero point", _GRID, "(q.astype(np.int64) - scale) * zero_point"),
            ("scales the zero point only", _GRID, "q.astype(np.int64) - zero_point * scale"),
            ("takes one step too much off", _GRID, f"({_MINUS} - 1) * scale"),
            (
                "adds the zero point again at the end",
                "Subtract the zero point, scale, and that is all.",
                f"({_MINUS}) * scale + zero_point",
            ),
            (
                "subtracts the zero point twice",
                "Subtract the zero point once, before the scale multiplies.",
                f"({_MINUS}) * scale - zero_point",
            ),
            (
                "clamps the result to 0..255",
                "The result is real, it has no range of integers.",
                f"np.clip(({_MINUS}) * scale, 0, 255)",
            ),
            (
                "clamps the result to -128..127",
                "The result is real, it has no range of integers.",
                f"np.clip(({_MINUS}) * scale, -128, 127)",
            ),
            ("gives the integers back", "Multiply by the scale.", "q.astype(np.int64)"),
        ),
        change(
            "reads uint8 as int8",
            "An unsigned byte reaches to 255: keep its type when you widen it.",
            ("q.astype(np.int64)", "q.astype(np.int8).astype(np.int64)"),
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
