"""Windows so large that nothing is copied: NumPy walks through each where it lies."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from pyqref.numerics.pooling import quantized_mean
from pyqref.numerics.types import IntArray

from .blocking import Geometry, channels_first

__all__ = ["max_pool", "mean_pool"]


def max_pool(q: IntArray, geometry: Geometry, n_threads: int) -> IntArray:
    """Pool like the kernel (``eq-quantized-max-pool``), in any layout, on one thread."""
    lowest = np.iinfo(q.dtype).min

    def largest(seen: IntArray, divisor: int) -> IntArray:
        return seen.max(axis=tuple(range(2, q.ndim)), initial=lowest)

    return _of_each_window(largest, q, geometry)


def mean_pool(
    q: IntArray,
    geometry: Geometry,
    zero_point: int,
    divisor: int,
    by_reciprocal: bool,
    scale: float,
    n_threads: int,
) -> IntArray:
    """Pool like the kernel (``eq-quantized-mean``), in any layout, on one thread."""
    limits = np.iinfo(q.dtype)

    def mean(seen: IntArray, counted: int) -> IntArray:
        total = seen.sum(axis=tuple(range(2, q.ndim)), dtype=np.int64)
        return quantized_mean(
            total - zero_point * prod(seen.shape[2:]),
            divisor or counted,
            zero_point,
            int(limits.min),
            int(limits.max),
            q.dtype,
            "qnnpack" if by_reciprocal else "fbgemm",
            scale,
        )

    return _of_each_window(mean, q, geometry)


def _of_each_window(
    pool: Callable[[IntArray, int], IntArray], q: IntArray, geometry: Geometry
) -> IntArray:
    """``pool(seen, divisor)``, ``(batch, channels)``, of what each window sees."""
    batch, channels = q.shape[:2]
    out = (
        np.empty((batch, channels, *geometry.sizes), q.dtype)
        if q.flags.c_contiguous
        else channels_first(np.empty((batch, *geometry.sizes, channels), q.dtype))
    )
    steps = geometry.steps[-len(geometry.sizes) :]
    for at in np.ndindex(*geometry.sizes):
        windows = [each[i].tolist() for each, i in zip(geometry.windows, at, strict=True)]
        seen = (
            slice(first, max(first, last), step)
            for (first, last, _), step in zip(windows, steps, strict=True)
        )
        counted = prod(counted for _, _, counted in windows)
        out[(..., *at)] = pool(q[(slice(None), slice(None), *seen)], counted)
    return out
