"""Changes and traits that several exercises share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Change, Trait

__all__ = ["CLAMPS", "ROUNDINGS", "change", "integers_of", "places", "tie"]


def change(name: str, explanation: str, *swaps: tuple[str, str]) -> Change:
    """Write a change without brackets."""
    return Change(name, explanation, swaps)


ROUNDINGS = (
    change(
        "rounds halves up",
        "Ties go to the even neighbour (2.5 to 2): use np.rint, not floor(v + 0.5).",
        ("q = np.rint(", "q = half_up("),
    ),
    change(
        "rounds halves away from zero",
        "Ties go to the even neighbour; C's round goes away from zero. Use np.rint.",
        ("q = np.rint(", "q = half_away("),
    ),
    change(
        "truncates",
        "A cast to an integer drops the fraction: round before the cast.",
        ("q = np.rint(", "q = np.trunc("),
    ),
    change(
        "rounds down",
        "Floor is off by up to a whole step: use np.rint.",
        ("q = np.rint(", "q = np.floor("),
    ),
    change(
        "rounds up",
        "Ceil is off by up to a whole step: use np.rint.",
        ("q = np.rint(", "q = np.ceil("),
    ),
)

_CLAMP = "np.clip(q, quant_min, quant_max)"
CLAMPS = (
    change(
        "does not clamp",
        "Numbers outside the range must become its ends, quant_min and quant_max.",
        (_CLAMP, "np.asarray(q)"),
    ),
    change(
        "clamps to 0..255 always",
        "The range is an argument: clamp to quant_min and quant_max.",
        (_CLAMP, "np.clip(q, 0, 255)"),
    ),
    change(
        "clamps to -128..127 always",
        "The range is an argument: clamp to quant_min and quant_max.",
        (_CLAMP, "np.clip(q, -128, 127)"),
    ),
    change(
        "clamps above only",
        "Numbers below the range must become its lower end, quant_min.",
        (_CLAMP, "np.minimum(q, quant_max)"),
    ),
    change(
        "clamps below only",
        "Numbers above the range must become its upper end, quant_max.",
        (_CLAMP, "np.maximum(q, quant_min)"),
    ),
    change(
        "never reaches quant_max",
        "The range includes both of its ends: clamp to quant_max itself.",
        (_CLAMP, "np.clip(q, quant_min, quant_max - 1)"),
    ),
    change(
        "clamps at 0 instead of quant_min",
        "The lower end is quant_min, which is negative for signed integers.",
        (_CLAMP, "np.clip(q, 0, quant_max)"),
    ),
    change(
        "clamps to -quant_max..quant_max",
        "The lower end is an argument of its own: quant_min.",
        (_CLAMP, "np.clip(q, -quant_max, quant_max)"),
    ),
    change(
        "casts before it clamps",
        "A cast to eight bits wraps around: 300 becomes 44. Clamp first.",
        (_CLAMP, "np.clip(wrap(q, quant_min), quant_min, quant_max)"),
    ),
    change(
        "casts before it clamps",
        "A cast to eight bits wraps around: 300 becomes 44. Clamp first.",
        (_CLAMP, "np.clip(wrap(q, 0), quant_min, quant_max)"),
    ),
    change(
        "casts before it clamps",
        "A cast to eight bits wraps around: 300 becomes 44. Clamp first.",
        (_CLAMP, "np.clip(wrap(q, -1), quant_min, quant_max)"),
    ),
    change(
        "casts instead of clamping",
        "A cast to eight bits wraps around: 300 becomes 44. Clamp with np.clip.",
        (_CLAMP, "wrap(q, quant_min)"),
    ),
    change(
        "casts instead of clamping",
        "A cast to eight bits wraps around: 300 becomes 44. Clamp with np.clip.",
        (_CLAMP, "wrap(q, 0)"),
    ),
)


def tie(values: Any) -> Any:
    """Return True where a number lies half way between two integers."""
    values = np.asarray(values, np.float64)
    return values - np.floor(values) == 0.5


def places(
    random: np.random.Generator, low: int, high: int, count: int, halves: bool = True
) -> np.ndarray:
    """Places on a grid, among them ties (if wanted), the ends, and places beyond them."""
    fractions = [0.5, 0.5, 0.25, -0.25, 0.125] if halves else [0.2, -0.2, 0.3, -0.3, 0.1]
    reach = max(8, (high - low) // 4)
    whole = np.concatenate(
        [
            random.integers(low, high + 1, count),
            [low, high, low - random.integers(1, reach), high + random.integers(1, reach)],
            [low - 300, high + 300],
        ]
    )
    grid = np.asarray(whole + random.choice(fractions, whole.size))
    if halves:  # two ties in each half of the range, next to an even and to an odd integer
        grid[:4] = np.array([low // 2, low // 2 + 1, high // 2, high // 2 + 1]) + 0.5
    return grid


def integers_of(random: np.random.Generator, signed: bool, shape: Any) -> np.ndarray:
    """Bytes of any value, both ends among them where there is room."""
    low, high = (-128, 127) if signed else (0, 255)
    values = random.integers(low, high + 1, shape)
    if values.size > 3:
        values.flat[0], values.flat[-1] = low, high
    return values.astype(np.int8 if signed else np.uint8)


NONZERO_POINT = "the zero point is not 0"


def zero_point_trait(place: int) -> Trait:
    """Trait of a zero point that is not 0, which is the argument with this number."""
    return Trait(NONZERO_POINT, lambda *a: a[place] != 0)
