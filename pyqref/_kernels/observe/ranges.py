"""Ranges of observed data, by the kernel in use.

The zero of a result is always +0.0 (the order of comparing -0.0 with 0.0 would show
otherwise), and nan anywhere makes both ends nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import PART, contiguous, dense, is_dense
from pyqref._kernels.parts import parts
from pyqref.numerics.types import FloatArray

__all__ = ["min_max", "min_max_per_channel"]

_FLOAT32 = np.dtype(np.float32)


def min_max(x: FloatArray) -> tuple[Any, Any]:
    r"""Smallest and largest number of ``x``.

    Equation ``eq-min-max``:

    .. math:: (\min_i x_i,\; \max_i x_i)

    Parameters
    ----------
    x
        Numbers of any shape, at least one.

    Returns
    -------
    Two scalars of the type of ``x``.

    Examples
    --------
    >>> min_max(np.float32([[1, -2], [0.5, 0]]))
    (np.float32(-2.0), np.float32(1.0))
    """
    kernel = registry.twin("observe")
    x = np.asarray(x)
    if kernel is None or x.dtype != _FLOAT32:
        zero = x.dtype.type(0)
        return x.min() + zero, x.max() + zero
    if x.size > PART and not is_dense(x):
        ends = [min_max(x[at]) for at in parts(x, most=PART)]
        return np.min([low for low, _ in ends]), np.max([high for _, high in ends])
    low, high = kernel.min_max(dense(x), threads.limit)
    return np.float32(low + 0.0), np.float32(high + 0.0)


def min_max_per_channel(x: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest number of each channel of ``x``; equation ``eq-min-max`` for each.

    Parameters
    ----------
    x
        Numbers ``(..., C, ...)`` with C at ``axis``, at least one a channel.
    axis
        The channel axis.

    Returns
    -------
    Two arrays ``(C,)`` of the type of ``x``.

    Examples
    --------
    >>> min_max_per_channel(np.float32([[1, -2], [0.5, 0]]), 0)
    (array([-2.,  0.], dtype=float32), array([1. , 0.5], dtype=float32))
    """
    kernel = registry.twin("observe")
    if kernel is not None:
        found = kernel.min_max_per_channel(x, axis, threads.limit)
        if found is not None:
            return found
    x = np.asarray(x)
    if kernel is not None and x.dtype == _FLOAT32 and x.size:
        return _by_parts(x, axis) if x.size > PART else min_max_per_channel(contiguous(x), axis)
    zero = x.dtype.type(0)
    own = range(x.ndim)[axis]
    others = tuple(each for each in range(x.ndim) if each != own)
    return x.min(axis=others) + zero, x.max(axis=others) + zero


def _by_parts(x: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    """:func:`min_max_per_channel`, of parts that are copied."""
    lows = np.full(x.shape[axis], np.inf, _FLOAT32)
    highs = -lows
    for at in parts(x, most=PART):
        low, high = min_max_per_channel(contiguous(x[at]), axis)
        np.minimum(lows[at[axis]], low, out=lows[at[axis]])
        np.maximum(highs[at[axis]], high, out=highs[at[axis]])
    return lows, highs
