"""ReLU and clamp: bounds on the integers themselves."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import in_one_order
from pyqref.numerics import elementwise as reference
from pyqref.numerics.affine import quantize_per_tensor
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray

__all__ = ["clamp", "relu", "relu6"]


def relu(q: IntArray, zero_point: int) -> IntArray:
    """As :func:`pyqref.numerics.elementwise.relu` (``eq-quantized-relu``)."""
    if q.dtype.itemsize != 1:
        return reference.relu(q, zero_point)
    return _bounded(q, zero_point, int(np.iinfo(q.dtype).max))


def clamp(q: IntArray, grid: Grid, low: float | None, high: float | None) -> IntArray:
    """As :func:`pyqref.numerics.elementwise.clamp` (``eq-quantized-clamp``)."""
    if q.dtype.itemsize != 1:
        return reference.clamp(q, grid, low, high)
    lower, upper = np.iinfo(q.dtype).min, np.iinfo(q.dtype).max
    if low is not None:
        lower = int(quantize_per_tensor(np.float32(low), *grid))
    if high is not None:
        upper = int(quantize_per_tensor(np.float32(high), *grid))
    return _bounded(q, lower, upper)


def relu6(q: IntArray, grid: Grid) -> IntArray:
    """As :func:`pyqref.numerics.elementwise.relu6` (``eq-quantized-relu6``)."""
    if q.dtype.itemsize != 1:
        return reference.relu6(q, grid)
    six = int(quantize_per_tensor(np.float32(6), *grid))
    return _bounded(q, grid.zero_point, six)


def _bounded(q: IntArray, lower: int, upper: int) -> IntArray:
    """``min(max(q, lower), upper)``: where the bounds cross, the upper one holds."""
    kernel = registry.twin("elementwise")
    if kernel is None:
        return np.minimum(np.maximum(q, q.dtype.type(lower)), q.dtype.type(upper))
    (flat,), restore = in_one_order(q)
    result = np.empty(flat.shape, flat.dtype)
    is_signed = q.dtype == np.int8
    kernel.clamp(flat, result, is_signed, lower, upper, threads.get_num_threads())
    return restore(result)
