"""Softmax by the kernel in use. What is no float32 gives None: that is left to NumPy."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import float_softmax as reference
from pyqref.numerics.types import FloatArray

__all__ = ["softmax", "softmax_gradient"]

_FLOAT32 = np.dtype(np.float32)


def softmax(x: FloatArray, axis: int, is_log: bool = False) -> FloatArray | None:
    """Softmax along an axis, or its logarithm; None where ``x`` is no float32.

    Equations ``eq-float-softmax``, ``eq-float-log-softmax``.

    Examples
    --------
    >>> softmax(np.float32([1000, 1000, 0]), 0).tolist()
    [0.5, 0.5, 0.0]
    """
    kernel = registry.twin("activations")
    if kernel is not None and axis in (-1, x.ndim - 1):
        found: FloatArray | None = kernel.softmax(x, None, is_log, None, threads.limit)
        if found is not None:
            return found
    if x.dtype != _FLOAT32:
        return None
    return _along(x, None, axis, is_log)


def softmax_gradient(
    gradient: FloatArray, y: FloatArray, axis: int, is_log: bool = False
) -> FloatArray | None:
    """The gradient of the argument of :func:`softmax` whose result is ``y``.

    Equations ``eq-float-softmax-gradient``, ``eq-float-log-softmax-gradient``.

    Examples
    --------
    >>> softmax_gradient(np.float32([1, 0]), np.float32([0.5, 0.5]), 0).tolist()
    [0.25, -0.25]
    """
    if y.dtype != _FLOAT32:
        return None
    return _along(np.asarray(gradient, _FLOAT32), y, axis, is_log)


def _along(a: FloatArray, y: FloatArray | None, axis: int, is_log: bool) -> FloatArray:
    axis = range(a.ndim)[axis]
    if axis != a.ndim - 1:
        moved = None if y is None else y.swapaxes(axis, -1)
        return contiguous(_along(a.swapaxes(axis, -1), moved, -1, is_log).swapaxes(axis, -1))
    if a.size == 0:
        return np.empty(a.shape, _FLOAT32)
    a = contiguous(a)
    y = None if y is None else contiguous(y)
    kernel = registry.twin("activations")
    if kernel is not None:
        return np.asarray(kernel.softmax(a, y, is_log, None, threads.limit))
    rows = a.reshape(-1, a.shape[-1])
    if y is None:
        result = (reference.log_softmax if is_log else reference.softmax)(rows)
    else:
        function = reference.log_softmax_gradient if is_log else reference.softmax_gradient
        result = function(rows, y.reshape(rows.shape))
    return result.reshape(a.shape)
