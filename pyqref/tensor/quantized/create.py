"""From real numbers to quantized tensors, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from ... import _kernels
from ..._kernels.observe.one_range import choose_qparams_of_range
from ..._typing import QuantizedTensor, Shape, TensorOrNumber
from ...backends import quantized as settings
from ...dtypes import dtype as dtype_
from ...dtypes import (
    float16,
    qint8,
    qint32,
    quint8,
)
from ..arguments import as_flag, as_integer, as_number, described
from ..base import TensorBase
from ..tensor import Tensor
from .other_arithmetic import keeps_engine, replaced
from .quantizer import (
    per_channel_quantizer,
    per_tensor_quantizer,
    quant_range,
    scheme_for,
)
from .tensor import make_per_channel, make_per_tensor, make_quantized
from .validation import check_dtype, reals, vector

__all__ = [
    "dequantize",
    "int_repr",
    "make_per_channel_quantized_tensor",
    "make_per_tensor_quantized_tensor",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
]


@overload
def quantize_per_tensor(
    input: Tensor, scale: TensorOrNumber, zero_point: TensorOrNumber, dtype: dtype_
) -> QuantizedTensor: ...
@overload
def quantize_per_tensor(
    input: Sequence[Tensor], scale: Tensor, zero_point: Tensor, dtype: dtype_
) -> tuple[QuantizedTensor, ...]: ...
def quantize_per_tensor(
    input: Any,
    scale: TensorOrNumber,
    zero_point: TensorOrNumber,
    dtype: dtype_,
) -> QuantizedTensor | tuple[QuantizedTensor, ...]:
    """Quantize with one scale and one zero point (equation ``eq-affine-quantize``).

    Parameters
    ----------
    input
        float32 or float64 tensor, or a list of them.
    scale
        Positive float (kept as given), or a tensor (its float32 value is kept); with a
        list of tensors one for each.
    zero_point
        Int in [quant_min, quant_max] of the dtype, or a tensor.
    dtype
        ``quint8``, ``qint8`` or ``qint32``.

    Returns
    -------
    QuantizedTensor, or a tuple of them

    Raises
    ------
    ValueError
        Scale not positive, not finite or subnormal; zero point out of range.
    TypeError
        ``dtype`` is no quantized dtype, ``input`` is not of floats.

    Examples
    --------
    >>> import pyqref
    >>> q = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.0, 1.0, 2.0]), 0.1, 10, pyqref.quint8)
    >>> q.int_repr()
    tensor([ 0, 10, 20, 30], dtype=pyqref.uint8)
    """
    if type(input) is not Tensor and isinstance(input, (list, tuple)):
        return _quantize_each(input, scale, zero_point, dtype)
    if not (type(dtype) is dtype_ and type(scale) is float and type(zero_point) is int):
        check_dtype(dtype)
        scale, zero_point = _plain_parameters(scale, zero_point)
    quantizer = per_tensor_quantizer(dtype, scale, zero_point)
    array = reals("quantize_per_tensor", input)
    integers = replaced("quantize_per_tensor", "quantize", array, quantizer.grid)
    if integers is None:
        integers = quantizer.quantize(array)
    return make_quantized(integers, quantizer)


def _quantize_each(inputs: Any, scales: Any, zero_points: Any, dtype: dtype_) -> Any:
    """A tuple of the tensors of a list, each with its own parameters."""
    check_dtype(dtype)
    scales, zero_points = _each("scale", scales), _each("zero_point", zero_points)
    if not len(inputs) == len(scales) == len(zero_points):
        raise ValueError(
            f"quantize_per_tensor: got {len(inputs)} tensors, {len(scales)} scales and "
            f"{len(zero_points)} zero points"
        )
    parts = zip(inputs, scales, zero_points, strict=True)
    return tuple(quantize_per_tensor(x, s, z, dtype) for x, s, z in parts)


def _plain_parameters(scale: Any, zero_point: Any) -> tuple[float, int]:
    """Scale and zero point as a float and an int."""
    if isinstance(scale, TensorBase) and isinstance(zero_point, TensorBase):
        given, point = scale._array, zero_point._array
        are_plain = given.dtype == np.float32 and point.dtype.kind == "i"
        if are_plain and given.size == point.size == 1 and not zero_point.is_quantized:
            return given.item(), point.item()
    number = as_number(scale, "scale")
    if isinstance(scale, TensorBase):
        number = float(np.float32(number))
    if isinstance(zero_point, float):
        raise TypeError(f"zero_point must be an int, got {zero_point!r}")
    return number, as_integer(zero_point, "zero_point")


def _each(name: str, values: Any) -> list[Any]:
    """The values for the tensors of a list."""
    several: Any = values
    if isinstance(values, (list, tuple, TensorBase)) and not _is_number(values):
        return list(several)
    raise TypeError(
        f"{name} must be a list, or a 1-D tensor, with one value for each tensor of the input, "
        f"got {described(values)}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, TensorBase) and value._array.ndim == 0


def quantize_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: dtype_
) -> Tensor:
    """Quantize with a scale and a zero point for each index of ``axis``.

    Parameters
    ----------
    input
        float32 or float64 tensor.
    scales, zero_points
        Tensors of shape (C,), C the length of ``axis``. Zero points that are floats give
        the scheme ``per_channel_affine_float_qparams``.
    axis
        The channel axis, in [0, ndim - 1].
    dtype
        A quantized dtype.

    Raises
    ------
    ValueError
        Lengths, axis, a scale or a zero point are not as said.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[-1.0, 0.5], [10.0, 20.0]])
    >>> scales, zero_points = pyqref.tensor([0.1, 1.0]), pyqref.tensor([10, 0])
    >>> q = pyqref.quantize_per_channel(x, scales, zero_points, axis=0, dtype=pyqref.quint8)
    >>> q.int_repr()
    tensor([[ 0, 15],
            [10, 20]], dtype=pyqref.uint8)
    """
    check_dtype(dtype)
    array = reals("quantize_per_channel", input)
    axis = as_integer(axis, "axis")
    all_scales, all_zero_points = vector("scales", scales), vector("zero_points", zero_points)
    scheme = scheme_for(all_zero_points)
    quantizer = per_channel_quantizer(dtype, all_scales, all_zero_points, axis, scheme)
    return make_quantized(quantizer.quantize(array), quantizer)


def quantize_per_tensor_dynamic(input: Tensor, dtype: dtype_, reduce_range: bool) -> Tensor:
    """Quantize with the scale and zero point that fit the smallest and largest element.

    Parameters
    ----------
    input
        float32 tensor.
    dtype
        ``quint8`` or ``qint8``; or ``float16``, to which the input is rounded.
    reduce_range
        Use 7 bits; has no effect with engine ``qnnpack``, as in ``torch``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([-1.0, 0.0, 1.55])
    >>> q = pyqref.quantize_per_tensor_dynamic(x, pyqref.quint8, False)
    >>> q.q_zero_point(), q.int_repr().tolist()
    (100, [0, 100, 255])
    """
    if dtype is not quint8 and dtype is not qint8 and dtype is not float16:
        raise ValueError(f"dtype must be quint8, qint8 or float16, got {described(dtype)}")
    array = reals("quantize_per_tensor_dynamic", input)
    if dtype is float16:
        return input.to(float16)
    keeps_engine("quantize_per_tensor_dynamic")
    quant_min, quant_max = quant_range(dtype)
    if as_flag(reduce_range, "reduce_range") and settings.engine != "qnnpack":
        quant_min, quant_max = _halved(quant_min), quant_max // 2
    low, high = _kernels.min_max(array) if array.size else (0.0, 0.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            "quantize_per_tensor_dynamic: input holds nan or infinity, which no scale covers, got "
            f"the range {low} to {high}"
        )
    scale, zero_point = choose_qparams_of_range(low, high, quant_min, quant_max)
    return quantize_per_tensor(input, scale, zero_point, dtype)


def _halved(quant_min: int) -> int:
    return -(-quant_min // 2) if quant_min < 0 else quant_min


@overload
def dequantize(tensor: Tensor) -> Tensor: ...
@overload
def dequantize(tensor: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def dequantize(*, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def dequantize(tensor: Any = None, *, tensors: Any = None) -> Tensor | tuple[Tensor, ...]:
    """The real numbers of a quantized tensor (or of each of a list), in float32.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.6]), 0.5, 10, pyqref.quint8)
    >>> pyqref.dequantize(x)
    tensor([-1.0000,  0.5000])
    """
    tensor = tensors if tensor is None else tensor
    if isinstance(tensor, (list, tuple)):
        return tuple(dequantize(each) for each in tensor)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"dequantize: tensor must be a tensor, got {described(tensor)}")
    if not tensor.is_quantized:
        if tensor.dtype.is_floating_point:
            return tensor.float()
        raise RuntimeError(f"dequantize: the tensor is not quantized, it is {tensor.dtype}")
    return tensor.dequantize()


def int_repr(input: Tensor) -> Tensor:
    """The stored integers of a quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.6]), 0.5, 10, pyqref.quint8)
    >>> pyqref.int_repr(x)
    tensor([ 8, 11], dtype=pyqref.uint8)
    """
    return _quantized("int_repr", input).int_repr()


def q_scale(input: Tensor) -> float:
    """The scale of a per tensor quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.6]), 0.5, 10, pyqref.quint8)
    >>> pyqref.q_scale(x)
    0.5
    """
    return float(_quantized("q_scale", input).q_scale())


def q_zero_point(input: Tensor) -> int:
    """The zero point of a per tensor quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.6]), 0.5, 10, pyqref.quint8)
    >>> pyqref.q_zero_point(x)
    10
    """
    return int(_quantized("q_zero_point", input).q_zero_point())


def q_per_channel_scales(input: Tensor) -> Tensor:
    """The scales of a per channel quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[-1.0, 0.5], [10.0, 20.0]])
    >>> scales, zero_points = pyqref.tensor([0.1, 1.0]), pyqref.tensor([10, 0])
    >>> q = pyqref.quantize_per_channel(x, scales, zero_points, axis=0, dtype=pyqref.quint8)
    >>> pyqref.q_per_channel_scales(q)
    tensor([0.1000, 1.0000], dtype=pyqref.float64)
    """
    return _quantized("q_per_channel_scales", input).q_per_channel_scales()


def q_per_channel_zero_points(input: Tensor) -> Tensor:
    """The zero points of a per channel quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[-1.0, 0.5], [10.0, 20.0]])
    >>> scales, zero_points = pyqref.tensor([0.1, 1.0]), pyqref.tensor([10, 0])
    >>> q = pyqref.quantize_per_channel(x, scales, zero_points, axis=0, dtype=pyqref.quint8)
    >>> pyqref.q_per_channel_zero_points(q)
    tensor([10,  0])
    """
    return _quantized("q_per_channel_zero_points", input).q_per_channel_zero_points()


def q_per_channel_axis(input: Tensor) -> int:
    """The channel axis of a per channel quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[-1.0, 0.5], [10.0, 20.0]])
    >>> scales, zero_points = pyqref.tensor([0.1, 1.0]), pyqref.tensor([10, 0])
    >>> q = pyqref.quantize_per_channel(x, scales, zero_points, axis=0, dtype=pyqref.quint8)
    >>> pyqref.q_per_channel_axis(q)
    0
    """
    return int(_quantized("q_per_channel_axis", input).q_per_channel_axis())


def _quantized(name: str, input: Any) -> Any:
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}: input must be a tensor, got {described(input)}")
    if not input.is_quantized:
        raise RuntimeError(
            f"{name}: the tensor is not quantized, it is {input.dtype}; "
            "use quantize_per_tensor first"
        )
    return input


_QUANTIZED_OF: dict[str, dtype_] = {"uint8": quint8, "int8": qint8, "int32": qint32}


def make_per_tensor_quantized_tensor(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """Integers (uint8, int8 or int32) as a quantized tensor of the dtype that stores them."""
    return make_per_tensor(input._array.copy(), scale, zero_point, _dtype_of(input))


def make_per_channel_quantized_tensor(
    input: Tensor, scale: float, zero_point: int, axis: int
) -> QuantizedTensor:
    """Integers as a per channel quantized tensor of the dtype that stores them."""
    return make_per_channel(
        input._array.copy(),
        vector("scale", scale),
        vector("zero_point", zero_point),
        axis,
        _dtype_of(input),
    )


def _dtype_of(input: Any) -> dtype_:
    found = _QUANTIZED_OF.get(input._array.dtype.name)
    if found is None:
        raise TypeError(f"integers must be uint8, int8 or int32, got {input.dtype}")
    return found


def empty_affine_quantized(
    size: Shape,
    *,
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: dtype_ = quint8,
    **options: object,
) -> QuantizedTensor:
    """A per tensor quantized tensor whose integers are zero."""
    check_dtype(dtype)
    return make_per_tensor(np.zeros(tuple(size), dtype.numpy_dtype), scale, zero_point, dtype)
