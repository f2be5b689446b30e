"""Knowledge of the checker about the exercise on the symmetric scale."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, rows
from .ranges import RANGES

__all__ = ["SYMMETRIC_SCALE"]


def draw_symmetric(random: np.random.Generator) -> tuple[Case, ...]:
    """Both halves larger in turn, every range of integers."""
    cases = []
    for qmin, qmax in RANGES:
        low, high = -float(random.uniform(0.1, 2)), float(random.uniform(2.1, 5))
        cases.append(Case(f"drawn: larger above, {qmin}..{qmax}", (low, high, qmin, qmax)))
        cases.append(Case(f"drawn: larger below, {qmin}..{qmax}", (-high, -low, qmin, qmax)))
    cases.append(Case("drawn: below zero", (-3.25, -float(random.uniform(0.5, 1)), -8, 7)))
    cases.append(Case("drawn: above zero", (float(random.uniform(0.5, 1)), 3.25, -8, 7)))
    tiny = float(random.uniform(1, 9)) * 1e-6
    cases.append(Case("drawn: hardly any width", (-tiny, tiny / 2, -128, 127)))
    cases.append(Case("drawn: the lower end is 0", (0.0, 3.5, 0, 255)))
    cases.append(Case("drawn: the upper end is 0", (-3.5, 0.0, -128, 127)))
    return tuple(cases)


_HALF = "(quant_max - quant_min) / 2"
_LARGER = "max(-low, high, 0.0)"
_KEPT = "return max(scale, 2.0**-23)"
SYMMETRIC_SCALE = Library(
    exercise="symmetric_scale",
    answer=f"""\
def symmetric_scale(low, high, quant_min, quant_max):
    half = {_LARGER}
    scale = half / ({_HALF})
    {_KEPT}
