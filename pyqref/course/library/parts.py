"""Pieces of changes and of drawn cases that several exercises share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Change

__all__ = ["change", "integers_of", "places", "rows", "tie"]


def change(name: str, explanation: str, *swaps: tuple[str, str]) -> Change:
    """Write a change without brackets."""
    return Change(name, explanation, swaps)


def rows(piece: str, *mistakes: tuple[str, str, str]) -> tuple[Change, ...]:
    """Changes of one piece: a name, an explanation, and what stands there."""
    return tuple(Change(name, why, ((piece, instead),)) for name, why, instead in mistakes)


def tie(values: Any) -> Any:
    """Return True where a number lies half way between two integers."""
    values = np.asarray(values, np.float64)
    return values - np.floor(values) == 0.5


def places(
    random: np.random.Generator, low: int, high: int, count: int, halves: bool = True
) -> np.ndarray:
    """Places on a grid, among them ties (if wanted), the ends, and places beyond them."""
    fractions = [0.5, 0.5, 0.25, -0.25, 0.46] if halves else [0.2, -0.2, 0.3, -0.46, 0.46]
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
