"""The affine map by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.arrays import contiguous, elements_per_channel, room_like
from pyqref._kernels.layout import PART, lies_in_result_order
from pyqref._kernels.parts import copied_by_parts
from pyqref.numerics import affine as reference
from pyqref.numerics.types import FloatArray, IntArray

__all__ = [
    "dequantize_into",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "quantize_per_channel",
    "quantize_per_tensor",
]

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_REAL = (_FLOAT32,)
_STORED = (np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.int32))


def quantize_per_tensor(
    x: Any, scale: float, zero_point: int, quant_min: int, quant_max: int, storage: Any
) -> IntArray:
    """As :func:`pyqref.numerics.affine.quantize_per_tensor` (``eq-affine-quantize``).

    With the channels last in memory where ``x`` has them there.
    """
    kernel = registry.twin("quantize")
    if kernel is not None:
        q = kernel.quantize_per_tensor(
            x, storage, scale, zero_point, quant_min, quant_max, threads.limit
        )
        if q is not None:
            return q
    grid = scale, zero_point, quant_min, quant_max
    x = np.asarray(x)
    if not lies_in_result_order(x):
        return copied_by_parts(
            lambda part, _: quantize_per_tensor(part, *grid, storage), x, storage, "C"
        )
    return np.asarray(reference.quantize_per_tensor(x, *grid, storage))


def dequantize_per_tensor(q: Any, scale: float, zero_point: int) -> FloatArray:
    """As :func:`pyqref.numerics.affine.dequantize_per_tensor` (``eq-affine-dequantize``).

    With the channels last in memory where ``q`` has them there.
    """
    kernel = registry.twin("quantize")
    if kernel is not None:
        x = kernel.dequantize_per_tensor(q, _FLOAT32, scale, zero_point, threads.limit)
        if x is not None:
            return x
    q = np.asarray(q)
    if not lies_in_result_order(q):
        return copied_by_parts(
            lambda part, _: dequantize_per_tensor(part, scale, zero_point), q, _FLOAT32, "C"
        )
    return np.asarray(reference.dequantize_per_tensor(q, scale, zero_point))


def dequantize_into(q: IntArray, x: FloatArray, scale: float, zero_point: int) -> None:
    """:func:`dequantize_per_tensor` of bytes, into ``x``; both contiguous."""
    kernel = registry.twin("quantize")
    if kernel is None:
        x[...] = reference.dequantize_per_tensor(q, scale, zero_point)
    else:
        kernel.dequantize_per_tensor(q, x, scale, zero_point, threads.limit)


def quantize_per_channel(
    x: Any,
    scales: Any,
    zero_points: Any,
    axis: int,
    quant_min: int,
    quant_max: int,
    storage: Any,
) -> IntArray:
    """As :func:`pyqref.numerics.affine.quantize_per_channel` (``eq-affine-quantize-channel``)."""
    kernel = registry.twin("quantize")
    x = np.asarray(x)
    if x.size > PART and not x.flags.c_contiguous:

        def run(part: np.ndarray, at: tuple[slice, ...]) -> IntArray:
            grid = np.asarray(scales)[at[axis]], np.asarray(zero_points)[at[axis]]
            return quantize_per_channel(part, *grid, axis, quant_min, quant_max, storage)

        return copied_by_parts(run, x, storage, "C")
    x = contiguous(x)
    if kernel is None or x.dtype not in _REAL or storage not in _STORED:
        return reference.quantize_per_channel(
            x, scales, zero_points, axis, quant_min, quant_max, storage
        )
    q = room_like(x, storage)
    kernel.quantize_per_channel(
        x,
        q,
        _doubles(scales),
        _doubles(zero_points),
        elements_per_channel(x, axis),
        quant_min,
        quant_max,
        threads.limit,
    )
    return q


def dequantize_per_channel(q: Any, scales: Any, zero_points: Any, axis: int) -> FloatArray:
    """As :func:`pyqref.numerics.affine.dequantize_per_channel`.

    Equation ``eq-affine-dequantize-channel``.
    """
    kernel = registry.twin("quantize")
    q, zero_points = np.asarray(q), np.asarray(zero_points)
    if q.size > PART and not q.flags.c_contiguous:
        return copied_by_parts(
            lambda part, at: dequantize_per_channel(
                part, np.asarray(scales)[at[axis]], zero_points[at[axis]], axis
            ),
            q,
            _FLOAT32,
            "C",
        )
    q = contiguous(q)
    if kernel is None or q.dtype not in _STORED or zero_points.dtype.kind == "f":
        return reference.dequantize_per_channel(q, scales, zero_points, axis)
    x = room_like(q, _FLOAT32)
    kernel.dequantize_per_channel(
        q,
        x,
        _doubles(scales),
        _doubles(zero_points),
        elements_per_channel(q, axis),
        threads.limit,
    )
    return x


def _doubles(values: Any) -> np.ndarray:
    """Parameters of channels as contiguous float64, which holds what they come as."""
    if type(values) is np.ndarray and values.dtype == _FLOAT64 and values.flags.carray:
        return values
    return np.array(values, np.float64)
