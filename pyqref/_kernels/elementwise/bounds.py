"""ReLU and clamp: bounds on the integers themselves."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.parts import by_parts, copied_by_parts
from pyqref.numerics import elementwise as reference
from pyqref.numerics.affine import quantize_per_tensor
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray

__all__ = ["clamp", "relu", "relu6"]


def relu(q: IntArray, zero_point: int) -> IntArray:
    """Fast form of :func:`pyqref.numerics.elementwise.relu` (``eq-quantized-relu``)."""
    kernel = registry.twin("elementwise")
    if kernel is not None:
        result: IntArray | None = kernel.clamp(q, None, zero_point, 255, threads.limit)
        if result is not None:
            return result
        if q.itemsize == 1:
            return copied_by_parts(lambda part, _: relu(part, zero_point), q, q.dtype)
    return reference.relu(q, zero_point)


def clamp(q: IntArray, grid: Grid, low: float | None, high: float | None) -> IntArray:
    """Fast form of :func:`pyqref.numerics.elementwise.clamp` (``eq-quantized-clamp``)."""
    if q.itemsize != 1:
        return by_parts(lambda part: reference.clamp(part, grid, low, high), q)
    lower = int(np.iinfo(q.dtype).min)
    upper = lower + 255
    if low is not None:
        lower = _integer(low, grid)
    if high is not None:
        upper = _integer(high, grid)
    return _bounded(q, lower, upper)


def relu6(q: IntArray, grid: Grid) -> IntArray:
    """Fast form of :func:`pyqref.numerics.elementwise.relu6` (``eq-quantized-relu6``)."""
    if q.itemsize != 1:
        return by_parts(lambda part: reference.relu6(part, grid), q)
    return _bounded(q, grid.zero_point, _integer(6.0, grid))


@lru_cache(maxsize=256)
def _integer(number: float, grid: Grid) -> int:
    """A bound as an integer; kept, since a layer asks for it each time."""
    with np.errstate(over="ignore"):
        return int(quantize_per_tensor(np.float32(number), *grid))


def _bounded(q: IntArray, lower: int, upper: int) -> IntArray:
    """``min(max(q, lower), upper)``: where the bounds cross, the upper one holds.

    An upper bound beyond the type bounds nothing.
    """
    kernel = registry.twin("elementwise")
    if kernel is None:
        upper = min(upper, int(np.iinfo(q.dtype).max))
        bounded = np.minimum(np.maximum(q, q.dtype.type(lower)), q.dtype.type(upper))
        return np.asarray(bounded)
    result: IntArray | None = kernel.clamp(q, None, lower, upper, threads.limit)
    if result is None:
        return copied_by_parts(lambda part, _: _bounded(part, lower, upper), q, q.dtype)
    return result
