"""Knowledge of the checker about the exercise on quantization-aware training."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .grid import clamps_of, grid_traits, roundings_of
from .model import Library, Trait
from .parts import change, places, rows

__all__ = ["FAKE_QUANTIZE"]


def draw_fake(random: np.random.Generator) -> tuple[Case, ...]:
    """Ties with odd zero points, both ends, and numbers that only rounding brings inside."""
    cases = []
    for number, (low, high) in enumerate(((0, 255), (-128, 127), (0, 15), (-8, 7), (0, 127))):
        exact = number % 2 == 0
        scale = float(random.choice([0.25, 0.5, 2.0] if exact else [0.1, 0.037, 1.3]))
        point = int(random.integers(low, high)) | 1
        grid = np.concatenate([places(random, low, high, 8, exact), [low - 0.25, high + 0.25, low]])
        x = ((grid - point) * scale).astype(np.float32)
        words = f"drawn: {'ties' if exact else 'no ties'}, {low}..{high}, zero point {point}"
        cases.append(Case(words, (x, scale, point, low, high)))
    return tuple(cases)


_STEPS = "steps = np.rint(x / scale + zero_point)"
_CLIP = "np.clip(steps, quant_min, quant_max)"
_MASK = "(steps >= quant_min) & (steps <= quant_max)"
_ONES = "The derivative is 1 inside: the scale divides on the way there and multiplies back."
FAKE_QUANTIZE = Library(
    exercise="fake_quantize",
    answer=f"""\
def fake_quantize(x, scale, zero_point, quant_min, quant_max):
    {_STEPS}
    y = ({_CLIP} - zero_point) * scale
    derivative = ({_MASK}).astype(np.float64)
    return y, derivative