""",
    changes=(
        change(
            "off by one: 127 for 127.5",
            "Half of the steps from -128 to 127 is 127.5, not quant_max.",
            (_HALF, "quant_max"),
        ),
        change(
            "off by one: 128 for 127.5",
            "Half of the steps from -128 to 127 is 127.5, not -quant_min.",
            (_HALF, "abs(quant_min) or 1"),
        ),
        change(
            "divides by 128 always", "Half of the steps follows from the range.", (_HALF, "128")
        ),
        change(
            "divides by 127 always", "Half of the steps follows from the range.", (_HALF, "127")
        ),
        change(
            "divides by 127.5 always", "Half of the steps follows from the range.", (_HALF, "127.5")
        ),
        change(
            "divides by 255 always", "Half of the steps follows from the range.", (_HALF, "255")
        ),
        change(
            "divides by all of the steps",
            "One half of the range has half of the steps.",
            (_HALF, "quant_max - quant_min"),
        ),
        change(
            "divides by half of the integers",
            "256 integers have 255 steps between them: half of these is 127.5.",
            (_HALF, "(quant_max - quant_min + 1) / 2"),
        ),
        change(
            "halves with an integer division",
            "Half of 255 steps is 127.5: divide by 2, not // 2.",
            (_HALF, "(quant_max - quant_min) // 2"),
        ),
        change(
            "takes the range as it is",
            "Symmetric means that both halves are as wide as the larger one.",
            (_LARGER, "(high - low) / 2"),
        ),
        change(
            "takes both halves together",
            "One half of the range is divided by half of the steps.",
            (_LARGER, "(high - low)"),
        ),
        change(
            "looks at the upper end only",
            "The lower end may lie farther from 0: take max(-low, high).",
            (_LARGER, "max(high, 0.0)"),
        ),
        change(
            "looks at the upper end only",
            "The lower end may lie farther from 0: take max(-low, high).",
            (_LARGER, "high"),
        ),
        change(
            "looks at the upper end only",
            "The lower end may lie farther from 0: take max(-low, high).",
            (_LARGER, "abs(high)"),
        ),
        change(
            "looks at the lower end only",
            "The upper end may lie farther from 0: take max(-low, high).",
            (_LARGER, "abs(low)"),
        ),
        change(
            "looks at the lower end only",
            "The upper end may lie farther from 0: take max(-low, high).",
            (_LARGER, "max(-low, 0.0)"),
        ),
        change(
            "takes the smaller half",
            "The larger half decides, or its numbers are clamped.",
            (_LARGER, "min(-low, high)"),
        ),
        change(
            "takes the smaller half",
            "The larger half decides, or its numbers are clamped.",
            (_LARGER, "min(abs(low), abs(high))"),
        ),
        change(
            "looks at the upper end only",
            "max(low, high) is always high; low is negative, and its distance from 0 is -low.",
            (_LARGER, "max(low, high, 0.0)"),
        ),
        change(
            "lets the scale become 0",
            "A range without width would divide by 0 later: take at least 2**-23.",
            (_KEPT, "return scale"),
        ),
        *rows(
            f"half = {_LARGER}",
            (
                "takes the range as it is, widened to hold 0",
                "Symmetric means that both halves are as wide as the larger one.",
                "half = (max(high, 0.0) - min(low, 0.0)) / 2",
            ),
            (
                "takes the mean of both halves",
                "The larger half decides, or its numbers are clamped.",
                "half = (abs(low) + abs(high)) / 2",
            ),
            (
                "adds the ends",
                "The larger half decides: max(-low, high).",
                "half = abs(low + high)",
            ),
            ("adds the ends", "The larger half decides: max(-low, high).", "half = low + high"),
            (
                "adds both halves",
                "The larger half decides: max(-low, high).",
                "half = abs(low) + abs(high)",
            ),
            (
                "squares the ends",
                "The larger half decides as it is.",
                "half = max(low * low, high * high)",
            ),
        ),
        *rows(
            _KEPT,
            *(
                (
                    "takes another least scale",
                    "The task asks for 2**-23 at least.",
                    f"return max(scale, {least})",
                )
                for least in ("1e-8", "1e-12", "2.0**-24", "2.0**-52", "1e-6", "1e-5", "2.0**-22")
            ),
            (
                "takes the least scale only where the width is 0",
                "Widths near 0 give a scale below 2**-23 as well: use max.",
                "return scale or 2.0**-23",
            ),
            (
                "takes scale 1 for a range without width",
                "The task asks for 2**-23 at least.",
                "return scale or 1.0",
            ),
            (
                "adds the least scale",
                "2**-23 is a lower bound: take max, do not add.",
                "return scale + 2.0**-23",
            ),
            (
                "lets the scale be 2**-23 at most",
                "2**-23 is a lower bound: take max, not min.",
                "return min(scale, 2.0**-23)",
            ),
            (
                "rounds the scale to a power of two",
                "The scale is any real number.",
                "return 2.0 ** np.ceil(np.log2(max(scale, 2.0**-23)))",
            ),
            (
                "turns the scale round",
                "The scale is real units for each step: half of the width by half of the steps.",
                "return 1 / max(scale, 2.0**-23)",
            ),
        ),
        change(
            "doubles the scale",
            "The larger half is taken once.",
            (_LARGER, "2 * max(-low, high, 0.0)"),
        ),
    ),
    draw=draw_symmetric,
    traits=(
        Trait("the lower end lies farther from 0", lambda low, high, qmin, qmax: -low > high),
        Trait("the upper end lies farther from 0", lambda low, high, qmin, qmax: -low < high),
        Trait("the range has no width", lambda low, high, qmin, qmax: low == high),
        Trait("quant_min is not -quant_max", lambda low, high, qmin, qmax: qmin != -qmax),
        Trait("quant_min is 0", lambda low, high, qmin, qmax: qmin == 0),
        Trait(
            "quant_min..quant_max has not 255 steps",
            lambda low, high, qmin, qmax: qmax - qmin != 255,
        ),
        Trait("the range does not hold zero", lambda low, high, qmin, qmax: low > 0 or high < 0),
    ),
)
