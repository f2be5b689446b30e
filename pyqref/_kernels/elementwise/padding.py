"""Borders of a constant, by the kernel in use."""

from __future__ import annotations

from math import prod

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import windows as reference
from pyqref.numerics.types import FloatArray

__all__ = ["pad"]

#: Bytes of an array in another order, which is copied; a larger one is not.
_MOST_COPIED = 1 << 19


def pad(x: FloatArray, pairs: tuple[tuple[int, int], ...], value: float) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.pad`.

    Examples
    --------
    >>> pad(np.float32([1, 2]), ((2, -1),), 5)
    array([5., 5., 1.], dtype=float32)
    """
    kernel = registry.twin("elementwise")
    count = len(pairs)
    is_large = x.nbytes > _MOST_COPIED and not x.flags.c_contiguous
    if kernel is None or not 1 <= count <= 3 or x.dtype.hasobject or is_large:
        return reference.pad(x, pairs, value)
    leading, size = x.shape[:-count], x.shape[-count:]
    sizes = [n + before + after for n, (before, after) in zip(size, pairs, strict=True)]
    ones = [1] * (3 - count)
    border = np.full(sizes[-1], value, x.dtype)
    volumes = contiguous(x).reshape(prod(leading), *ones, *size)
    begins = (*[0] * len(ones), *[before for before, _ in pairs])
    padded: FloatArray = kernel.pad(volumes, begins, (*ones, *sizes), border, threads.limit)
    return padded.reshape(*leading, *sizes)
