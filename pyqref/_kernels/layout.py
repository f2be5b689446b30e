"""How an array is seen by kernels that work along a channel axis."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = ["contiguous", "elements_per_channel"]


def contiguous(x: Any) -> np.ndarray:
    """Return ``x`` itself if its elements lie in C order without gaps, else a copy that does."""
    x = np.asarray(x)
    return x if x.flags.c_contiguous and x.flags.aligned else np.array(x, order="C")


def elements_per_channel(x: np.ndarray, axis: int) -> int:
    """``inner`` where ``x`` is seen as ``(outer, channels, inner)`` with channels at ``axis``."""
    return prod(x.shape[axis % x.ndim + 1 :])
