"""Operators on integers, as functions on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import QuantizedTensor, Tensor
from ...arithmetic import get
from ...dtypes import qint8, quint8
from ...numerics.convolution import conv_accumulator
from ...tensor.base import wrap
from ...tensor.dispatch import require_tensor
from ...tensor.quantized import make_per_tensor

__all__ = [
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "matmul_integer",
    "on_grid",
    "qlinear_matmul",
    "quantize_linear",
    "quantize_linear_to",
    "stored",
]

_KINDS = {"uint8": quint8, "int8": qint8}


def _rounded(x: Any, scale: Any, zero_point: Any) -> np.ndarray:
    """``sat(rne(fl32(x / s)) + z)``, as integers of the type of the zero point."""
    ends = np.iinfo(zero_point.dtype)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        integers = np.rint(np.asarray(x / scale, np.float32).astype(np.float64)) + zero_point
        return np.clip(integers, ends.min, ends.max).astype(zero_point.dtype)


def _along(parameter: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """One parameter, or one for each place of an axis."""
    if parameter.ndim == 0 or parameter.size == 1:
        return parameter.reshape(())
    shape = [1] * rank
    shape[axis] = -1
    return parameter.reshape(shape)


def quantize_linear(x: Tensor, scale: float, zero_point: int, kind: str) -> QuantizedTensor:
    r"""QuantizeLinear with one known grid.

    .. math:: q = \mathrm{sat}(\mathrm{rne}(\mathrm{fl}_{32}(x / s)) + z)

    Parameters
    ----------
    x
        float32.
    scale, zero_point
        The grid.
    kind
        ``"uint8"`` or ``"int8"``.

    Returns
    -------
    A quantized tensor.
    """
    parameters = np.float32(scale), np.asarray(zero_point, kind)
    integers = _rounded(_elements(x), *parameters)
    return make_per_tensor(integers, scale, zero_point, _KINDS[kind])


def quantize_linear_to(x: Tensor, scale: Any, zero_point: Any, axis: int = 1) -> Tensor:
    """QuantizeLinear with a grid that is computed, or one for each channel: plain integers."""
    array = _elements(x)
    scale, zero_point = _elements(scale), _elements(zero_point)
    parameters = (_along(each, array.ndim, axis) for each in (scale, zero_point))
    return wrap(_rounded(array, *parameters))


def on_grid(x: Tensor, scale: float, zero_point: int, kind: str) -> QuantizedTensor:
    """Integers read on a grid: a quantized tensor."""
    return make_per_tensor(_elements(x), scale, zero_point, _KINDS[kind])


def _elements(x: Any) -> np.ndarray:
    """The integers of a quantized tensor, else what it holds; also where gradients are recorded."""
    require_tensor("a model of from_onnx", "input", x)
    return np.asarray(x._array)


def stored(x: QuantizedTensor) -> Tensor:
    """The integers of a quantized tensor, without its grid."""
    return wrap(_elements(x))


def dequantize_linear(
    x: Tensor, scale: Tensor, zero_point: Tensor | None = None, axis: int = 1
) -> Tensor:
    """DequantizeLinear with any grid: ``fl32((q - z) s)``."""
    integers = _elements(x)
    reals = integers.astype(np.float32)
    if zero_point is not None:
        reals = reals - _along(_elements(zero_point).astype(np.float32), integers.ndim, axis)
    return wrap(np.asarray(reals * _along(_elements(scale), integers.ndim, axis), np.float32))


def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """DynamicQuantizeLinear: integers of 8 bits, their scale and their zero point."""
    array = _elements(x)
    low = np.float32(min(0, array.min(initial=0)))
    high = np.float32(max(0, array.max(initial=0)))
    scale = np.float32(1 if low == high else high - low) / np.float32(255)
    zero_point = np.asarray(np.rint(np.clip(-low / scale, 0, 255)), np.uint8)
    return wrap(_rounded(array, scale, zero_point)), wrap(np.asarray(scale)), wrap(zero_point)


def _centred(x: Any, zero_point: Any, axis: int) -> np.ndarray:
    integers = _elements(x).astype(np.int64)
    if zero_point is None:
        return integers
    return integers - _along(_elements(zero_point).astype(np.int64), integers.ndim, axis)


def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """MatMulInteger: exact sums of products, int32."""
    left, right = _centred(a, a_zero_point, -2), _centred(b, b_zero_point, -1)
    exact = np.matmul(left.astype(np.float64), right.astype(np.float64))  # below 2**53
    return wrap(exact.astype(np.int64).astype(np.int32))


def qlinear_matmul(
    a: Tensor, b: Tensor, scale: float, zero_point: int, kind: str
) -> QuantizedTensor:
    """QLinearMatMul of two quantized tensors (``eq-requantize-onnx``)."""
    grids = a.q_scale(), b.q_scale(), scale
    sums = np.matmul(*(_elements(each).astype(np.float64) - each.q_zero_point() for each in (a, b)))
    ends = np.iinfo(kind)
    exact = sums.astype(np.int64)
    integers = get("onnx").requantize(exact, None, *grids, zero_point, ends.min, ends.max)
    return make_per_tensor(integers.astype(kind), scale, zero_point, _KINDS[kind])


def conv_integer(
    x: Tensor,
    weight: Tensor,
    x_zero_point: Tensor | None = None,
    weight_zero_point: Tensor | None = None,
    stride: tuple[int, ...] = (),
    padding: tuple[int, ...] = (),
    dilation: tuple[int, ...] = (),
    groups: int = 1,
) -> Tensor:
    """ConvInteger: exact sums of products, int32."""
    left, right = _centred(x, x_zero_point, 1), _centred(weight, weight_zero_point, 0)
    sums = conv_accumulator(left, right, stride, padding, dilation, groups)
    return wrap(np.ascontiguousarray(np.moveaxis(sums, -1, 1), np.int32))
