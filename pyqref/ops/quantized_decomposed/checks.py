"""Checks of arguments for the operations of this package, and shared code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ..._typing import Array, Dtype, Tensor
from ...dtypes import dtype as dtype_
from ...library import Operator
from ...tensor.arguments import as_integer, as_number, described
from ...tensor.base import wrap
from ...tensor.dispatch import require_tensor

__all__ = [
    "channels",
    "integer_range",
    "integers_of",
    "number",
    "operator",
    "per_row",
    "quantized",
    "reals",
    "reals_of",
    "require_int8",
    "rows",
]

_INTEGERS = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32)


def operator(function: Callable[..., Any]) -> Operator:
    """The function as an operation with overloads, all of them itself."""
    made: Any = Operator(f"quantized_decomposed::{function.__name__}", function)
    made.tensor = made.tensor2 = made
    return made


def quantized(
    array: Array, scale: float | Array, zero_point: Any, low: int, high: int, dtype: dtype_
) -> Tensor:
    """The integers of an array of float32."""
    inverse = np.float32(1 / scale) if np.ndim(scale) == 0 else np.float32(1) / np.float32(scale)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.rint(array * inverse).astype(np.float64) + zero_point
        integers = np.clip(np.nan_to_num(whole, nan=zero_point), low, high)
    return wrap(integers.astype(dtype.numpy_dtype))


def reals_of(
    array: Array, scale: float | Array, zero_point: float | Array, out_dtype: dtype_ | None
) -> Tensor:
    """The reals of integers, rounded to float32 before they get another type."""
    with np.errstate(over="ignore"):
        difference = array.astype(np.float32) - np.float32(zero_point)
        values = difference * np.float32(scale)
    return wrap(values.astype((out_dtype or dtypes.float32).numpy_dtype, copy=False))


def integer_range(name: str, low: int, high: int, dtype: Dtype | None) -> tuple[int, int]:
    """The range, after checking that ``dtype`` holds it."""
    if dtype not in _INTEGERS:
        raise TypeError(
            f"{name}: dtype must be uint8, int8, int16 or int32, got {described(dtype)}"
        )
    limits = np.iinfo(dtype.numpy_dtype)
    low, high = as_integer(low, f"{name}: quant_min"), as_integer(high, f"{name}: quant_max")
    if not limits.min <= low < high <= limits.max:
        raise ValueError(
            f"{name}: quant_min and quant_max must be within [{limits.min}, {limits.max}] of "
            f"{dtype._name}, the first below the second, got {low} and {high}"
        )
    return low, high


def number(name: str, argument: str, value: float) -> float:
    """A scale or a zero point as a number."""
    number = as_number(value, f"{name}: {argument}")
    if argument == "scale" and not (number > 0 and np.isfinite(number)):
        raise ValueError(f"{name}: scale must be positive and finite, got {number}")
    return number


def reals(name: str, input: Tensor) -> Array:
    """The array of a tensor of reals, in float32."""
    require_tensor(name, "input", input)
    if input.is_quantized or input.dtype not in (dtypes.float32, dtypes.float16):
        raise TypeError(
            f"{name}: input must be float32, got {input.dtype}; use x.float(), or x.dequantize() "
            "of a quantized tensor"
        )
    return input._array.astype(np.float32, copy=False)


def integers_of(name: str, input: Tensor, dtype: Dtype | None) -> Array:
    """The array of a tensor of integers of ``dtype``."""
    require_tensor(name, "input", input)
    if input.dtype is not dtype or dtype not in _INTEGERS:
        raise TypeError(
            f"{name}: input and dtype must be one of uint8, int8, int16 and int32, got "
            f"{input.dtype} and {described(dtype)}"
        )
    return input._array


def rows(name: str, input: Tensor) -> Array:
    """The array of a tensor with a last axis."""
    array = reals(name, input)
    if not array.ndim or not array.size:
        raise ValueError(f"{name}: input must have shape (..., K), got {tuple(input.shape)}")
    return array


def channels(
    name: str, array: Array, scales: Tensor, zero_points: Tensor | None, axis: int
) -> tuple[Any, Any]:
    """Scales and zero points, of the rank of the array."""
    axis = as_integer(axis, f"{name}: axis")
    if not -array.ndim <= axis < array.ndim:
        raise IndexError(f"{name}: axis must be below {array.ndim}, got {axis}")
    shape = [1] * array.ndim
    shape[axis] = array.shape[axis]
    given = [scales] if zero_points is None else [scales, zero_points]
    for argument, each in zip(("scales", "zero_points"), given, strict=False):
        require_tensor(name, argument, each)
        if tuple(each.shape) != (array.shape[axis],):
            raise ValueError(
                f"{name}: {argument} must have shape ({array.shape[axis]},), one for each index of "
                f"axis {axis}, got {tuple(each.shape)}"
            )
    _require_positive(name, scales)
    zero = 0 if zero_points is None else zero_points._array.reshape(shape)
    return scales._array.reshape(shape), zero


def per_row(name: str, array: Array, scales: Tensor, zero_points: Tensor) -> tuple[Any, Any]:
    """Scales and zero points, one for each row of the array."""
    for argument, each in (("scales", scales), ("zero_points", zero_points)):
        require_tensor(name, argument, each)
        if tuple(each.shape) != (*array.shape[:-1], 1):
            raise ValueError(
                f"{name}: {argument} must have shape {(*array.shape[:-1], 1)}, one for each row, "
                f"got {tuple(each.shape)}"
            )
    _require_positive(name, scales)
    return scales._array, zero_points._array


def require_int8(name: str, dtype: Dtype | None) -> None:
    """Raise unless ``dtype`` is int8, the only one that has these grids."""
    if dtype is not dtypes.int8:
        raise TypeError(f"{name}: dtype must be int8, got {described(dtype)}")


def _require_positive(name: str, scales: Any) -> None:
    if not ((scales._array > 0) & np.isfinite(scales._array)).all():
        raise ValueError(f"{name}: scales must be positive and finite")
