"""Quantized linear by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import linear as reference
from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import IntArray

from .finish import bias_terms, fits, zero_points_or_none
from .pack import PackedLinear

__all__ = ["linear", "linear_accumulator"]

_ONE = np.ones(1, np.float32)


def linear(
    x: IntArray,
    x_zero_point: int,
    packed: PackedLinear,
    weight_zero_points: Any,
    requant: Requantization,
) -> IntArray:
    """As :func:`pyqref.numerics.linear.quantized_linear`, on packed weights.

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
    if kernel is None or not fits(packed.depth, requant):
        return reference.quantized_linear(
            x, x_zero_point, packed.weight, weight_zero_points, requant
        )
    x = contiguous(x)
    out = np.empty((*x.shape[:-1], packed.columns), requant.storage)
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
        False,
        threads.get_num_threads(),
    )
    return out


def linear_accumulator(
    x: IntArray, x_zero_point: int, packed: PackedLinear, weight_zero_points: Any
) -> IntArray:
    """As :func:`pyqref.numerics.linear.linear_accumulator`, on packed weights, as int32.

    For layers that scale their sums in another way, such as the dynamic ones.
    """
    kernel = registry.twin("qgemm")
    if kernel is None or not fits(packed.depth, None):
        return reference.linear_accumulator(
            x, x_zero_point, packed.weight, weight_zero_points
        ).astype(np.int32)
    x = contiguous(x)
    out = np.empty((*x.shape[:-1], packed.columns), np.int32)
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
        True,
        threads.get_num_threads(),
    )
    return out
