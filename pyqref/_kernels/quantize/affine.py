"""The affine map by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import lies_in_result_order
from pyqref._kernels.order import with_channels_last
from pyqref._kernels.parts import copied_by_parts
from pyqref.numerics import affine as reference
from pyqref.numerics.types import FloatArray, IntArray

from ..._typing import Array

__all__ = [
    "dequantize_into",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "quantize_per_channel",
    "quantize_per_tensor",
]

_FLOAT32 = np.dtype(np.float32)


def quantize_per_tensor(
    x: FloatArray, scale: float, zero_point: int, quant_min: int, quant_max: int, storage: DTypeLike
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.affine.quantize_per_tensor` (``eq-affine-quantize``).

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
        return _in_result_order(lambda part: quantize_per_tensor(part, *grid, storage), x, storage)
    return np.asarray(reference.quantize_per_tensor(x, *grid, storage))


def dequantize_per_tensor(q: IntArray, scale: float, zero_point: int) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.affine.dequantize_per_tensor` (``eq-affine-dequantize``).

    With the channels last in memory where ``q`` has them there.
    """
    kernel = registry.twin("quantize")
    if kernel is not None:
        x = kernel.dequantize_per_tensor(q, _FLOAT32, scale, zero_point, threads.limit)
        if x is not None:
            return x
    q = np.asarray(q)
    if not lies_in_result_order(q):
        return _in_result_order(
            lambda part: dequantize_per_tensor(part, scale, zero_point), q, _FLOAT32
        )
    return np.asarray(reference.dequantize_per_tensor(q, scale, zero_point))


def _in_result_order(
    function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, result: Any
) -> np.ndarray:
    """A function of elements, of parts of an array that lies otherwise than results do."""
    seen = with_channels_last(x)
    if seen is not None:
        last, back = seen
        return function(last).transpose(back)
    return copied_by_parts(lambda part, _: function(part), x, result, "C")


def dequantize_into(q: IntArray, x: FloatArray, scale: float, zero_point: int) -> None:
    """:func:`dequantize_per_tensor` of bytes, into ``x``; both contiguous."""
    kernel = registry.twin("quantize")
    if kernel is None:
        x[...] = reference.dequantize_per_tensor(q, scale, zero_point)
    else:
        kernel.dequantize_per_tensor(q, x, scale, zero_point, threads.limit)


def quantize_per_channel(
    x: FloatArray,
    scales: FloatArray,
    zero_points: Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    storage: Any,
) -> IntArray:
    """Fast :func:`pyqref.numerics.affine.quantize_per_channel` (``eq-affine-quantize-channel``)."""
    kernel = registry.twin("quantize")
    if kernel is not None:
        q = kernel.quantize_per_channel(
            x, storage, scales, zero_points, axis, quant_min, quant_max, threads.limit
        )
        if q is not None:
            return q
    x = np.asarray(x)
    grid = scales, zero_points, axis, quant_min, quant_max, storage
    if x.flags.c_contiguous and x.flags.aligned:
        return reference.quantize_per_channel(x, *grid)
    return _channels_by_parts(quantize_per_channel, x, storage, *grid)


def dequantize_per_channel(
    q: IntArray, scales: FloatArray, zero_points: Array, axis: int
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.affine.dequantize_per_channel`.

    Equation ``eq-affine-dequantize-channel``.
    """
    kernel = registry.twin("quantize")
    zero_points = np.asarray(zero_points)
    if kernel is not None and zero_points.dtype.kind != "f":
        x = kernel.dequantize_per_channel(q, _FLOAT32, scales, zero_points, axis, threads.limit)
        if x is not None:
            return x
    q = np.asarray(q)
    if q.flags.c_contiguous and q.flags.aligned:
        return reference.dequantize_per_channel(q, scales, zero_points, axis)
    return _channels_by_parts(dequantize_per_channel, q, _FLOAT32, scales, zero_points, axis)


def _channels_by_parts(
    function: Any,
    x: np.ndarray,
    result: Any,
    scales: Any,
    zero_points: Any,
    axis: int,
    *rest: Any,
) -> np.ndarray:
    """A function of channels, of copies of parts of an array that does not lie in C order."""

    def run(part: np.ndarray, at: tuple[slice, ...]) -> np.ndarray:
        grid = np.asarray(scales)[at[axis]], np.asarray(zero_points)[at[axis]]
        some: np.ndarray = function(part, *grid, axis, *rest)
        return some

    return copied_by_parts(run, x, result, "C")
