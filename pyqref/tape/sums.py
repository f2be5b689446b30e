"""Sums of floats over some axes, whose error does not grow with their length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.order import with_channels_last

from .._insides.numpy_errors import ERRORS, IGNORED

__all__ = ["total", "total_but_channels"]

#: ``np.sum`` of arrays, without its look for other things.
_sum: Any = np.add.reduce
_FLOAT32 = np.dtype(np.float32)
#: The most numbers whose sum is as exact one after the other, in float32.
_FEW = 32


def total(
    x: np.ndarray, axes: tuple[int, ...], keepdim: bool = False, count: int = 1
) -> np.ndarray:
    """Sum over ``axes``, non-negative, divided by ``count``.

    Of float32 in C order: over the last axes ``eq-float-total``, and over another one of more
    than 32 numbers ``eq-float-column-total``. Over space, of channels that are last in memory,
    ``eq-float-total``, too. Of others in NumPy's order, without its warnings.
    """
    if x.dtype == _FLOAT32 and axes and x.flags.c_contiguous:
        kept = x.ndim - len(axes)
        if kept == 0 or min(axes) == kept:
            y = _kernels.totals_of_rows(x, count, kept)
            return y.reshape((*y.shape, *(1,) * len(axes))) if keepdim else y
        if x.ndim - 1 in axes:
            last = tuple(axis for axis in axes if set(range(axis, x.ndim)) <= set(axes))
            x = total(x, last, keepdim=True)
        for axis in axes:
            if x.shape[axis] > _FEW and x.size:
                shape = x.shape
                x = x.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
                x = _kernels.totals_of_columns(x)
                x = x.reshape(*shape[:axis], 1, *shape[axis + 1 :])
    elif x.dtype == _FLOAT32 and axes == tuple(range(2, x.ndim)):
        seen = with_channels_last(x)
        if seen is not None:
            pixels = seen[0].reshape(x.shape[0], math.prod(x.shape[2:]), x.shape[1])
            y = _kernels.totals_across(pixels, count)
            return y.reshape((*y.shape, *(1,) * len(axes))) if keepdim else y
    token = ERRORS.set(IGNORED)
    try:
        result = _sum(x, axis=axes, keepdims=keepdim, dtype=x.dtype)
        return np.asarray(result if count == 1 else result / result.dtype.type(count))
    finally:
        ERRORS.reset(token)


def total_but_channels(x: np.ndarray) -> np.ndarray:
    """Sum of ``x`` ``(N, C, ...)`` over all axes but that of the channels."""
    return total(x, (0, *range(2, x.ndim)))
