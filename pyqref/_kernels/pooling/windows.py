"""Pooling by the kernel in use. What no kernel covers goes to its twin in NumPy.

A kernel gets for each axis where every window begins and ends inside the array, and the
number by which a sum is divided: so one kernel serves every kind of averaging.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref.numerics import pooling as reference
from pyqref.numerics.pooling import pooled_sizes
from pyqref.numerics.types import Engine, IntArray

from . import one_by_one, wide
from .blocking import MOST_WIDE, Geometry, run_by_planes, run_in_blocks

__all__ = ["adaptive_avg_pool", "avg_pool", "max_pool"]

#: Sums of bytes fit 32 bits up to this many.
_LARGEST_WINDOW = (2**31 - 1) // 255


def max_pool(
    q: IntArray,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool = False,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.pooling.max_pool` (``eq-quantized-max-pool``).

    Fastest with the channels last in memory; the result then lies so too.
    """
    twin = registry.twin("pooling")
    geometry = _geometry(q.shape, kernel, stride, padding, dilation, ceil_mode, True)
    if twin is not None and geometry is not None:
        pooled: IntArray | None = twin.max_pool(q, None, geometry, threads.limit)
        if pooled is not None:
            return pooled
        if _is_cut(q):
            return _cut(twin, "max_pool", q, geometry)
    windows = kernel, stride, padding, dilation, ceil_mode
    return run_by_planes(lambda part: reference.max_pool(part, *windows), q, len(kernel))


def avg_pool(
    q: IntArray,
    zero_point: int,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.pooling.avg_pool` (``eq-quantized-avg-pool``)."""
    twin = registry.twin("pooling")
    geometry = _geometry(q.shape, kernel, stride, padding, None, ceil_mode, count_include_pad)
    if twin is not None and geometry is not None:
        by_reciprocal = engine == "qnnpack" and not ceil_mode
        divisor = divisor_override or 0
        pooled: IntArray | None = twin.mean_pool(
            q, None, geometry, zero_point, divisor, by_reciprocal, scale, threads.limit
        )
        if pooled is not None:
            return pooled
        if _is_cut(q):
            return _cut(twin, "mean_pool", q, geometry, zero_point, divisor, by_reciprocal, scale)
    windows = kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
    return run_by_planes(
        lambda part: reference.avg_pool(part, zero_point, *windows, engine, scale), q, len(kernel)
    )


def adaptive_avg_pool(
    q: IntArray,
    zero_point: int,
    output_size: tuple[int, ...],
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.pooling.adaptive_avg_pool`.

    Equation ``eq-quantized-adaptive-avg-pool``.
    """
    twin = registry.twin("pooling")
    geometry = _adaptive_geometry(q.shape, output_size)
    if twin is not None and geometry is not None:
        by_reciprocal = engine == "qnnpack" and geometry.is_even
        pooled: IntArray | None = twin.mean_pool(
            q, None, geometry, zero_point, 0, by_reciprocal, scale, threads.limit
        )
        if pooled is not None:
            return pooled
        if _is_cut(q):
            return _cut(twin, "mean_pool", q, geometry, zero_point, 0, by_reciprocal, scale)
    others = zero_point, output_size, engine, scale
    return run_by_planes(
        lambda part: reference.adaptive_avg_pool(part, *others), q, len(output_size)
    )


def _is_cut(q: IntArray) -> bool:
    """Return True if images that no kernel takes are cut into blocks; NumPy computes others."""
    return q.itemsize == 1 or prod(q.shape[2:]) > MOST_WIDE


def _cut(twin: Any, name: str, q: IntArray, geometry: Geometry, *rest: Any) -> IntArray:
    """Return the kernel's result for images that must be cut into blocks for it."""
    pool = getattr(twin if q.itemsize == 1 else wide, name)
    return run_in_blocks(pool, getattr(one_by_one, name), q, geometry, *rest, threads.limit)


@lru_cache(maxsize=64)
def _geometry(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...] | None,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Geometry | None:
    """The windows of a pooling, or None where the kernels have none."""
    if not _is_covered(shape, kernel):
        return None
    dilation = dilation or (1,) * len(kernel)
    counts = pooled_sizes(shape[2:], kernel, stride, padding, dilation, ceil_mode)
    places = zip(shape[2:], kernel, stride, padding, dilation, strict=True)
    axes = [
        _windows(count, *each, count_include_pad)
        for count, each in zip(counts, places, strict=True)
    ]
    return _made(axes, (1, 1, *dilation)[-3:])


@lru_cache(maxsize=64)
def _adaptive_geometry(shape: tuple[int, ...], output_size: tuple[int, ...]) -> Geometry | None:
    """Return :func:`_geometry` for adaptive pooling."""
    covered = _is_covered(shape, shape[2:]) and 0 not in output_size
    if not covered or len(shape) != len(output_size) + 2:
        return None
    sizes = tuple(zip(shape[2:], output_size, strict=True))
    axes = [_adaptive_windows(*each) for each in sizes]
    is_even = all(size % outputs == 0 for size, outputs in sizes)
    return _made(axes, (1, 1, 1), is_even)


def _made(axes: Sequence[np.ndarray], steps: tuple[int, ...], is_even: bool = False) -> Geometry:
    """Return the geometry that follows from the windows along each axis."""
    seen = [np.maximum(each[:, 1] - each[:, 0], 0) for each in axes]
    # Places under all windows of a channel, dilation aside.
    taps = prod(int(each.sum()) for each in seen)
    longest = tuple(int(each.max(initial=1)) for each in seen)
    sizes = tuple(map(len, axes))
    has_buffer = prod(longest) <= _LARGEST_WINDOW
    return Geometry(*_three(axes), steps, taps, sizes, longest, has_buffer, is_even)


def _is_covered(shape: tuple[int, ...], kernel: tuple[int, ...]) -> bool:
    return len(shape) == len(kernel) + 2 and len(kernel) <= 3 and prod(shape) > 0


def _three(axes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Windows along depth, height and width."""
    planes, rows, columns = (_ONE_WINDOW, _ONE_WINDOW, *axes)[-3:]
    return planes, rows, columns


def _windows(
    count: int,
    size: int,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    count_include_pad: bool,
) -> np.ndarray:
    """First and last place (exclusive) of each window inside the axis, and its divisor."""
    start = np.arange(count, dtype=np.int64) * stride - padding
    # The first place under a tap that is not in the padding before the axis.
    first = np.where(start < 0, start + -(start // dilation) * dilation, start)
    stop = start + dilation * (kernel - 1) + 1
    last = np.minimum(stop, size)
    counted = np.minimum(stop, size + padding) - start if count_include_pad else last - first
    return _frozen(first, last, counted)


def _adaptive_windows(size: int, outputs: int) -> np.ndarray:
    places = np.arange(outputs, dtype=np.int64)
    first, last = places * size // outputs, -(-(places + 1) * size // outputs)
    return _frozen(first, last, last - first)


def _frozen(*columns: np.ndarray) -> np.ndarray:
    table = np.stack(columns, axis=1)
    table.flags.writeable = False
    return table


_ONE_WINDOW = _frozen(*(np.array([each]) for each in (0, 1, 1)))
