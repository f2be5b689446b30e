"""Quantized linear by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.arrays import contiguous, empty
from pyqref._kernels.layout import PART, in_groups
from pyqref._kernels.observe import min_max
from pyqref._kernels.parts import MOST, by_rows
from pyqref._kernels.quantize import quantize_per_tensor
from pyqref.numerics import linear as reference
from pyqref.numerics.dynamic import dequantize_accumulator
from pyqref.numerics.dynamic_qparams import choose_qparams_of_range
from pyqref.numerics.requantize import Requantization, accumulator_scale, requantize
from pyqref.numerics.types import Engine, FloatArray, IntArray

from .deep import deep_sums
from .finish import (
    BYTES,
    FUSED,
    SEPARATE,
    SUMS,
    bias_terms,
    dynamic_arguments,
    fits,
    zero_points_or_none,
)
from .pack import PackedLinear

__all__ = ["linear", "linear_accumulator", "linear_dynamic", "linear_float"]

_INT32, _FLOAT32 = np.dtype(np.int32), np.dtype(np.float32)
_ONE = np.ones(1, np.float32)


def linear(
    x: IntArray,
    x_zero_point: int,
    packed: PackedLinear,
    weight_zero_points: Any,
    requant: Requantization,
) -> IntArray:
    """As :func:`pyqref.numerics.linear.quantized_linear`, on packed weights.

    Equations ``eq-linear-accumulator``, ``eq-requantize-bias`` and ``eq-requantize``.

    Parameters
    ----------
    x
        uint8 or int8 ``(..., K)``.
    x_zero_point
        Its zero point.
    packed
        From :func:`pyqref._kernels.pack_linear`.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``.
    requant
        From :func:`pyqref.numerics.requantize.requantization`.

    Returns
    -------
    ``(..., N)`` of the type ``requant.storage``.
    """
    kernel = registry.twin("qgemm")
    if kernel is None:
        return reference.quantized_linear(
            x, x_zero_point, packed.weight, weight_zero_points, requant
        )
    if not fits(packed.depth, requant, weight_zero_points):
        own = x_zero_point, packed, weight_zero_points
        return by_rows(
            lambda some: requantize(linear_accumulator(some, *own), requant),
            x,
            packed.columns,
            requant.storage,
            MOST,
        )
    if x.size > PART and not x.flags.c_contiguous:
        own = x_zero_point, packed, weight_zero_points
        return by_rows(lambda some: linear(some, *own, requant), x, packed.columns, requant.storage)
    x = contiguous(x)
    out = empty((*x.shape[:-1], packed.columns), requant.storage)
    bias, integer_bias = bias_terms(requant)
    kernel.linear(
        x,
        x.dtype == np.int8,
        x_zero_point,
        packed.depth,
        packed.panels,
        packed.sums,
        zero_points_or_none(weight_zero_points),
        requant.multiplier,
        bias,
        integer_bias,
        requant.bias_multiplier,
        requant.output_zero_point,
        requant.lower,
        requant.upper,
        out,
        BYTES,
        threads.limit,
    )
    return out


def linear_accumulator(
    x: IntArray, x_zero_point: int, packed: PackedLinear, weight_zero_points: Any
) -> IntArray:
    """As :func:`pyqref.numerics.linear.linear_accumulator`, on packed weights.

    For layers that scale their sums in another way. The sums are int32, or int64 where
    they are so many that 32 bits might not hold them: more than 65,793 products, or 33,025 where
    the weight has zero points.
    """
    kernel = registry.twin("qgemm")
    own = x_zero_point, packed, weight_zero_points
    narrow = fits(packed.depth, None, weight_zero_points)
    if kernel is None:
        sums = reference.linear_accumulator(x, x_zero_point, packed.weight, weight_zero_points)
        return sums.astype(np.int32) if narrow else sums
    if not narrow:
        return by_rows(lambda some: deep_sums(kernel, some, *own), x, packed.columns, np.int64)
    if x.size > PART and not x.flags.c_contiguous:
        return by_rows(lambda some: linear_accumulator(some, *own), x, packed.columns, np.int32)
    x = contiguous(x)
    out = empty((*x.shape[:-1], packed.columns), _INT32)
    kernel.linear(
        x,
        x.dtype == np.int8,
        x_zero_point,
        packed.depth,
        packed.panels,
        packed.sums,
        zero_points_or_none(weight_zero_points),
        _ONE,
        None,
        None,
        1.0,
        0,
        0,
        0,
        out,
        SUMS,
        threads.limit,
    )
    return out


def linear_float(
    x: IntArray,
    x_zero_point: int,
    packed: PackedLinear,
    weight_zero_points: Any,
    input_scale: float,
    weight_scales: Any,
    bias: Any = None,
    engine: Engine = "fbgemm",
) -> FloatArray:
    """As :func:`pyqref.numerics.dynamic.dequantize_accumulator` of the accumulators.

    For the dynamic layers: integers in, real numbers out (``eq-dynamic-output``).

    Parameters
    ----------
    x, x_zero_point, packed, weight_zero_points
        As in :func:`linear`.
    input_scale
        Positive.
    weight_scales
        A scalar, ``(1,)`` or ``(N,)``.
    bias
        None or ``(N,)`` float32.
    engine
        All but qnnpack add the bias in a fused multiply-add.

    Returns
    -------
    float32 ``(..., N)``.
    """
    kernel = registry.twin("qgemm")
    if kernel is None or not fits(packed.depth, None, weight_zero_points):
        own = x_zero_point, packed, weight_zero_points
        scales: Any = (input_scale, weight_scales, bias, engine)
        return by_rows(
            lambda some: dequantize_accumulator(linear_accumulator(some, *own), *scales),
            x,
            packed.columns,
            np.float32,
            MOST,
        )
    if x.size > PART and not x.flags.c_contiguous:
        own = x_zero_point, packed, weight_zero_points
        scales = (input_scale, weight_scales, bias, engine)
        return by_rows(
            lambda some: linear_float(some, *own, *scales), x, packed.columns, np.float32
        )
    x = contiguous(x)
    out = empty((*x.shape[:-1], packed.columns), _FLOAT32)
    kernel.linear(
        x,
        x.dtype == np.int8,
        x_zero_point,
        packed.depth,
        packed.panels,
        packed.sums,
        zero_points_or_none(weight_zero_points),
        np.atleast_1d(accumulator_scale(input_scale, weight_scales)),
        None if bias is None else np.ascontiguousarray(bias, np.float32),
        None,
        1.0,
        0,
        0,
        0,
        out,
        # Without a bias the fused form adds -0.0 and so changes nothing, not even a sign.
        SEPARATE if engine == "qnnpack" and bias is not None else FUSED,
        threads.limit,
    )
    return out


def linear_dynamic(
    x: FloatArray,
    packed: PackedLinear,
    weight_zero_points: Any,
    weight_scales: Any,
    bias: Any = None,
    engine: Engine = "fbgemm",
    reduce_range: bool = True,
) -> tuple[FloatArray, float, float]:
    """As :func:`pyqref.numerics.dynamic.linear_dynamic`, on packed weights, in one call.

    Parameters
    ----------
    x
        float32 ``(..., K)``.
    packed, weight_zero_points
        As in :func:`linear`.
    weight_scales
        A float64 scalar, ``(1,)`` or ``(N,)``.
    bias
        None or ``(N,)`` float32.
    engine
        qnnpack ignores ``reduce_range`` and adds the bias after rounding.
    reduce_range
        Quantize the input to 7 bits.

    Returns
    -------
    y
        float32 ``(..., N)``; of no meaning where the range of ``x`` is not finite.
    low, high
        The smallest and the largest number of ``x``: 0 and 0 where it is empty, not finite where
        nan or infinity is among them.
    """
    kernel = registry.twin("qgemm")
    own = packed, weight_zero_points, weight_scales, bias, engine, reduce_range
    if kernel is None or not fits(packed.depth, None, weight_zero_points):
        return _linear_dynamic(x, *own)
    rows = in_groups(x)
    if rows is None:
        return _linear_dynamic(x, *own)
    out = empty((*x.shape[:-1], packed.columns), _FLOAT32)
    low, high = kernel.linear_dynamic(
        rows,
        out,
        *dynamic_arguments(*own),
        threads.limit,
    )
    return out, low, high


def _linear_dynamic(
    x: FloatArray,
    packed: PackedLinear,
    weight_zero_points: Any,
    weight_scales: Any,
    bias: Any,
    engine: Engine,
    reduce_range: bool,
) -> tuple[FloatArray, float, float]:
    """As :func:`linear_dynamic`, its integers made in Python: of some rows at a time."""
    low, high = map(float, min_max(x)) if x.size else (0.0, 0.0)
    if not np.isfinite([low, high]).all():
        return np.empty((*x.shape[:-1], packed.columns), np.float32), low, high
    bits = 127 if reduce_range and engine != "qnnpack" else 255
    scale, zero_point = choose_qparams_of_range(low, high, 0, bits)

    def run(some: FloatArray) -> FloatArray:
        q = quantize_per_tensor(some, scale, zero_point, 0, 255, np.uint8)
        own = q, zero_point, packed, weight_zero_points
        return linear_float(*own, scale, weight_scales, bias, engine)

    return by_rows(run, x, packed.columns, np.float32), low, high
