"""Results whose vectors straddle no cache lines."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = ["empty"]

#: Bytes of a cache line, and of arrays from which it matters where they begin.
LINE, LARGE = 64, 1 << 14


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """As ``np.empty``, but a large array begins at a cache line.

    Kernels take up to half as much time again to write real results that do not.
    """
    size = prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    buffer = np.empty(size + LINE, np.uint8)
    address: int = buffer.__array_interface__["data"][0]
    return np.ndarray(shape, dtype, buffer, -address % LINE)
