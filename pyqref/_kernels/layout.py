"""How an array is seen by kernels that work along a channel axis."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = ["contiguous", "elements_per_channel", "in_one_order"]

#: The order of the axes in memory, channels last, for arrays of 4 and 5 axes.
_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def contiguous(x: Any) -> np.ndarray:
    """Return ``x`` itself if its elements lie in C order without gaps, else a copy that does."""
    x = np.asarray(x)
    flags = x.flags
    return x if flags.c_contiguous and flags.aligned else np.array(x, order="C")


def elements_per_channel(x: np.ndarray, axis: int) -> int:
    """``inner`` where ``x`` is seen as ``(outer, channels, inner)`` with channels at ``axis``."""
    return prod(x.shape[axis % x.ndim + 1 :])


def in_one_order(first: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays of one shape whose elements lie in one order in memory, without gaps.

    The order is that of the first one, channels last or not: nothing is copied where the others
    lie in memory as it does. ``np.empty_like`` of the first makes room for a result in that
    order, so that a kernel may walk through the memory of all of them.
    """
    if not _is_dense(first):
        first = np.array(first, order="K")
    return (first, *(each if _lie_alike(first, each) else _laid_as(first, each) for each in others))


def _is_dense(x: np.ndarray) -> bool:
    if x.flags.forc:
        return True
    order = _CHANNELS_LAST.get(x.ndim)
    return order is not None and x.transpose(order).flags.c_contiguous


def _lie_alike(first: np.ndarray, other: np.ndarray) -> bool:
    if first is other or (first.flags.c_contiguous and other.flags.c_contiguous):
        return True
    return first.strides == other.strides


def _laid_as(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    copy = np.empty_like(first, other.dtype)
    np.copyto(copy, other)
    return copy
