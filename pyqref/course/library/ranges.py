"""Knowledge of the checker about the exercise on choosing scale and zero point."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, rows

__all__ = ["AFFINE_QPARAMS", "RANGES"]

RANGES = ((0, 255), (-128, 127), (0, 15), (-64, 63), (0, 127), (-127, 127))


def draw_affine(random: np.random.Generator) -> tuple[Case, ...]:
    """Ranges on both sides of zero, on one side, and without width; ties of the zero point."""
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
    tiny = float(random.uniform(1, 9)) * 1e-6
    cases.append(Case("drawn: hardly any width", (-tiny, 2 * tiny, 0, 255)))
    cases.append(Case("drawn: the lower end is 0", (0.0, near, 0, 255)))
    cases.append(Case("drawn: the upper end is 0", (-far, 0.0, -128, 127)))
    half = int(random.integers(2, 250))
    for below, low in ((half + 0.5, 0), (half + 1.5, -128)):
        given = (-0.25 * below, 0.25 * (255 - below), low, low + 255)
        cases.append(Case(f"drawn: a zero point at a tie, {low}..{low + 255}", given))
    return tuple(cases)


_WIDEN = "    low, high = min(low, 0.0), max(high, 0.0)\n"
_LEAST = "    scale = max(scale, 2.0**-23)\n"
_ROUNDED = "zero_point = quant_min - np.rint(low / scale)"
_CLAMPED = "int(np.clip(zero_point, quant_min, quant_max))"
_TIES = "A zero point half way between two integers goes to the even one: use np.rint."
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
            "divides by one step too few",
            "From quant_min to quant_max there are quant_max - quant_min steps.",
            ("(quant_max - quant_min)", "(quant_max - quant_min - 1)"),
        ),
        change(
            "divides by half of the steps",
            "The whole width is divided by all of the steps.",
            ("/ (quant_max - quant_min)", "/ ((quant_max - quant_min) / 2)"),
        ),
        change(
            "widens the wrong way",
            "The lower end must not lie above 0, the upper not below: min(low, 0), max(high, 0).",
            (_WIDEN, "    low, high = max(low, 0.0), min(high, 0.0)\n"),
        ),
        change(
            "makes the range symmetric",
            "That is the symmetric scheme. Here each end counts: min(low, 0) and max(high, 0).",
            (_WIDEN, "    high = max(-low, high, 0.0)\n    low = -high\n"),
        ),
        change(
            "begins the range at 0 always",
            "The lower end counts where it is negative: min(low, 0).",
            (_WIDEN, "    low, high = 0.0, max(high, 0.0)\n"),
        ),
        *rows(
            _LEAST,
            *(
                (
                    "takes another least scale",
                    "The task asks for 2**-23 at least.",
                    f"    scale = max(scale, {least})\n",
                )
                for least in ("1e-8", "1e-12", "2.0**-24", "2.0**-52", "1e-6", "1e-5", "2.0**-22")
            ),
            (
                "takes the least scale only where the width is 0",
                "Widths near 0 give a scale below 2**-23 as well: use max.",
                "    scale = scale or 2.0**-23\n",
            ),
            (
                "adds the least scale",
                "2**-23 is a lower bound: take max, do not add.",
                "    scale = scale + 2.0**-23\n",
            ),
            (
                "lets the scale be 2**-23 at most",
                "2**-23 is a lower bound: take max, not min.",
                "    scale = min(scale, 2.0**-23)\n",
            ),
            (
                "rounds the scale to a power of two",
                "The scale is any real number.",
                "    scale = 2.0 ** np.round(np.log2(max(scale, 2.0**-23)))\n",
            ),
        ),
        *rows(
            _ROUNDED,
            (
                "counts from the middle of the integers",
                "The lower end falls on quant_min: z = quant_min - round(low / scale).",
                "zero_point = np.rint((quant_min + quant_max) / 2 - (low + high) / 2 / scale)",
            ),
            (
                "takes the middle of the integers",
                "0 falls on quant_min - round(low / scale), wherever that is.",
                "zero_point = (quant_min + quant_max + 1) // 2",
            ),
            (
                "counts the zero point in real units",
                "The zero point counts in steps: divide low by the scale.",
                "zero_point = quant_min - low",
            ),
            (
                "counts the zero point in real units",
                "The zero point counts in steps: divide low by the scale.",
                "zero_point = -low",
            ),
            (
                "counts from high instead of low",
                "quant_min is the integer of the lower end: z = quant_min - round(low / scale).",
                "zero_point = np.rint(high / scale)",
            ),
            (
                "rounds halves of the zero point up",
                _TIES,
                "zero_point = quant_min - half_down(low / scale)",
            ),
            (
                "rounds halves of the zero point down",
                _TIES,
                "zero_point = quant_min - half_up(low / scale)",
            ),
        ),
        change(
            "clamps the zero point to -128..127 always",
            "The range is an argument: clamp to quant_min..quant_max.",
            (_CLAMPED, "int(np.clip(zero_point, -128, 127))"),
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
        Trait(
            "the width is tiny, less than 255 * 2**-23",
            lambda low, high, qmin, qmax: max(high, 0) - min(low, 0) < 255 * 2.0**-23,
        ),
        Trait(
            "0 falls half way between two integers",
            lambda low, high, qmin, qmax: (
                high > low and low / ((high - low) / (qmax - qmin)) % 1 == 0.5
            ),
        ),
        Trait("low is negative", lambda low, high, qmin, qmax: low < 0),
        Trait("quant_min is not 0", lambda low, high, qmin, qmax: qmin != 0),
        Trait(
            "quant_min..quant_max has not 255 steps",
            lambda low, high, qmin, qmax: qmax - qmin != 255,
        ),
        Trait("the range is not 0..255", lambda low, high, qmin, qmax: (qmin, qmax) != (0, 255)),
    ),
)
