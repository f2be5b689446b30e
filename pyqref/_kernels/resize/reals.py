"""Resizing of float32 by the kernel in use."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import ModuleType

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref._kernels.order import with_channels_as, with_channels_last
from pyqref.numerics import float_resize as reference
from pyqref.numerics.float_resize import Taps
from pyqref.numerics.types import FloatArray

__all__ = ["resample"]

_FLOAT32 = np.dtype(np.float32)
_ONE_LINE: Taps = np.zeros((1, 1), np.int64), None


def resample(x: FloatArray, taps: Sequence[Taps]) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_resize.resample`; of volumes, the depth by NumPy.

    Channels stay last in memory where they are.

    Examples
    --------
    >>> both = np.array([[0, 1]]), np.float32([[0.5, 0.5]])
    >>> resample(np.float32([[1, 3]]), [both])
    array([[2.]], dtype=float32)
    """
    kernel = registry.twin("resize")
    is_empty = x.size == 0 or not taps or 0 in [len(places) for places, _ in taps]
    if kernel is None or x.dtype != _FLOAT32 or is_empty:
        return with_channels_as(x, reference.resample(x, taps))
    last = with_channels_last(x) if x.ndim == len(taps) + 2 else None
    if last is None or x.flags.c_contiguous:
        resized = _resized(kernel, x[..., np.newaxis], taps)
        return resized.reshape(resized.shape[:-1])
    pixels, back = last
    return _resized(kernel, pixels, taps).transpose(back)


def _resized(kernel: ModuleType, x: FloatArray, taps: Sequence[Taps]) -> FloatArray:
    """Resize the axes before the last."""
    for axis in range(-len(taps), -2):
        x = reference.gather(x, axis - 1, *taps[axis])
    leading, size, inner = x.shape[: -len(taps) - 1], x.shape[-len(taps) - 1 : -1], x.shape[-1]
    (rows, down), (columns, along) = (_ONE_LINE, *taps)[-2:]
    outer = prod(leading) * prod(size[:-2])
    if inner == 1:
        columns, along = columns.T, None if along is None else along.T
    resized: FloatArray = kernel.resample(
        contiguous(x).reshape(outer, *(1, *size)[-2:], inner),
        contiguous(rows),
        None if down is None else contiguous(down),
        contiguous(columns),
        None if along is None else contiguous(along),
        threads.limit,
    )
    return resized.reshape(*leading, *size[:-2], *[len(each) for each, _ in taps[-2:]], inner)
