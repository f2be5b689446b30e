"""Short names for arrays of one type, in which the cases of exercises are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["float32", "int8", "int32", "uint8"]


def float32(values: ArrayLike) -> np.ndarray:
    """Real numbers."""
    return np.array(values, np.float32)


def uint8(values: ArrayLike) -> np.ndarray:
    """Unsigned bytes."""
    return np.array(values, np.uint8)


def int8(values: ArrayLike) -> np.ndarray:
    """Signed bytes."""
    return np.array(values, np.int8)


def int32(values: Sequence[int]) -> np.ndarray:
    """Accumulators."""
    return np.array(values, np.int32)
