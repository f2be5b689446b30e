"""One grid for a tensor, or for each channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ..._typing import Tensor
from ...dtypes import dtype as dtype_
from ...numerics.qparams import choose_qparams as qparams_of_range
from ...tensor.arguments import as_number
from ...tensor.base import wrap
from ...tensor.fake_quantize import fake_quantize_per_channel_affine
from .checks import (
    channels,
    integer_range,
    integers_of,
    number,
    operator,
    quantized,
    reals,
    reals_of,
)

__all__ = [
    "choose_qparams",
    "choose_qparams_symmetric",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "fake_quant_per_channel",
    "quantize_per_channel",
    "quantize_per_tensor",
]


@operator
def quantize_per_tensor(
    input: Tensor,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
    dtype: dtype_,
) -> Tensor:
    r"""Integers of one grid: :math:`\mathrm{clamp}(\mathrm{rne}(x \cdot (1 / s)) + z)`.

    Parameters
    ----------
    input
        float32, float16 or bfloat16's numbers in float32.
    scale, zero_point
        Numbers, or tensors of one element.
    quant_min, quant_max
        Range of the integers, within that of ``dtype``.
    dtype
        ``uint8``, ``int8``, ``int16`` or ``int32``.

    Returns
    -------
    Tensor
        Of ``dtype`` and the shape of ``input``.

    Raises
    ------
    ValueError
        The range is not one of ``dtype``.

    Examples
    --------
    >>> import pyqref
    >>> quantize = pyqref.ops.quantized_decomposed.quantize_per_tensor
    >>> quantize(pyqref.tensor([0.25, -2.0, 30.0]), 0.1, 3, -128, 127, pyqref.int8).tolist()
    [5, -17, 127]
    """
    name = "quantize_per_tensor"
    low, high = integer_range(name, quant_min, quant_max, dtype)
    scale, zero_point = number(name, "scale", scale), number(name, "zero_point", zero_point)
    return quantized(reals(name, input), scale, zero_point, low, high, dtype)


@operator
def dequantize_per_tensor(
    input: Tensor,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
    dtype: dtype_,
    *,
    out_dtype: dtype_ | None = None,
) -> Tensor:
    r"""The reals of integers of one grid: :math:`(q - z) \cdot s`, in float32.

    Parameters
    ----------
    input
        Of ``dtype``.
    scale, zero_point, quant_min, quant_max, dtype
        As of ``quantize_per_tensor``; the range is not looked at.
    out_dtype
        Of the result, float32 if None.

    Examples
    --------
    >>> import pyqref
    >>> q = pyqref.tensor([5, -17], dtype=pyqref.int8)
    >>> dequantize = pyqref.ops.quantized_decomposed.dequantize_per_tensor
    >>> dequantize(q, 0.5, 3, -128, 127, pyqref.int8).tolist()
    [1.0, -10.0]
    """
    name = "dequantize_per_tensor"
    scale, zero_point = number(name, "scale", scale), number(name, "zero_point", zero_point)
    return reals_of(integers_of(name, input, dtype), scale, zero_point, out_dtype)


@operator
def quantize_per_channel(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: dtype_,
) -> Tensor:
    """``quantize_per_tensor`` with a scale and a zero point for each index of ``axis``.

    Examples
    --------
    >>> import pyqref
    >>> scales, zero_points = pyqref.tensor([0.5, 0.25]), pyqref.tensor([0, 1])
    >>> quantize = pyqref.ops.quantized_decomposed.quantize_per_channel
    >>> quantize(pyqref.ones(2, 1), scales, zero_points, 0, -128, 127, pyqref.int8).tolist()
    [[2], [5]]
    """
    name = "quantize_per_channel"
    low, high = integer_range(name, quant_min, quant_max, dtype)
    array = reals(name, input)
    scale, zero_point = channels(name, array, scales, zero_points, axis)
    return quantized(array, scale, zero_point, low, high, dtype)


@operator
def dequantize_per_channel(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: dtype_,
    *,
    out_dtype: dtype_ | None = None,
) -> Tensor:
    """``dequantize_per_tensor`` with a scale and a zero point for each index of ``axis``.

    ``zero_points`` may be None: all zero.

    Examples
    --------
    >>> import pyqref
    >>> q, scales = pyqref.tensor([[2], [5]], dtype=pyqref.int8), pyqref.tensor([0.5, 0.25])
    >>> dequantize = pyqref.ops.quantized_decomposed.dequantize_per_channel
    >>> dequantize(q, scales, None, 0, -128, 127, pyqref.int8).tolist()
    [[1.0], [1.25]]
    """
    name = "dequantize_per_channel"
    array = integers_of(name, input, dtype)
    scale, zero_point = channels(name, array, scales, zero_points, axis)
    return reals_of(array, scale, zero_point, out_dtype)


@operator
def fake_quant_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """:func:`pyqref.fake_quantize_per_channel_affine`, with the arguments in another order.

    Examples
    --------
    >>> import pyqref
    >>> scales, zero_points = pyqref.tensor([0.5, 0.25]), pyqref.tensor([0, 1])
    >>> fake_quant = pyqref.ops.quantized_decomposed.fake_quant_per_channel
    >>> fake_quant(pyqref.full((2, 1), 0.7), scales, zero_points, 0, -128, 127).tolist()
    [[0.5], [0.75]]
    """
    return fake_quantize_per_channel_affine(input, scales, zero_points, axis, quant_min, quant_max)


@operator
def choose_qparams(
    input: Tensor, quant_min: int, quant_max: int, eps: float, dtype: dtype_
) -> tuple[Any, Any]:
    """Scale and zero point of the range of a tensor (equation ``eq-affine-qparams``).

    Parameters
    ----------
    input
        float32.
    quant_min, quant_max
        Range of the integers, within that of ``dtype``.
    eps
        The smallest scale.
    dtype
        As of ``quantize_per_tensor``.

    Returns
    -------
    tuple
        The scale, float64 with the numbers of float32, and the zero point, int64: one element each.

    Examples
    --------
    >>> import pyqref
    >>> choose = pyqref.ops.quantized_decomposed.choose_qparams
    >>> scale, zero_point = choose(pyqref.tensor([-1.0, 1.55]), 0, 255, 1e-4, pyqref.uint8)
    >>> round(scale.item(), 6), zero_point.item()
    (0.01, 100)
    """
    return _chosen("choose_qparams", input, quant_min, quant_max, eps, dtype, False)


@operator
def choose_qparams_symmetric(
    input: Tensor, quant_min: int, quant_max: int, eps: float, dtype: dtype_
) -> tuple[Any, Any]:
    """Scale of the largest magnitude (equation ``eq-symmetric-scale``), and the middle.

    Examples
    --------
    >>> import pyqref
    >>> choose = pyqref.ops.quantized_decomposed.choose_qparams_symmetric
    >>> scale, zero_point = choose(pyqref.tensor([-1.27, 1.0]), -127, 127, 1e-4, pyqref.int8)
    >>> round(scale.item(), 6), zero_point.item()
    (0.01, 0)
    """
    return _chosen("choose_qparams_symmetric", input, quant_min, quant_max, eps, dtype, True)


def _chosen(
    name: str, input: Any, low: Any, high: Any, eps: Any, dtype: dtype_, symmetric: bool
) -> tuple[Any, Any]:
    low, high = integer_range(name, low, high, dtype)
    array = reals(name, input)
    if not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name}: input must have elements, all finite")
    least = float(as_number(eps, f"{name}: eps"))
    scale, zero_point = qparams_of_range(
        array.min(),
        array.max(),
        low,
        high,
        symmetric=symmetric,
        midpoint=(low + high + 1) // 2 if dtype is dtypes.uint8 else 0,
        eps=least,
        convention="torch",
    )
    return wrap(np.float64(scale).reshape(1)), wrap(np.int64(zero_point).reshape(1))
