"""A grid for each row of the last axis: one token of a language model."""

from __future__ import annotations

import numpy as np

from ... import dtypes
from ..._typing import Tensor
from ...dtypes import dtype as dtype_
from ...tensor.base import wrap
from .checks import integer_range, integers_of, operator, per_row, reals_of, require_int8, rows

__all__ = [
    "choose_qparams_per_token",
    "choose_qparams_per_token_asymmetric",
    "dequantize_per_token",
    "quantize_per_token",
]


@operator
def choose_qparams_per_token(input: Tensor, dtype: dtype_) -> tuple[Tensor, Tensor]:
    """A scale for each row of the last axis: its largest magnitude over 127, at least 1e-5 of it.

    Parameters
    ----------
    input
        float32 ``(..., K)``.
    dtype
        ``int8``.

    Returns
    -------
    tuple
        Scales ``(..., 1)`` and zeros of that shape, float32.

    Examples
    --------
    >>> import pyqref
    >>> choose = pyqref.ops.quantized_decomposed.choose_qparams_per_token
    >>> scales, zero_points = choose(pyqref.tensor([[-2.54, 1.0]]), pyqref.int8)
    >>> round(scales.item(), 6), zero_points.item()
    (0.02, 0.0)
    """
    name = "choose_qparams_per_token"
    require_int8(name, dtype)
    array = rows(name, input)
    largest = np.maximum(np.abs(array).max(-1, keepdims=True), np.float32(1e-5))
    scales = largest / np.float32(127)
    return wrap(scales), wrap(np.zeros_like(scales))


@operator
def choose_qparams_per_token_asymmetric(input: Tensor, dtype: dtype_) -> tuple[Tensor, Tensor]:
    """Scale and zero point for each row of the last axis, over its range and zero.

    Returns
    -------
    tuple
        Scales, float64 with the numbers of float32, and zero points, int64; ``(..., 1)`` each.

    Examples
    --------
    >>> import pyqref
    >>> choose = pyqref.ops.quantized_decomposed.choose_qparams_per_token_asymmetric
    >>> scales, zero_points = choose(pyqref.tensor([[-1.28, 1.27]]), pyqref.int8)
    >>> round(scales.item(), 6), zero_points.item()
    (0.01, 0)
    """
    name = "choose_qparams_per_token_asymmetric"
    require_int8(name, dtype)
    array, zero = rows(name, input), np.float32(0)
    low = np.minimum(array.min(-1, keepdims=True), zero)
    high = np.maximum(array.max(-1, keepdims=True), zero)
    scales = np.maximum((high - low) / np.float32(255), np.finfo(np.float32).eps)
    from_low = np.float32(-128) - low / scales
    from_high = np.float32(127) - high / scales
    lower_error = np.float32(-128) + low / scales
    upper_error = np.float32(127) + high / scales
    zero_points = np.where(lower_error + upper_error > 0, from_low, from_high)
    zero_points = np.rint(np.clip(zero_points, -128, 127))
    return wrap(scales.astype(np.float64)), wrap(zero_points.astype(np.int64))


@operator
def quantize_per_token(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: dtype_,
) -> Tensor:
    r"""Integers with a grid for each row: :math:`\mathrm{rne}(\mathrm{clamp}(x \cdot (1/s) + z))`.

    Examples
    --------
    >>> import pyqref
    >>> ops, x = pyqref.ops.quantized_decomposed, pyqref.tensor([[-2.54, 1.0]])
    >>> grid = ops.choose_qparams_per_token(x, pyqref.int8)
    >>> ops.quantize_per_token(x, *grid, -128, 127, pyqref.int8).tolist()
    [[-127, 50]]
    """
    name = "quantize_per_token"
    low, high = integer_range(name, quant_min, quant_max, dtype)
    array = rows(name, input)
    scale, zero_point = per_row(name, array, scales, zero_points)
    # Scales of float64 make it a computation in double.
    integers = np.rint(np.clip(array * (1 / scale) + zero_point.astype(scale.dtype), low, high))
    return wrap(integers.astype(dtype.numpy_dtype))


@operator
def dequantize_per_token(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: dtype_,
    output_dtype: dtype_ = dtypes.float32,
) -> Tensor:
    """The reals of integers with a grid for each row.

    Examples
    --------
    >>> import pyqref
    >>> q, scales = pyqref.tensor([[4, -2]], dtype=pyqref.int8), pyqref.tensor([[0.5]])
    >>> dequantize = pyqref.ops.quantized_decomposed.dequantize_per_token
    >>> dequantize(q, scales, pyqref.tensor([[0]]), -128, 127, pyqref.int8).tolist()
    [[2.0, -1.0]]
    """
    name = "dequantize_per_token"
    array = integers_of(name, input, dtype)
    scale, zero_point = per_row(name, array, scales, zero_points)
    return reals_of(array, scale, zero_point, output_dtype)
