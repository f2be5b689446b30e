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
from pyqref._kernels.layout import contiguous
from pyqref.numerics import pooling as reference
from pyqref.numerics.pooling import pooled_size
from pyqref.numerics.types import Engine, IntArray

__all__ = ["adaptive_avg_pool", "avg_pool", "max_pool"]

#: Sums of bytes fit 32 bits up to this many.
_LARGEST_WINDOW = (2**31 - 1) // 255


def max_pool(
    q: IntArray,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
) -> IntArray:
    """As :func:`pyqref.numerics.pooling.max_pool` (``eq-quantized-max-pool``).

    Fastest with the channels last in memory; the result then lies so too.
    """
    twin = registry.twin("pooling")
    if twin is None or not _is_covered(q, kernel):
        return reference.max_pool(q, kernel, stride, padding, dilation, ceil_mode)
    axes = [
        _windows(*each, ceil_mode, True)
        for each in zip(q.shape[2:], kernel, stride, padding, dilation, strict=True)
    ]
    image, out, result = _arrays(q, [len(each) for each in axes])
    twin.max_pool(
        image,
        q.dtype == np.int8,
        *_two(axes),
        (1, *dilation)[-2:],
        out,
        prod(kernel),
        threads.get_num_threads(),
    )
    return result


def avg_pool(
    q: IntArray,
    zero_point: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    """As :func:`pyqref.numerics.pooling.avg_pool` (``eq-quantized-avg-pool``)."""
    twin = registry.twin("pooling")
    if twin is None or not _is_covered(q, kernel):
        return reference.avg_pool(
            q,
            zero_point,
            kernel,
            stride,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            engine,
            scale,
        )
    axes = [
        _windows(*each, 1, ceil_mode, count_include_pad)
        for each in zip(q.shape[2:], kernel, stride, padding, strict=True)
    ]
    engine = "fbgemm" if ceil_mode else engine
    return _mean(twin, q, zero_point, axes, divisor_override or 0, engine, scale)


def adaptive_avg_pool(
    q: IntArray,
    zero_point: int,
    output_size: Sequence[int],
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    """As :func:`pyqref.numerics.pooling.adaptive_avg_pool`.

    Equation ``eq-quantized-adaptive-avg-pool``.
    """
    twin = registry.twin("pooling")
    covered = twin is not None and _is_covered(q, q.shape[2:]) and 0 not in output_size
    if not covered or q.ndim != len(output_size) + 2:
        return reference.adaptive_avg_pool(q, zero_point, output_size, engine, scale)
    sizes = tuple(zip(q.shape[2:], output_size, strict=True))
    axes = [_adaptive_windows(*each) for each in sizes]
    engine = engine if all(size % outputs == 0 for size, outputs in sizes) else "fbgemm"
    return _mean(twin, q, zero_point, axes, 0, engine, scale)


def _mean(
    twin: Any,
    q: IntArray,
    zero_point: int,
    axes: Sequence[np.ndarray],
    divisor: int,
    engine: Engine,
    scale: float,
) -> IntArray:
    image, out, result = _arrays(q, [len(each) for each in axes])
    limits = np.iinfo(q.dtype)
    twin.mean_pool(
        image,
        q.dtype == np.int8,
        *_two(axes),
        zero_point,
        divisor,
        engine == "qnnpack",
        scale,
        int(limits.min),
        int(limits.max),
        out,
        threads.get_num_threads(),
    )
    return result


def _is_covered(q: IntArray, kernel: Sequence[int]) -> bool:
    return (
        q.ndim == len(kernel) + 2
        and len(kernel) <= 2
        and q.dtype.itemsize == 1
        and prod(kernel) <= _LARGEST_WINDOW
        and q.size > 0
    )


def _arrays(q: IntArray, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The input and the result as ``(outer, height, width, inner)``, and the result as asked.

    The channels are innermost if they are in memory, else outermost.
    """
    height, width = (1, *q.shape[2:])[-2:]
    out_height, out_width = (1, *sizes)[-2:]
    batch, channels = q.shape[:2]
    if q.flags.c_contiguous or channels == 1:
        out = np.empty((batch, channels, *sizes), q.dtype)
        flat = out.reshape(batch * channels, out_height, out_width, 1)
        return contiguous(q).reshape(batch * channels, height, width, 1), flat, out
    last, first = ((0, 2, 1), (0, 2, 1)) if q.ndim == 3 else ((0, 2, 3, 1), (0, 3, 1, 2))
    image = contiguous(q.transpose(last)).reshape(batch, height, width, channels)
    flat = np.empty((batch, out_height, out_width, channels), q.dtype)
    return image, flat, flat.reshape(batch, *sizes, channels).transpose(first)


def _two(axes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Windows along height and width."""
    return (axes[0], axes[1]) if len(axes) == 2 else (_ONE_WINDOW, axes[0])


@lru_cache(maxsize=64)
def _windows(
    size: int,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    ceil_mode: bool,
    count_include_pad: bool,
) -> np.ndarray:
    """First and last place (exclusive) of each window inside the axis, and its divisor."""
    count = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    start = np.arange(count, dtype=np.int64) * stride - padding
    # The first place under a tap that is not in the padding before the axis.
    first = np.where(start < 0, start + -(start // dilation) * dilation, start)
    stop = start + dilation * (kernel - 1) + 1
    last = np.minimum(stop, size)
    counted = np.minimum(stop, size + padding) - start if count_include_pad else last - first
    return _frozen(first, last, counted)


@lru_cache(maxsize=64)
def _adaptive_windows(size: int, outputs: int) -> np.ndarray:
    places = np.arange(outputs, dtype=np.int64)
    first, last = places * size // outputs, -(-(places + 1) * size // outputs)
    return _frozen(first, last, last - first)


def _frozen(*columns: np.ndarray) -> np.ndarray:
    table = np.stack(columns, axis=1)
    table.flags.writeable = False
    return table


_ONE_WINDOW = _frozen(*(np.array([each]) for each in (0, 1, 1)))
