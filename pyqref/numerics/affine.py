"""The affine map between real numbers and the integers that stand for them.

A real number ``x`` is stored as an integer ``q`` with ``x ~ scale * (q - zero_point)``.
Per tensor and per channel quantization *round differently*: per tensor the scaled
number and the zero point are added in one fused operation, per channel the product
is rounded first. Both are measured on torch 2.13, and the two differ only next to ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._typing import Array, Number
from .rounding import clamp_to_int, fma32, round_half_even
from .types import FloatArray, IntArray

__all__ = [
    "along_axis",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "quantize_per_channel",
    "quantize_per_tensor",
    "reciprocal32",
]


def reciprocal32(scale: Any) -> Any:
    r"""``1 / scale`` in float32, the factor by which numbers are quantized.

    Equation ``eq-reciprocal``:

    .. math:: \iota(s) = \mathrm{fl}_{32}\left(1 / \mathrm{fl}_{32}(s)\right)

    Examples
    --------
    >>> reciprocal32(0.1)
    np.float32(10.0)
    """
    with np.errstate(divide="ignore", over="ignore"):
        return np.float32(1) / np.float32(scale)


def along_axis(values: object, ndim: int, axis: int) -> np.ndarray:
    """Shape per-channel ``values`` ``(C,)`` so that they broadcast along ``axis``.

    Examples
    --------
    >>> along_axis([0.1, 0.2, 0.3], 4, 1).shape
    (1, 3, 1, 1)
    """
    shape = [1] * ndim
    shape[axis] = -1
    return np.asarray(values).reshape(shape)


def quantize_per_tensor(
    x: Number | Array,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    storage: DTypeLike,
) -> IntArray:
    r"""Integers that stand for ``x`` under one scale and zero point.

    Equation ``eq-affine-quantize``:

    .. math:: q = \mathrm{sat}\big(\mathrm{rne}(\mathrm{fma}(x, \iota(s), z))\big)

    For 32-bit storage, whose zero points need more than float32's 24 bits, the
    product and the sum are rounded separately.

    Parameters
    ----------
    x
        Real numbers of any shape. float64 input is multiplied in double by the
        float32 reciprocal.
    scale
        Positive; rounded to float32.
    zero_point
        Integer in [quant_min, quant_max].
    quant_min, quant_max
        Range of the integers, ends included.
    storage
        NumPy integer type of the result.

    Returns
    -------
    Integers of ``storage`` type and of the shape of ``x``
        Infinities saturate; nan gives ``quant_max`` (8 bits) or ``quant_min`` (32 bits), as in
        torch.

    Examples
    --------
    >>> quantize_per_tensor(np.float32([-1, 0, 1, 2]), 0.1, 10, 0, 255, np.uint8)
    array([ 0, 10, 20, 30], dtype=uint8)
    """
    x = np.asarray(x)
    inverse = reciprocal32(scale)
    wide = np.dtype(storage).itemsize > 1
    with np.errstate(over="ignore", invalid="ignore"):
        if x.dtype == np.float64 or wide:
            shifted = x * inverse + np.float32(zero_point)
        else:
            shifted = fma32(x, inverse, np.float32(zero_point))
    nan = quant_min if wide else quant_max
    return clamp_to_int(round_half_even(shifted), quant_min, quant_max, storage, nan=nan)


def dequantize_per_tensor(q: Array, scale: float, zero_point: int) -> FloatArray:
    r"""The real numbers (float32) for which the integers ``q`` stand.

    Equation ``eq-affine-dequantize``:

    .. math:: \hat x = \mathrm{fl}_{32}\big((q - z) \cdot \mathrm{fl}_{32}(s)\big)

    Examples
    --------
    >>> dequantize_per_tensor(np.uint8([0, 10, 20]), 0.5, 10)
    array([-5.,  0.,  5.], dtype=float32)
    """
    difference = np.asarray(q).astype(np.int64) - np.int64(zero_point)
    with np.errstate(over="ignore"):
        return difference.astype(np.float32) * np.float32(scale)


def quantize_per_channel(
    x: Array,
    scales: Sequence[float] | Array,
    zero_points: Sequence[float] | Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    storage: type[Any],
) -> IntArray:
    r"""Integers that stand for ``x`` under a scale and zero point for each index of ``axis``.

    Equation ``eq-affine-quantize-channel``:

    .. math:: q_c = \mathrm{sat}\big(\mathrm{rne}(
              \mathrm{fl}_{32}(\mathrm{fl}_{32}(x_c\, \iota(s_c)) + z_c))\big)

    Parameters
    ----------
    x
        Real numbers, ``(..., C, ...)`` with C at ``axis``.
    scales, zero_points
        ``(C,)``; the scales positive and rounded to float32. Zero points are
        integers in [quant_min, quant_max], or floats under the scheme
        ``per_channel_affine_float_qparams``.
    axis
        The channel axis.
    quant_min, quant_max, storage
        As in :func:`quantize_per_tensor`.

    Returns
    -------
    Integers of the shape of ``x``
        Infinities saturate; nan gives the integer 0 (8 bits) or ``quant_min`` (32 bits), as in
        torch.

    Examples
    --------
    >>> x = np.float32([[-1, 1], [-1, 1]])
    >>> quantize_per_channel(x, [0.5, 0.25], [0, 1], 0, -128, 127, np.int8)
    array([[-2,  2],
           [-3,  5]], dtype=int8)
    """
    x = np.asarray(x)
    inverse = along_axis(reciprocal32(scales), x.ndim, axis)
    zero_point = along_axis(np.asarray(zero_points).astype(np.float32), x.ndim, axis)
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = x * inverse + zero_point
    nan = quant_min if np.dtype(storage).itemsize > 1 else 0
    return clamp_to_int(round_half_even(shifted), quant_min, quant_max, storage, nan=nan)


def dequantize_per_channel(
    q: Array, scales: Sequence[float] | Array, zero_points: Sequence[int] | Array, axis: int
) -> FloatArray:
    r"""The real numbers for which per-channel integers stand.

    Equation ``eq-affine-dequantize-channel``:

    .. math:: \hat x_c = \mathrm{fl}_{32}\big((q_c - z_c) \cdot s_c\big)

    in double precision, rounded once to float32. A float zero point is subtracted in
    float32, so that the difference is rounded, too.

    Notes
    -----
    Error bound ``eq-channel-error``: half a step of the channel, which is never larger than
    that of one scale for all.

    Examples
    --------
    >>> q = np.int8([[-2, 3], [-2, 3]])
    >>> dequantize_per_channel(q, [0.5, 0.25], [0, 1], 0).tolist()
    [[-1.0, 1.5], [-0.75, 0.5]]
    """
    q = np.asarray(q)
    scale = along_axis(np.asarray(scales, dtype=np.float64), q.ndim, axis)
    zero_points = np.asarray(zero_points)
    real = np.float32 if zero_points.dtype.kind == "f" else np.float64
    zero_point = along_axis(zero_points.astype(real), q.ndim, axis)
    with np.errstate(over="ignore", invalid="ignore"):
        return ((q.astype(real) - zero_point) * scale).astype(np.float32)
