"""Checks of arguments, with errors that name the argument, what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index

from ... import _kernels
from ..._typing import Ints, Tensor
from ...tensor.arguments import described
from ...tensor.base import TensorBase
from ...tensor.foreign import no_tensor
from ...tensor.refusal import refuse_quantized

__all__ = [
    "require",
    "require_floating",
    "require_indices",
    "require_probability",
    "require_room",
    "require_same_dtype",
    "require_shape",
    "require_tensor",
    "shape_text",
    "tuple_of",
]

#: Of a result; more fit no memory.
MOST_ELEMENTS = 2**36
#: Strides, paddings and their like are smaller.
LARGEST = 2**31


def require(condition: bool, message: str, error: type[Exception] = RuntimeError) -> None:
    """Raise ``error(message)`` unless ``condition`` holds."""
    if not condition:
        raise error(message)


def shape_text(value: Tensor) -> str:
    """The shape of a tensor as a list."""
    return str(list(value.shape))


def require_tensor(function: str, name: str, value: object, *, optional: bool = False) -> None:
    """``value`` is a tensor, or None where that is allowed."""
    if isinstance(value, TensorBase) or (optional and value is None):
        return
    raise no_tensor(function, name, value)


def require_floating(function: str, name: str, value: Tensor) -> None:
    """``value`` is a tensor of floating point (or quantized) type."""
    if isinstance(value, TensorBase) and value._array.dtype.kind == "f":
        return
    require_tensor(function, name, value)
    if not value.is_quantized:
        raise RuntimeError(
            f"{function}(): {name} must be of floating point type, got {value.dtype}; "
            f"use {name}.float()"
        )


def require_same_dtype(function: str, name: str, value: Tensor, **others: Tensor | None) -> None:
    """Tensors that are multiplied have one dtype; quantized ones are left to their operation."""
    if value.is_quantized:
        return
    for other_name, other in others.items():
        if other is None or other._array.dtype is value._array.dtype or other.is_quantized:
            continue
        if other.dtype is not value.dtype:
            raise RuntimeError(
                f"{function}(): expected {name} and {other_name} to have the same dtype, "
                f"got {value.dtype} and {other.dtype}"
            )


def require_shape(function: str, name: str, value: Tensor | None, expected: Sequence[int]) -> None:
    """``value`` is None or has exactly this shape."""
    if value is not None and value._array.shape != tuple(expected):
        raise RuntimeError(
            f"{function}(): expected {name} of shape {list(expected)}, got {shape_text(value)}"
        )


def require_indices(function: str, name: str, value: Tensor, count: int) -> None:
    """``value`` is an integer tensor with entries in [0, count)."""
    require_tensor(function, name, value)
    refuse_quantized(value)
    if value._array.dtype.kind not in "iu":
        raise RuntimeError(
            f"{function}(): expected {name} of an integer dtype such as int64, got {value.dtype}"
        )
    if value._array.size:
        least, most = _kernels.extremes(value._array)
        if least < 0 or most >= count:
            wrong = least if least < 0 else most
            raise IndexError(f"{function}(): {name} must be in [0, {count}), got {wrong}")


def require_probability(name: str, value: float) -> None:
    """``value`` is in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} probability has to be between 0 and 1, but got {value}")


def tuple_of(
    function: str, name: str, value: Ints, count: int, minimum: int = 0
) -> tuple[int, ...]:
    """One int for each of ``count`` spatial axes, from one int or a sequence of them.

    Raises
    ------
    TypeError
        ``value`` is neither.
    RuntimeError
        The number of ints is wrong, or one is below ``minimum``.
    """
    if type(value) is int and minimum <= value < LARGEST:
        return (value,) * count
    if type(value) is tuple and len(value) == count:
        for each in value:
            if type(each) is not int or not minimum <= each < LARGEST:
                break
        else:
            return value
    values = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    try:
        values = tuple(each if isinstance(each, bool) else index(each) for each in values)
    except (TypeError, RuntimeError):
        values = (True,)
    if any(isinstance(each, bool) for each in values):
        raise TypeError(
            f"{function}(): argument '{name}' must be an int or a tuple of ints, "
            f"got {described(value)}"
        ) from None
    if len(values) == 1:
        values = values * count
    if len(values) != count:
        raise RuntimeError(
            f"{function}(): {name} must be one int or {count} ints, got {described(value)}"
        )
    if not all(each >= minimum for each in values):
        raise RuntimeError(
            f"{function}(): {name} must be at least {minimum}, got {described(value)}"
        )
    if not all(each < LARGEST for each in values):
        raise RuntimeError(f"{function}(): {name} must be below 2**31, got {described(value)}")
    return values


def require_room(
    function: str, name: str, shape: Sequence[int], value: float | Sequence[int]
) -> None:
    """A result of ``shape``, asked for by ``name``, could fit some memory."""
    if math.prod(shape) >= MOST_ELEMENTS:
        raise RuntimeError(
            f"{function}(): {name} makes a result of more than 2**36 elements, got "
            f"{described(value)}"
        )
