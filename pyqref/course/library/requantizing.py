"""Knowledge of the checker about the exercise on requantization."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .grid import CLAMPS, ROUNDINGS, grid_traits
from .model import Library, Trait
from .parts import change, rows

__all__ = ["REQUANTIZE"]


def draw_requantize(random: np.random.Generator) -> tuple[Case, ...]:
    """Exact multipliers with ties, others without, every range, odd zero points."""
    cases = []
    ranges = ((0, 255), (-128, 127), (0, 127), (-8, 7), (0, 255), (-128, 127), (30, 255), (0, 15))
    for number, (low, high) in enumerate(ranges):
        exact = number % 2 == 0
        point = int(random.integers(low, high + 1)) if number else 131
        point += int(exact and point % 2 == 0 and point < high)
        multiplier = float(random.choice([0.5, 0.25] if exact else [0.0375, 0.0113, 0.007]))
        reach = (high - low) / multiplier
        acc = random.integers(int(-1.5 * reach), int(1.5 * reach), 12)
        acc[:3] = np.array([-1, 1, 3]) * (1 if exact else 41)
        scaled = acc * multiplier
        if not exact:
            near = np.abs(scaled - np.floor(scaled) - 0.5) < 0.02
            acc = np.where(near, acc + 5, acc)
            whole, rest = np.divmod(np.arange(900) * multiplier, 1)
            almost = (rest > 0.455) & (rest < 0.475) & (whole % 2 == 1)
            acc[3] = int(np.argmax(almost))
        words = f"drawn: multiplier {multiplier}, {low}..{high}, zero point {point}"
        cases.append(Case(words, (acc.astype(np.int32), multiplier, point, low, high)))
    return tuple(cases)


_POINT = " + zero_point"
_ACC = "accumulators *"
_REAL = "The multiplier is any real number: multiply by it as it is."
REQUANTIZE = Library(
    exercise="requantize",
    answer="""\
def requantize(accumulators, multiplier, zero_point, quant_min, quant_max):
    q = np.rint(accumulators * multiplier) + zero_point
    return np.clip(q, quant_min, quant_max).astype(np.int64)
