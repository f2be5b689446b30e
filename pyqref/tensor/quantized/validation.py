"""Checks of scales, zero points, dtypes and axes; an error names the value that was given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._typing import Array, Dtype
from ...dtypes import dtype
from ..arguments import as_integer, as_number, described, refused_number
from ..base import TensorBase
from ..tensor import Tensor

__all__ = [
    "check_axis",
    "check_dtype",
    "check_scale",
    "check_zero_point",
    "parameters_of",
    "reals",
    "vector",
]

_FLOAT32 = np.dtype(np.float32)
_SMALLEST = float(np.finfo(np.float32).tiny)
_LARGEST = float(np.finfo(np.float32).max)


def check_dtype(given: Dtype) -> None:
    """Raise unless ``given`` is a quantized dtype."""
    if not isinstance(given, dtype) or not given.is_quantized:
        raise TypeError(
            "dtype must be a quantized dtype (quint8, qint8, qint32, quint4x2 or quint2x4), got "
            f"{given if isinstance(given, dtype) else described(given)}"
        )


def check_scale(scale: float, name: str = "scale") -> None:
    """Raise unless ``scale`` is positive, finite and a normal number in float32."""
    scale = as_number(scale, name)
    if math.isnan(scale):
        raise ValueError(f"{name} must be a positive number, got nan")
    if scale <= 0:
        raise ValueError(f"{name} must be positive, got {scale}")
    if scale > _LARGEST:
        raise ValueError(f"{name} must be finite in float32 (at most {_LARGEST:.6g}), got {scale}")
    if scale < _SMALLEST:
        raise ValueError(
            f"{name} must not be subnormal in float32 (at least {_SMALLEST:.6g}, so that "
            f"1 / scale is finite), got {scale}"
        )


def check_zero_point(zero_point: int, of: dtype, name: str = "zero_point") -> None:
    """Raise unless ``zero_point`` is an int in the range of the dtype."""
    zero_point = as_integer(zero_point, name)
    low, high = of.quant_min, of.quant_max
    assert low is not None
    assert high is not None
    if not low <= zero_point <= high:
        raise ValueError(f"{name} must be in [{low}, {high}] for {of._name}, got {zero_point}")


def parameters_of(
    scale: float, zero_point: int, of: dtype, names: tuple[str, str] = ("scale", "zero_point")
) -> tuple[float, int]:
    """Scale and zero point of a dtype as plain numbers, checked.

    Raises
    ------
    TypeError
        They are no numbers.
    ValueError
        They are out of range.
    """
    scale = as_number(scale, names[0])
    check_scale(scale, names[0])
    check_zero_point(zero_point, of, names[1])
    return scale, as_integer(zero_point, names[1])


def no_such_axis(name: str, axis: int, ndim: int) -> IndexError:
    """Return the error where ``axis`` is none of the ``ndim`` axes of the input."""
    if ndim == 0:
        return IndexError(f"{name} {axis} is none of the input, which has no dimensions")
    return IndexError(f"{name} must be in [{-ndim}, {ndim - 1}], got {axis}")


def check_axis(axis: int, ndim: int) -> None:
    """Raise unless ``axis`` is one of ``ndim`` axes, counted from the front."""
    if ndim == 0:
        raise ValueError(f"axis {axis} is none of the tensor, which has no dimensions")
    if not 0 <= axis < ndim:
        raise ValueError(f"axis must be in [0, {ndim - 1}] for a {ndim}-D tensor, got {axis}")


def reals(name: str, input: Tensor) -> Array:
    """The array of a float32 or float64 tensor."""
    if type(input) is Tensor and input._array.dtype is _FLOAT32:
        return input._array
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}: input must be a tensor, got {described(input)}")
    if input.is_quantized:
        raise TypeError(
            f"{name}: input is quantized already, got {input.dtype}; call dequantize() first"
        )
    if input._array.dtype.kind != "f" or input._array.dtype.itemsize < 4:
        raise TypeError(
            f"{name}: input must be a float32 or float64 tensor, got {input.dtype}; use .float()"
        )
    return input._array


def vector(name: str, values: Any) -> Array:
    """The numbers of a tensor of one axis, or of a list."""
    if type(values) is Tensor and values._array.ndim == 1 and values._array.dtype.kind in "iuf":
        return values._array
    array = values._array if isinstance(values, TensorBase) else _numbers(name, values)
    if array.dtype.kind not in "iuf" or getattr(values, "is_quantized", False):
        raise TypeError(f"{name} must hold numbers, got {refused_number(values)}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    return array


def _numbers(name: str, values: Any) -> Any:
    """An array of a list of numbers."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must hold numbers, got {refused_number(values)}") from None
