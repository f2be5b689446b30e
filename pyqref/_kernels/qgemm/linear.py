"""Quantized linear by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import PART, contiguous, empty
from pyqref._kernels.parts import MOST, by_rows
from pyqref.numerics import linear as reference
from pyqref.numerics.dynamic import dequantize_accumulator
from pyqref.numerics.requantize import Requantization, accumulator_scale, requantize
from pyqref.numerics.types import Engine, FloatArray, IntArray

from ..._typing import Array, NumberOrArray
from .deep import deep_sums
from .finish import finish_of, finish_of_reals, finish_of_sums, fits, zero_points_or_none
from .pack import PackedLinear, Weight

__all__ = ["linear", "linear_accumulator", "linear_float"]

_INT32, _FLOAT32 = np.dtype(np.int32), np.dtype(np.float32)


def as_rows(x: np.ndarray) -> np.ndarray:
    """``x (..., K)`` as a matrix in C order: kernels know fewer axes than NumPy."""
    return contiguous(x).reshape(math.prod(x.shape[:-1]), x.shape[-1])


def linear(
    x: IntArray,
    x_zero_point: int,
    packed: PackedLinear,
    weight_zero_points: int | Array,
    requant: Requantization,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.linear.quantized_linear`, on packed weights.

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
    weight = _requantized(packed, weight_zero_points, requant)
    if weight is None:
        own = x_zero_point, packed, weight_zero_points
        return by_rows(
            lambda some: requantize(linear_accumulator(some, *own), requant),
            x,
            packed.columns,
            requant.storage,
            MOST,
        )
    out = kernel.linear(x, x_zero_point, requant.storage, weight, threads.limit)
    if out is not None:
        return out
    if x.size > PART and not x.flags.c_contiguous:
        own = x_zero_point, packed, weight_zero_points
        return by_rows(lambda some: linear(some, *own, requant), x, packed.columns, requant.storage)
    out = empty((*x.shape[:-1], packed.columns), requant.storage)
    kernel.linear(as_rows(x), x_zero_point, out, weight, threads.limit)
    return out


def _requantized(
    packed: PackedLinear, weight_zero_points: Any, requant: Requantization
) -> Weight | None:
    """Return the weight for a kernel, or None where 32 bits do not hold all sums.

    That of the last call is kept: between two calls of a layer only the input's integers change,
    and what is written to its bias, which kernels see where they take the array itself.
    """
    for last, zero_point, weight in packed.kept:
        if last is requant and zero_point is weight_zero_points:
            return weight
    weight = None
    if fits(packed.depth, requant, weight_zero_points):
        zero_points = zero_points_or_none(weight_zero_points)
        weight = packed.finished(finish_of(requant, zero_points))
    lies_as_taken = requant.bias is None or requant.bias.flags.c_contiguous
    if isinstance(weight_zero_points, int) and lies_as_taken:  # an array may be written to
        packed.kept[:] = [(requant, weight_zero_points, weight)]
    return weight


def linear_accumulator(
    x: IntArray, x_zero_point: int, packed: PackedLinear, weight_zero_points: int | Array
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.linear.linear_accumulator`, on packed weights.

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
    out = empty((*x.shape[:-1], packed.columns), _INT32)
    weight = packed.finished(finish_of_sums(zero_points_or_none(weight_zero_points)))
    kernel.linear(as_rows(x), x_zero_point, out, weight, threads.limit)
    return out


def linear_float(
    x: IntArray,
    x_zero_point: int,
    packed: PackedLinear,
    weight_zero_points: int | Array,
    input_scale: float,
    weight_scales: NumberOrArray,
    bias: Array | None = None,
    engine: Engine = "fbgemm",
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.dynamic.dequantize_accumulator` of the accumulators.

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
    out = empty((*x.shape[:-1], packed.columns), _FLOAT32)
    scale = np.atleast_1d(accumulator_scale(input_scale, weight_scales))
    bias = None if bias is None else np.ascontiguousarray(bias, np.float32)
    finish = finish_of_reals(zero_points_or_none(weight_zero_points), scale, bias, engine)
    weight = packed.finished(finish)
    kernel.linear(as_rows(x), x_zero_point, out, weight, threads.limit)
    return out
