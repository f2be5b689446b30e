"""Integers that no kernel takes: windows along one axis after the other, in NumPy."""

from __future__ import annotations

from math import prod

import numpy as np

from pyqref.numerics.pooling import quantized_mean
from pyqref.numerics.types import IntArray

from .blocking import Geometry

__all__ = ["max_pool", "mean_pool"]


def max_pool(q: IntArray, result: IntArray, geometry: Geometry, n_threads: int) -> IntArray:
    """Pool like the kernel (``eq-quantized-max-pool``), integers of any width, on one thread."""
    steps = geometry.steps[-len(geometry.sizes) :]
    for axis, (windows, step) in enumerate(zip(geometry.windows, steps, strict=True), 2):
        q = _largest_along(q, axis, windows, step)
    result[...] = q
    return result


def mean_pool(
    q: IntArray,
    result: IntArray,
    geometry: Geometry,
    zero_point: int,
    divisor: int,
    by_reciprocal: bool,
    scale: float,
    n_threads: int,
) -> IntArray:
    """Pool like the kernel (``eq-quantized-mean``), integers of any width, on one thread."""
    limits = np.iinfo(q.dtype)
    total: IntArray = q.astype(np.int64) - zero_point
    for axis, windows in enumerate(geometry.windows, 2):
        total = _sums_along(total, axis, windows)
    counted = prod(np.ix_(*(windows[:, 2] for windows in geometry.windows)))
    result[...] = quantized_mean(
        total,
        divisor or counted,
        zero_point,
        int(limits.min),
        int(limits.max),
        q.dtype,
        "qnnpack" if by_reciprocal else "fbgemm",
        scale,
    )
    return result


def _largest_along(q: IntArray, axis: int, windows: np.ndarray, step: int) -> IntArray:
    first, last = windows[:, 0], windows[:, 1]
    shape = list(q.shape)
    shape[axis] = len(windows)
    result = np.full(shape, np.iinfo(q.dtype).min, q.dtype)
    column = (-1, *(1,) * (q.ndim - 1 - axis))
    for tap in range(0, int((last - first).max()), step):
        places = first + tap
        seen = np.take(q, places.clip(0, q.shape[axis] - 1), axis)
        np.maximum(result, seen, out=result, where=(places < last).reshape(column))
    return result


def _sums_along(q: IntArray, axis: int, windows: np.ndarray) -> IntArray:
    """Differences of running sums: of int64, exact."""
    length = q.shape[axis]
    shape = list(q.shape)
    shape[axis] = length + 1
    running = np.zeros(shape, np.int64)
    np.cumsum(q, axis, out=running[(slice(None),) * axis + (slice(1, None),)])
    first, last = windows[:, 0].clip(0, length), windows[:, 1].clip(0, length)
    sums = np.take(running, np.maximum(first, last), axis)
    sums -= np.take(running, first, axis)
    return sums