""",
    changes=(
        *ROUNDINGS,
        *CLAMPS,
        change(
            "rounding order: the zero point inside the rounding",
            "Here the zero point is added to the rounded product: with an odd one, ties differ.",
            ("accumulators * multiplier) + zero_point", "accumulators * multiplier + zero_point)"),
        ),
        change(
            "adds the zero point to the accumulator",
            "The zero point counts in units of the output: add it after the multiplication.",
            (
                "accumulators * multiplier) + zero_point",
                "(accumulators + zero_point) * multiplier)",
            ),
        ),
        change(
            "subtracts the zero point from the accumulator",
            "The zero point counts in units of the output: add it after the multiplication.",
            (
                "accumulators * multiplier) + zero_point",
                "(accumulators - zero_point) * multiplier)",
            ),
        ),
        change(
            "forgets the zero point",
            "The real number 0 is the zero point of the output: add it.",
            (_POINT, ""),
        ),
        change(
            "subtracts the zero point",
            "The real number 0 is the zero point of the output: add it.",
            (_POINT, " - zero_point"),
        ),
        change(
            "divides by the multiplier",
            "The multiplier s_x s_w / s_y counts output steps for each unit of the sum: multiply.",
            ("accumulators * multiplier", "accumulators / multiplier"),
        ),
        change(
            "forgets the multiplier",
            "The multiplier turns units of the sum into steps of the output.",
            ("accumulators * multiplier", "accumulators"),
        ),
        change(
            "casts before it adds the zero point",
            "The rounded product may need more than eight bits: add and clamp first, then cast.",
            (") + zero_point", ")\n    q = wrap(q, 0) + zero_point"),
        ),
        change(
            "casts before it adds the zero point",
            "The rounded product may need more than eight bits: add and clamp first, then cast.",
            (") + zero_point", ")\n    q = wrap(q, -1) + zero_point"),
        ),
        change(
            "casts before it adds the zero point",
            "The rounded product may need more than eight bits: add and clamp first, then cast.",
            (") + zero_point", ")\n    q = wrap(q, quant_min) + zero_point"),
        ),
        change(
            "clamps before it adds the zero point",
            "The range is that of the result: add the zero point, then clamp.",
            (_POINT, ""),
            (
                "return np.clip(q, quant_min, quant_max)",
                "return (np.clip(q, quant_min, quant_max) + zero_point)",
            ),
        ),
        change(
            "clamps before and after it adds the zero point",
            "The range is that of the result: add the zero point, then clamp once.",
            (") + zero_point", ")\n    q = np.clip(q, quant_min, quant_max) + zero_point"),
        ),
        change(
            "rounds the multiplier to a shift",
            _REAL,
            (
                "accumulators * multiplier",
                "accumulators * 2.0 ** np.floor(np.log2(multiplier) + 0.5)",
            ),
        ),
        *rows(
            "accumulators * multiplier",
            (
                "rounds the multiplier to an integer",
                _REAL,
                "accumulators * np.rint(multiplier)",
            ),
            (
                "rounds the multiplier to a shift",
                _REAL,
                f"{_ACC} 2.0 ** np.floor(np.log2(multiplier))",
            ),
            (
                "rounds the multiplier to a shift",
                _REAL,
                f"{_ACC} 2.0 ** np.ceil(np.log2(multiplier))",
            ),
            ("rounds the multiplier to 8 bits", _REAL, f"{_ACC} np.rint(multiplier * 256) / 256"),
            ("rounds the multiplier to 8 bits", _REAL, f"{_ACC} np.floor(multiplier * 256) / 256"),
            ("rounds the multiplier to 8 bits", _REAL, f"{_ACC} np.rint(multiplier * 128) / 128"),
            (
                "divides by a whole number",
                "1 / multiplier need not be whole: multiply by the real multiplier.",
                "accumulators / np.rint(1 / multiplier)",
            ),
            (
                "divides by a whole number",
                "1 / multiplier need not be whole: multiply by the real multiplier.",
                "accumulators / int(1 / multiplier)",
            ),
            (
                "clamps the sums first",
                "The range is that of the result: multiply, add the zero point, clamp last.",
                "np.clip(accumulators, quant_min, quant_max) * multiplier",
            ),
            (
                "takes the size of the sum",
                "Negative sums lie below the zero point: keep the sign.",
                "np.abs(accumulators) * multiplier",
            ),
            (
                "cuts the sums to 16 bits",
                "An accumulator has 32 bits.",
                "((accumulators.astype(np.int64) + 2**15) % 2**16 - 2**15) * multiplier",
            ),
        ),
        *rows(
            "np.rint(accumulators * multiplier) + zero_point",
            (
                "adds the zero point twice",
                "The zero point is added once.",
                "np.rint(accumulators * multiplier) + 2 * zero_point",
            ),
            *(
                (
                    f"rounding order: the zero point inside the rounding, and {words}",
                    "Round the product alone, to the nearest with ties to even, then add.",
                    f"{way}(accumulators * multiplier + zero_point)",
                )
                for words, way in (("halves away from zero", "half_away"),)
            ),
        ),
        change(
            "leaves fractions",
            "The result is the nearest integer: round the product.",
            ("np.rint(accumulators * multiplier)", "accumulators * multiplier"),
            (".astype(np.int64)", ""),
        ),
        change(
            "adds quant_min",
            "The zero point is the whole shift: quant_min is only an end of the range.",
            (_POINT, " + zero_point + quant_min"),
        ),
        change(
            "shifts by quant_min instead of the zero point",
            "The real number 0 is stored as the zero point, which need not be quant_min.",
            (_POINT, " + quant_min"),
        ),
        change(
            "clamps at the zero point",
            "That is a fused ReLU; here quant_min says where to clamp.",
            ("np.clip(q, quant_min,", "np.clip(q, max(quant_min, zero_point),"),
        ),
    ),
    draw=draw_requantize,
    traits=(
        *grid_traits(
            lambda a, m, z, low, high: a * m,
            lambda a, m, z, low, high: np.rint(a * m) + z,
            "product",
        ),
        Trait(
            "the rounded product does not fit eight bits",
            lambda a, m, z, low, high: (np.rint(a * m) < -128) | (np.rint(a * m) > 127),
        ),
        Trait("the accumulator is negative", lambda a, m, z, low, high: a < 0),
        Trait("the zero point is not 0", lambda a, m, z, low, high: z != 0),
        Trait("the zero point is odd", lambda a, m, z, low, high: z % 2 == 1),
        Trait("the multiplier is no power of two", lambda a, m, z, low, high: np.log2(m) % 1 != 0),
    ),
)
