"""Ways to round and to saturate, right and wrong, of which exercises and mistakes are made."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array

__all__ = [
    "half_away",
    "half_cut",
    "half_down",
    "half_to_zero",
    "half_twice",
    "half_up",
    "right",
    "saturate",
    "wrap",
]


def right(values: ArrayLike) -> np.ndarray:
    """To the nearest integer, ties to even."""
    return np.asarray(np.rint(values))


def half_up(values: Array) -> np.ndarray:
    """Ties upwards, as at school."""
    return np.asarray(np.floor(np.asarray(values) + 0.5))


def half_away(values: Array) -> np.ndarray:
    """Ties away from zero, as C's ``round``."""
    return np.asarray(np.copysign(np.floor(np.abs(values) + 0.5), values))


def half_down(values: Array) -> np.ndarray:
    """Ties downwards."""
    return np.asarray(np.ceil(np.asarray(values) - 0.5))


def half_to_zero(values: Array) -> np.ndarray:
    """Ties towards zero."""
    return np.asarray(np.copysign(np.ceil(np.abs(values) - 0.5), values))


def half_cut(values: Array) -> np.ndarray:
    """``int(v + 0.5)``: right for numbers above zero only."""
    return np.asarray(np.trunc(np.asarray(values) + 0.5))


def half_twice(values: Array) -> np.ndarray:
    """To tenths, then to integers."""
    return np.asarray(np.rint(np.round(values, 1)))


def saturate(values: Array, quant_min: int, quant_max: int) -> np.ndarray:
    """To the ends of the range."""
    return np.asarray(np.clip(values, quant_min, quant_max)).astype(np.int64)


def wrap(values: Array, quant_min: int) -> np.ndarray:
    """To eight bits as C and NumPy do it: 256 more or less, until it fits."""
    low = -128 if quant_min < 0 else 0
    return (np.asarray(values).astype(np.int64) - low) % 256 + low
