"""Knowledge of the checker about exercises on choosing the scale and the zero point."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["AFFINE_QPARAMS", "SYMMETRIC_SCALE"]

RANGES = ((0, 255), (-128, 127), (0, 15), (-64, 63), (0, 127), (-127, 127))


def draw_affine(random: np.random.Generator) -> tuple[Case, ...]:
    """Ranges on both sides of zero, on one side, and without width; no zero point near a tie."""
    cases = []
    for low, high in RANGES:
        steps = high - low
        scale = float(random.uniform(0.01, 0.2))
        below = int(random.integers(1, steps)) + float(random.choice([0.2, 0.3, -0.3, -0.2]))
        ends = -below * scale, (steps - below) * scale
        cases.append(Case(f"drawn: both sides of zero, {low}..{high}", (*ends, low, high)))
    for low, high in RANGES[:3]:
        near, far = sorted(float(each) for each in random.uniform(0.5, 4.0, 2))
        cases.append(Case(f"drawn: above zero, {low}..{high}", (near, far, low, high)))
        cases.append(Case(f"drawn: below zero, {low}..{high}", (-far, -near, low, high)))
    cases.append(Case("drawn: nothing but zero, signed", (0.0, 0.0, -128, 127)))
    return tuple(cases)


_WIDEN = "    low, high = min(low, 0.0), max(high, 0.0)\n"
_LEAST = "    scale = max(scale, 2.0**-23)\n"
_ROUNDED = "zero_point = quant_min - np.rint(low / scale)"
_CLAMPED = "int(np.clip(zero_point, quant_min, quant_max))"
_TRUNCATED = "int() drops the fraction: round to the nearest."
AFFINE_QPARAMS = Library(
    exercise="affine_qparams",
    answer=f"""\
def affine_qparams(low, high, quant_min, quant_max):
{_WIDEN}    scale = (high - low) / (quant_max - quant_min)
{_LEAST}    {_ROUNDED}
    zero_point = {_CLAMPED}
    return scale, zero_point
