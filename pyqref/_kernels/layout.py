"""How an array is seen by kernels that work along a channel axis."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

__all__ = ["contiguous", "elements_per_channel", "in_one_order"]


def contiguous(x: Any) -> np.ndarray:
    """Return ``x`` itself if its elements lie in C order without gaps, else a copy that does."""
    x = np.asarray(x)
    return x if x.flags.c_contiguous and x.flags.aligned else np.array(x, order="C")


def elements_per_channel(x: np.ndarray, axis: int) -> int:
    """``inner`` where ``x`` is seen as ``(outer, channels, inner)`` with channels at ``axis``."""
    return prod(x.shape[axis % x.ndim + 1 :])


def in_one_order(
    *arrays: np.ndarray,
) -> tuple[tuple[np.ndarray, ...], Callable[[np.ndarray], np.ndarray]]:
    """Arrays of one shape as contiguous ones whose axes have one order, and the way back.

    The order is that of the first one's memory: nothing is copied where the others lie in
    memory as it does, channels last or not. The function that is returned puts the axes of
    a result back.
    """
    if all(each.flags.c_contiguous for each in arrays):
        return arrays, _as_it_is
    strides = arrays[0].strides
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    back = sorted(range(len(order)), key=order.__getitem__)
    moved = tuple(contiguous(each.transpose(order)) for each in arrays)
    return moved, lambda result: result.transpose(back)


def _as_it_is(result: np.ndarray) -> np.ndarray:
    return result