""",
    changes=(
        *roundings_of("steps = np.rint("),
        *clamps_of("steps"),
        change(
            "does not round",
            "Quantizing rounds to the grid: without it nothing is lost, and nothing is learned.",
            ("np.rint(x / scale + zero_point)", "x / scale + zero_point"),
        ),
        change(
            "adds the zero point after rounding",
            "The zero point belongs inside the rounding; outside, ties differ where it is odd.",
            ("x / scale + zero_point)", "x / scale) + zero_point"),
        ),
        change(
            "forgets the zero point",
            "Quantizing adds the zero point, dequantizing subtracts it; without it other numbers "
            "are clamped.",
            (" + zero_point", ""),
            (" - zero_point", ""),
        ),
        change(
            "forgets to add the zero point",
            "Quantizing adds the zero point, dequantizing subtracts it.",
            (" + zero_point", ""),
        ),
        change(
            "multiplies by the scale",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("x / scale", "x * scale"),
        ),
        change(
            "does not take the zero point back",
            "Dequantizing subtracts the zero point before it scales.",
            (f"({_CLIP} - zero_point)", _CLIP),
        ),
        change(
            "adds the zero point a second time",
            "Dequantizing subtracts the zero point before it scales.",
            (f"({_CLIP} - zero_point)", f"({_CLIP} + zero_point)"),
        ),
        change(
            "subtracts the zero point after scaling",
            "Dequantizing subtracts the zero point before it scales.",
            (f"({_CLIP} - zero_point) * scale", f"{_CLIP} * scale - zero_point"),
        ),
        change(
            "gives the integers back",
            "y is dequantized again: (q - zero_point) * scale.",
            (f"({_CLIP} - zero_point) * scale", _CLIP),
        ),
        change(
            "divides by the scale on the way back",
            "Dequantizing multiplies by the scale.",
            (f"({_CLIP} - zero_point) * scale", f"({_CLIP} - zero_point) / scale"),
        ),
        change(
            "forgets the scale on the way back",
            "Dequantizing multiplies by the scale.",
            (f"({_CLIP} - zero_point) * scale", f"({_CLIP} - zero_point)"),
        ),
        change(
            "passes the gradient everywhere",
            "What was clamped does not change with x: the derivative is 0 there.",
            (_MASK, "steps == steps"),
        ),
        change(
            "stops the gradient everywhere",
            "A staircase has slope 0, and nothing would be learned: inside the range take 1.",
            (_MASK, "steps != steps"),
        ),
        change(
            "turns the mask round",
            "The gradient passes inside of the range, and stops outside.",
            (_MASK, f"~({_MASK})"),
        ),
        change(
            "takes the mask before rounding",
            "127.4 rounds to 127 and is not clamped: compare the rounded integer.",
            (_MASK, _MASK.replace("steps", "x / scale + zero_point")),
        ),
        change(
            "leaves out the ends of the range",
            "quant_min and quant_max themselves are inside.",
            (_MASK, "(steps > quant_min) & (steps < quant_max)"),
        ),
        change(
            "leaves out quant_max",
            "quant_max itself is inside.",
            (_MASK, "(steps >= quant_min) & (steps < quant_max)"),
        ),
        change(
            "leaves out quant_min",
            "quant_min itself is inside.",
            (_MASK, "(steps > quant_min) & (steps <= quant_max)"),
        ),
        change(
            "compares x itself with the range",
            "quant_min..quant_max are integers of the grid: compare round(x / scale + zero_point).",
            (_MASK, "(x >= quant_min) & (x <= quant_max)"),
        ),
        change(
            "compares y with the range",
            "quant_min..quant_max are integers of the grid: compare round(x / scale + zero_point).",
            (_MASK, "(y >= quant_min) & (y <= quant_max)"),
        ),
        change(
            "forgets the zero point in the mask",
            "The integer with its zero point is what is clamped.",
            (_MASK, _MASK.replace("steps", "np.rint(x / scale)")),
        ),
        change("checks the lower end only", "Both ends clamp.", (_MASK, "steps >= quant_min")),
        change("checks the upper end only", "Both ends clamp.", (_MASK, "steps <= quant_max")),
        *rows(
            _MASK,
            (
                "passes the gradient where x is on the grid only",
                "Rounding counts as the identity: inside the range the derivative is 1.",
                "np.abs(y - x) < 1e-6",
            ),
            (
                "passes the gradient of positive numbers only",
                "Negative numbers inside the range pass theirs as well.",
                f"({_MASK}) & (x > 0)",
            ),
            (
                "takes 0..255 for the mask",
                "The range is an argument.",
                "(steps >= 0) & (steps <= 255)",
            ),
            (
                "takes -128..127 for the mask",
                "The range is an argument.",
                "(steps >= -128) & (steps <= 127)",
            ),
            (
                "takes the mask before rounding, without the ends",
                "127.4 rounds to 127, which is inside: compare the rounded integer, by >= and <=.",
                "(x / scale + zero_point > quant_min) & (x / scale + zero_point < quant_max)",
            ),
        ),
        *rows(
            f"({_CLIP} - zero_point) * scale",
            ("leaves x as it is", "y is x on the grid: round, clamp and scale back.", "x"),
            (
                "clamps the real number and does not round it",
                "y is x on the grid: round as well.",
                "np.clip(x, (quant_min - zero_point) * scale, (quant_max - zero_point) * scale)",
            ),
        ),
        change(
            "gives the scale for the derivative",
            _ONES,
            (".astype(np.float64)", ".astype(np.float64) * 0 + scale"),
        ),
        change(
            "gives x for the derivative",
            _ONES,
            (".astype(np.float64)", ".astype(np.float64) * x"),
        ),
        change(
            "gives -1 outside of the range",
            "Outside the derivative is 0.",
            (".astype(np.float64)", ".astype(np.float64) * 2 - 1"),
        ),
        change(
            "divides the gradient by the scale",
            "Dequantizing multiplies by the scale again: the two cancel.",
            (".astype(np.float64)", ".astype(np.float64) / scale"),
        ),
        change(
            "multiplies the gradient by the scale",
            _ONES,
            (".astype(np.float64)", ".astype(np.float64) * scale"),
        ),
        change(
            "returns the two the wrong way round",
            "y comes first, then the derivative.",
            ("return y, derivative", "return derivative, y"),
        ),
    ),
    draw=draw_fake,
    traits=(
        *grid_traits(
            lambda x, s, z, low, high: x / s + z, lambda x, s, z, low, high: np.rint(x / s + z)
        ),
        Trait("the zero point is not 0", lambda x, s, z, low, high: z != 0),
        Trait("x is negative", lambda x, s, z, low, high: x < 0),
        Trait("the scale is not 1", lambda x, s, z, low, high: s != 1),
    ),
)