""",
    changes=(
        change(
            "the range does not hold zero",
            "0 must be an integer exactly (padding, ReLU): take min(low, 0) and max(high, 0).",
            (_WIDEN, ""),
        ),
        change(
            "widens the lower end only",
            "A range below zero must hold 0 as well: take max(high, 0), too.",
            (_WIDEN, "    low = min(low, 0.0)\n"),
        ),
        change(
            "widens the upper end only",
            "A range above zero must hold 0 as well: take min(low, 0), too.",
            (_WIDEN, "    high = max(high, 0.0)\n"),
        ),
        change(
            "divides by the number of integers",
            "256 integers have 255 steps between them: divide by quant_max - quant_min.",
            ("(quant_max - quant_min)", "(quant_max - quant_min + 1)"),
        ),
        change(
            "divides by 255 always",
            "The number of steps follows from the range: quant_max - quant_min.",
            ("/ (quant_max - quant_min)", "/ 255"),
        ),
        change(
            "divides by 256 always",
            "The number of steps follows from the range: quant_max - quant_min.",
            ("/ (quant_max - quant_min)", "/ 256"),
        ),
        change(
            "divides by quant_max",
            "The number of steps is quant_max - quant_min.",
            ("/ (quant_max - quant_min)", "/ quant_max"),
        ),
        change(
            "adds the ends of the range",
            "The width of the range is high - low; low is negative as a rule.",
            ("(high - low)", "(high + low)"),
        ),
        change(
            "takes the upper end for the width",
            "The width of the range is high - low.",
            ("(high - low)", "high"),
        ),
        change(
            "takes the larger end for the width",
            "That is the symmetric scale. Here the width is high - low.",
            ("(high - low)", "max(-low, high)"),
        ),
        change(
            "divides the steps by the width",
            "The scale is real units for each step: width by steps.",
            ("(high - low) / (quant_max - quant_min)", "(quant_max - quant_min) / (high - low)"),
        ),
        change(
            "forgets quant_min",
            "The smallest number falls on quant_min, not on 0: z = quant_min - round(low / scale).",
            ("quant_min - np.rint", "-np.rint"),
        ),
        change(
            "the sign of low",
            "low is negative and its integer is quant_min: z = quant_min - round(low / scale).",
            ("quant_min - np.rint", "quant_min + np.rint"),
        ),
        change(
            "counts from quant_max",
            "Without a minus low falls on quant_min: z = quant_min - round(low / scale).",
            ("quant_min - np.rint(low / scale)", "quant_max + np.rint(low / scale)"),
        ),
        change(
            "counts from the upper end",
            "The lower end decides: quant_min - round(low / scale), which may differ by one.",
            ("quant_min - np.rint(low / scale)", "quant_max - np.rint(high / scale)"),
        ),
        change("truncates the zero point", _TRUNCATED, ("np.rint(low", "np.trunc(low")),
        change("truncates the zero point", _TRUNCATED, ("np.rint(low / scale)", "low / scale")),
        change("truncates the zero point", _TRUNCATED, ("np.rint(low", "np.ceil(low")),
        change(
            "rounds the zero point up", "Round to the nearest.", ("np.rint(low", "np.floor(low")
        ),
        change(
            "leaves the zero point real",
            "The zero point is one of the integers: round it.",
            ("np.rint(low / scale)", "low / scale"),
            (_CLAMPED, "np.clip(zero_point, quant_min, quant_max)"),
        ),
        change(
            "multiplies by the scale",
            "The number of steps below zero is low / scale.",
            ("low / scale", "low * scale"),
        ),
        change(
            "the zero point is 0 always",
            "That is the symmetric scheme. Here 0 falls on quant_min - round(low / scale).",
            (_ROUNDED, "zero_point = 0"),
        ),
        change(
            "the zero point is quant_min always",
            "quant_min stands for the lower end, not for 0: subtract round(low / scale).",
            (_ROUNDED, "zero_point = quant_min"),
        ),
        change(
            "does not clamp the zero point",
            "The zero point is one of the integers quant_min..quant_max.",
            (_CLAMPED, "int(zero_point)"),
        ),
        change(
            "clamps the zero point to 0..255 always",
            "The range is an argument: clamp to quant_min..quant_max.",
            (_CLAMPED, "int(np.clip(zero_point, 0, 255))"),
        ),
        change(
            "lets the scale become 0",
            "A range without width would divide by 0 later: take at least 2**-23.",
            (_LEAST, "    least = scale or 1.0\n"),
            ("low / scale", "low / least"),
        ),
        change(
            "lets the scale become 0",
            "A range without width would divide by 0 later: take at least 2**-23.",
            (_LEAST, ""),
        ),
        change(
            "takes scale 1 for a range without width",
            "The task asks for 2**-23 at least.",
            (_LEAST, "    scale = scale if scale > 0 else 1.0\n"),
        ),
        change(
            "returns the two the wrong way round",
            "The scale comes first, then the zero point.",
            ("return scale, zero_point", "return zero_point, scale"),
        ),
    ),
    draw=draw_affine,
    traits=(
        Trait("the range lies above zero", lambda low, high, qmin, qmax: low > 0),
        Trait("the range lies below zero", lambda low, high, qmin, qmax: high < 0),
        Trait("the range does not hold zero", lambda low, high, qmin, qmax: low > 0 or high < 0),
        Trait("the range holds zero inside", lambda low, high, qmin, qmax: low < 0 < high),
        Trait("the range has no width", lambda low, high, qmin, qmax: low == high),
        Trait("low is negative", lambda low, high, qmin, qmax: low < 0),
        Trait("quant_min is not 0", lambda low, high, qmin, qmax: qmin != 0),
        Trait(
            "quant_min..quant_max has not 255 steps",
            lambda low, high, qmin, qmax: qmax - qmin != 255,
        ),
        Trait("the range is not 0..255", lambda low, high, qmin, qmax: (qmin, qmax) != (0, 255)),
    ),
)


def draw_symmetric(random: np.random.Generator) -> tuple[Case, ...]:
    """Both halves larger in turn, every range of integers."""
    cases = []
    for qmin, qmax in RANGES:
        low, high = -float(random.uniform(0.1, 2)), float(random.uniform(2.1, 5))
        cases.append(Case(f"drawn: larger above, {qmin}..{qmax}", (low, high, qmin, qmax)))
        cases.append(Case(f"drawn: larger below, {qmin}..{qmax}", (-high, -low, qmin, qmax)))
    cases.append(Case("drawn: below zero", (-3.25, -float(random.uniform(0.5, 1)), -8, 7)))
    cases.append(Case("drawn: above zero", (float(random.uniform(0.5, 1)), 3.25, -8, 7)))
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
