"""Checks of arguments for all quantized operations, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from pyqref._typing import Ints
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import float32, qint8, quint8
from pyqref.tensor.arguments import as_flag, as_integer, as_number, described
from pyqref.tensor.base import TensorBase
from pyqref.tensor.foreign import kind_of
from pyqref.tensor.quantized import (
    PerTensorQuantizer,
    QuantizedTensor,
    per_tensor_quantizer,
)
from pyqref.tensor.quantized.validation import parameters_of
from pyqref.tensor.tensor import Tensor

__all__ = [
    "LARGEST",
    "output_quantizer",
    "require_axis",
    "require_bias",
    "require_flag",
    "require_flags",
    "require_float",
    "require_integer",
    "require_number",
    "require_output_parameters",
    "require_packed",
    "require_per_tensor",
    "require_quantized",
    "require_weight",
    "tuple_of",
    "unpacked",
]

#: Strides, paddings and their like are smaller.
LARGEST = 2**31
_FLOAT32 = np.dtype(np.float32)
_LARGEST_FLOAT = float(np.finfo(np.float32).max)


def require_quantized(
    operation: str, tensor: Tensor, dtypes: Sequence[Dtype] | None = None, name: str = "input"
) -> None:
    """Raise unless ``tensor`` is a quantized tensor of one of ``dtypes`` (None: of any)."""
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"{operation}: {name} must be a quantized tensor, got a {kind_of(tensor)}")
    if not tensor.is_quantized:
        raise RuntimeError(
            f"{operation}: {name} must be a quantized tensor, got one of {tensor.dtype}; "
            "quantize it with quantize_per_tensor, or put a QuantStub before the layer"
        )
    if dtypes is not None and tensor.dtype not in dtypes:
        wanted = " or ".join(str(each) for each in dtypes)
        raise RuntimeError(f"{operation}: {name} must have dtype {wanted}, got {tensor.dtype}")


def require_per_tensor(
    operation: str,
    tensor: Tensor,
    dtypes: Sequence[Dtype] | None = None,
    name: str = "input",
    index: int | None = None,
) -> PerTensorQuantizer:
    """Require a quantized tensor with one scale and zero point for the whole tensor.

    It is ``name``, or where an index is given, that one of a list ``name``.
    """
    if type(tensor) is QuantizedTensor:
        quantizer = tensor._quantizer
        if type(quantizer) is PerTensorQuantizer and (dtypes is None or quantizer.dtype in dtypes):
            return quantizer
    if index is not None:
        name = f"{name}[{index}]"
    require_quantized(operation, tensor, dtypes, name)
    if tensor.qscheme().is_per_channel:
        raise RuntimeError(
            f"{operation}: {name} must be quantized per tensor, got {tensor.qscheme()}; "
            "only weights may be quantized per channel; call dequantize() first"
        )
    only: PerTensorQuantizer = tensor._quantizer
    return only


def require_float(operation: str, tensor: Tensor, name: str = "input") -> None:
    """Raise unless ``tensor`` is a float32 tensor."""
    if type(tensor) is Tensor and tensor._array.dtype is _FLOAT32:
        return
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"{operation}: {name} must be a tensor, got a {kind_of(tensor)}")
    if tensor.is_quantized:
        raise RuntimeError(
            f"{operation}: {name} must be a float32 tensor, got a quantized one of "
            f"{tensor.dtype}; call dequantize() on it first"
        )
    if tensor.dtype is not float32:
        raise RuntimeError(f"{operation}: {name} must have dtype float32, got {tensor.dtype}")


def require_output_parameters(
    operation: str, scale: float, zero_point: int, dtype: Dtype = quint8
) -> tuple[float, int]:
    """The output's scale and zero point as numbers.

    Raises
    ------
    ValueError
        The scale is not positive, finite and normal, or the zero point is out of range.
    """
    names = f"{operation}: scale", f"{operation}: zero_point"
    return parameters_of(scale, zero_point, dtype, names)


def output_quantizer(
    operation: str, scale: float, zero_point: int, dtype: Dtype = quint8
) -> PerTensorQuantizer:
    """Return the result of :func:`require_output_parameters` as a quantizer of ``dtype``."""
    if type(scale) is float and type(zero_point) is int:
        try:
            return per_tensor_quantizer(dtype, scale, zero_point)
        except ValueError:
            pass  # said below, with the name of the operation
    return per_tensor_quantizer(
        dtype, *require_output_parameters(operation, scale, zero_point, dtype)
    )


def require_number(operation: str, name: str, value: float) -> float:
    """``value`` as a float finite in float32; TypeError or ValueError if it is none."""
    number = as_number(value, f"{operation}: {name}", finite=True)
    if abs(number) > _LARGEST_FLOAT:
        raise ValueError(f"{operation}: {name} must be finite in float32, got {number}")
    return number


def require_flag(operation: str, name: str, value: bool) -> bool:
    """``value`` as True or False; TypeError with the name if it is something else."""
    return as_flag(value, f"{operation}: {name}")


def require_flags(operation: str, **flags: bool) -> None:
    """Raise unless each of ``flags`` is True or False."""
    for name, value in flags.items():
        as_flag(value, f"{operation}: {name}")


def require_integer(operation: str, name: str, value: object, least: int | None = None) -> int:
    """``value`` as an int of at least ``least``; TypeError or ValueError if it is none."""
    return as_integer(value, f"{operation}: {name}", least)


def require_axis(operation: str, name: str, value: int, ndim: int) -> int:
    """``value`` as one of ``ndim`` axes, counted from the front."""
    if type(value) is int and 0 <= value < ndim:
        return value
    axis = as_integer(value, f"{operation}: {name}")
    if not -ndim <= axis < max(ndim, 1):
        raise IndexError(f"{operation}: {name} must be in [{-ndim}, {ndim - 1}], got {axis}")
    return axis % max(ndim, 1)


def require_packed(operation: str, name: str, packed: object, kind: type, prepack: str) -> None:
    """Raise unless ``packed`` came from the function ``quantized.<prepack>``."""
    if not isinstance(packed, kind):
        raise TypeError(
            f"{operation}: {name} must come from quantized.{prepack}, got {described(packed)}"
        )


def unpacked(operation: str, name: str, packed: Any, kind: type) -> Any:
    """Return the arguments from which the matching prepack function made ``packed``."""
    prepack = operation.removeprefix("quantized.").replace("unpack", "prepack")
    require_packed(operation, name, packed, kind, prepack)
    return packed.unpack()


def require_weight(operation: str, weight: Tensor, ndim: int, axis: int = 0) -> None:
    """Raise unless ``weight`` is a qint8 tensor, per tensor or per channel along ``axis``."""
    require_quantized(operation, weight, (qint8,), "weight")
    if weight.dim() != ndim:
        raise RuntimeError(
            f"{operation}: weight must have {ndim} dimensions, got shape {tuple(weight.shape)}"
        )
    if 0 in weight.shape:
        raise RuntimeError(
            f"{operation}: weight must not be empty, got shape {tuple(weight.shape)}"
        )
    if weight.qscheme().is_per_channel and weight.q_per_channel_axis() != axis:
        raise RuntimeError(
            f"{operation}: weight must be quantized along axis {axis}, its output channels, "
            f"got axis {weight.q_per_channel_axis()}"
        )


def require_bias(operation: str, bias: Tensor | None, length: int) -> None:
    """Raise unless ``bias`` is None or a float32 tensor of ``length`` elements."""
    if bias is None:
        return
    require_float(operation, bias, "bias")
    if tuple(bias.shape) != (length,):
        raise RuntimeError(
            f"{operation}: bias must have one element for each of the {length} outputs, "
            f"got shape {tuple(bias.shape)}"
        )


def padding_pairs(
    operation: str,
    padding: Ints | str,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, int], ...]:
    """Elements to add before and after each dimension: of numbers, ``"valid"`` or ``"same"``.

    ``"same"`` keeps the size, and puts the odd element of an even kernel behind.
    """
    if not isinstance(padding, str):
        numbers = tuple_of(operation, "padding", padding, len(kernel), 0)
    elif padding == "valid":
        numbers = (0,) * len(kernel)
    elif padding != "same":
        raise ValueError(
            f"{operation}: padding must be 'valid', 'same', one integer or {len(kernel)} integers "
            f">= 0, got {padding!r}"
        )
    elif max(stride) > 1:
        raise ValueError(f"{operation}: padding='same' needs stride 1, got stride {stride}")
    else:
        totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    return tuple((each, each) for each in numbers)


def tuple_of(operation: str, name: str, value: Any, length: int, least: int) -> tuple[int, ...]:
    """``length`` integers of at least ``least``, from one or as many of them."""
    several = isinstance(value, tuple | list)
    try:
        numbers = tuple(index(each) for each in (value if several else (value,)))
    except (TypeError, ValueError, RuntimeError):
        numbers = ()
    if len(numbers) == 1:
        numbers *= length
    if len(numbers) != length or not least <= min(numbers) <= max(numbers) < LARGEST:
        below = "" if not numbers or max(numbers) < LARGEST else " and below 2**31"
        raise ValueError(
            f"{operation}: {name} must be one integer or {length} integers >= {least}{below}, "
            f"got {described(value)}"
        )
    return numbers
