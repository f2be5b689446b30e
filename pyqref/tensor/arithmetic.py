"""Arithmetic of tensors and numbers, with broadcasting and type promotion."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tape import elementwise, unary
from ..tape.shape import Cast
from .base import TensorBase, wrap
from .dispatch import apply, broadcast_error, refuse_quantized
from .inplace import in_place
from .promotion import cast, promote, promoted, to_floating

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "atan2",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "div",
    "divide",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "lerp",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "neg",
    "negative",
    "pow",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "true_divide",
    "where",
    "xlogy",
]


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input + alpha * other``."""
    if alpha != 1:
        other = mul(other, alpha)
    return apply(elementwise.Add, *promote(input, other))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``."""
    if alpha != 1:
        other = mul(other, alpha)
    for operand in (input, other):
        _refuse_bool(operand)
    input, other = promote(input, other)
    return apply(elementwise.Sub, input, other)


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``other - alpha * input``."""
    return sub(other, input, alpha=alpha)


def mul(input: Any, other: Any) -> Any:
    """``input * other``."""
    return apply(elementwise.Mul, *promote(input, other))


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """``input / other``: integers are divided as floats.

    Parameters
    ----------
    input, other
        Tensors or numbers.
    rounding_mode
        None for the true quotient, ``"trunc"`` to round it towards zero, ``"floor"``
        to round it down; the rounded quotient of integers is an integer.
    """
    if rounding_mode is None:
        return apply(elementwise.Div, *to_floating(input, other))
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found {rounding_mode!r}"
        )
    common = promoted(input, other)
    if common.kind == "f":
        function = np.trunc if rounding_mode == "trunc" else np.floor
        if rounding_mode == "floor":
            return _floor_quotient(input, other)
        return apply(unary.Stepwise, div(input, other), function)
    a, b = (getattr(each, "_array", each) for each in promote(input, other))
    if np.any(b == 0):
        raise RuntimeError("ZeroDivisionError")
    quotient = np.floor_divide(a, b)
    if rounding_mode == "trunc":
        quotient = quotient + ((quotient < 0) & (quotient * b != a)).astype(common)
    return wrap(np.asarray(quotient))


def _floor_quotient(input: Any, other: Any) -> Any:
    a, b = (getattr(each, "_array", each) for each in promote(input, other))
    with np.errstate(all="ignore"):
        quotient = np.where(b == 0, a / b, np.floor_divide(a, b))
    return wrap(np.asarray(quotient, dtype=promoted(input, other)))


def floor_divide(input: Any, other: Any) -> Any:
    """The quotient, rounded down."""
    return div(input, other, rounding_mode="floor")


def pow(input: Any, exponent: Any) -> Any:
    """``input ** exponent``."""
    a, b = promote(input, exponent)
    if isinstance(a, TensorBase) and a._array.dtype.kind in "iu" and not _non_negative(b):
        if not isinstance(exponent, TensorBase):
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        ones = np.abs(a._array) == 1
        safe = np.power(a._array, np.abs(b._array))
        return wrap(np.where(b._array < 0, np.where(ones, safe, 0), safe).astype(safe.dtype))
    return apply(elementwise.Pow, a, b)


def _non_negative(value: Any) -> bool:
    return bool(np.all(np.asarray(getattr(value, "_array", value)) >= 0))


def neg(input: Any) -> Any:
    """``-input``."""
    if input.dtype._name == "bool":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return apply(unary.Neg, input)


def remainder(input: Any, other: Any) -> Any:
    """Remainder of the floored quotient; its sign is that of ``other``."""
    return apply(elementwise.Remainder, *promote(input, other))


def fmod(input: Any, other: Any) -> Any:
    """Remainder of the truncated quotient; its sign is that of ``input``."""
    return apply(elementwise.Fmod, *promote(input, other))


def atan2(input: Any, other: Any) -> Any:
    """Angle of the points ``(other, input)``, in [-pi, pi]."""
    return apply(elementwise.Atan2, *to_floating(input, other))


def maximum(input: Any, other: Any) -> Any:
    """The larger of two, element by element; nan wins."""
    return apply(elementwise.Maximum, *promote(input, other))


def minimum(input: Any, other: Any) -> Any:
    """The smaller of two, element by element; nan wins."""
    return apply(elementwise.Minimum, *promote(input, other))


def fmax(input: Any, other: Any) -> Any:
    """The larger of two, element by element; a nan loses."""
    a, b = promote(input, other)
    return where(b.isnan(), a, where(a.isnan(), b, maximum(a, b)))


def fmin(input: Any, other: Any) -> Any:
    """The smaller of two, element by element; a nan loses."""
    a, b = promote(input, other)
    return where(b.isnan(), a, where(a.isnan(), b, minimum(a, b)))


def hypot(input: Any, other: Any) -> Any:
    """``sqrt(input**2 + other**2)``."""
    a, b = to_floating(input, other)
    return pow(add(mul(a, a), mul(b, b)), 0.5)


def logaddexp(input: Any, other: Any) -> Any:
    """``log(exp(input) + exp(other))``, without overflow."""
    a, b = to_floating(input, other)
    return add(maximum(a, b), apply(unary.Log1p, apply(unary.Exp, neg(apply(unary.Abs, sub(a, b))))))


def xlogy(input: Any, other: Any) -> Any:
    """``input * log(other)``, and 0 where ``input`` is 0."""
    a, b = to_floating(input, other)
    return where(eq_zero(a), mul(a, 0), mul(a, apply(unary.Log, b)))


def eq_zero(input: Any) -> Any:
    """Whether zero."""
    return wrap(np.asarray(input._array == 0))


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """``min(max(input, min), max)``; a bound may be None, a number or a tensor."""
    if min is None and max is None:
        raise RuntimeError("clamp: at least one of 'min' or 'max' must not be None")
    bounds = [each for each in (min, max) if each is not None]
    input, *bounds = promote(input, *bounds)
    low = bounds.pop(0) if min is not None else None
    high = bounds.pop(0) if max is not None else None
    return apply(elementwise.Clamp, input, low, high)


def clamp_min(input: Any, min: Any) -> Any:
    """``max(input, min)``."""
    return clamp(input, min)


def clamp_max(input: Any, max: Any) -> Any:
    """``min(input, max)``."""
    return clamp(input, None, max)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where ``condition`` holds, else ``other``.

    With ``condition`` alone: the indices at which it holds, one tensor an axis.
    """
    if input is None and other is None:
        return tuple(wrap(index) for index in np.nonzero(np.atleast_1d(condition._array)))
    if condition.dtype._name != "bool":
        raise RuntimeError(f"where expected condition to be a boolean tensor, got {condition.dtype}")
    return apply(elementwise.Where, condition, *promote(input, other))


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return apply(elementwise.Lerp, *promote(input, end, weight))


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return add(input, mul(mul(tensor1, value) if value != 1 else tensor1, tensor2))


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``."""
    return add(input, div(mul(tensor1, value) if value != 1 else tensor1, tensor2))


def _bitwise(function: Any, input: Any, other: Any) -> Any:
    refuse_quantized(function.__name__, input, other)
    arrays = [getattr(each, "_array", each) for each in promote(input, other)]
    if arrays[0].dtype.kind == "f":
        raise RuntimeError(f"{function.__name__} is not defined for floating point tensors")
    return _plain(function, *arrays)


def _plain(function: Any, *arrays: Any) -> Any:
    """A function without gradient."""
    try:
        return wrap(np.asarray(function(*arrays)))
    except ValueError as error:
        raise broadcast_error(error, arrays) from None


def _logical(function: Any, input: Any, other: Any) -> Any:
    for operand in (input, other):
        if not isinstance(operand, TensorBase) or operand.is_quantized:
            raise TypeError(
                f"{function.__name__}: two unquantized tensors are needed, got "
                f"{getattr(operand, 'dtype', type(operand).__name__)}"
            )
    return _plain(function, input._array, other._array)


def bitwise_and(input: Any, other: Any) -> Any:
    """``input & other``."""
    return _bitwise(np.bitwise_and, input, other)


def bitwise_or(input: Any, other: Any) -> Any:
    """``input | other``."""
    return _bitwise(np.bitwise_or, input, other)


def bitwise_xor(input: Any, other: Any) -> Any:
    """``input ^ other``."""
    return _bitwise(np.bitwise_xor, input, other)


def bitwise_not(input: Any) -> Any:
    """``~input``."""
    refuse_quantized("bitwise_not", input)
    if input.dtype.is_floating_point:
        raise RuntimeError("bitwise_not is not defined for floating point tensors")
    return wrap(np.invert(input._array))


def logical_and(input: Any, other: Any) -> Any:
    """Whether both are non-zero."""
    return _logical(np.logical_and, input, other)


def logical_or(input: Any, other: Any) -> Any:
    """Whether at least one is non-zero."""
    return _logical(np.logical_or, input, other)


def logical_xor(input: Any, other: Any) -> Any:
    """Whether exactly one is non-zero."""
    return _logical(np.logical_xor, input, other)


def logical_not(input: Any) -> Any:
    """Whether zero."""
    refuse_quantized("logical_not", input)
    return wrap(np.logical_not(input._array))


def _refuse_bool(operand: Any) -> None:
    array = getattr(operand, "_array", operand)
    if isinstance(array, bool) or getattr(array, "dtype", None) == np.bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def cast_like(input: Any, other: Any) -> Any:
    """``input`` in the type of ``other``."""
    if input._array.dtype == other._array.dtype:
        return input
    return apply(Cast, input, other._array.dtype)


def where_method(input: Any, condition: Any, other: Any) -> Any:
    """``input`` where ``condition`` holds, else ``other``."""
    return where(condition, input, other)


def operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a method of an operator: NotImplemented for what it cannot take."""

    @functools.wraps(function)
    def method(input: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = wrap(other)
        elif not isinstance(other, (TensorBase, int, float, np.number, np.bool_)):
            return NotImplemented
        return function(input, other)

    return method


def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    """The operator with its operands exchanged."""

    @functools.wraps(function)
    def method(input: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = wrap(other)
        elif not isinstance(other, (TensorBase, int, float, np.number, np.bool_)):
            return NotImplemented
        if not isinstance(other, TensorBase):
            (other,) = cast(promoted(other, input), wrap(np.asarray(other)))
        return function(other, input)

    return method


subtract = sub
multiply = mul
divide = true_divide = div
negative = neg
clip = clamp

add_ = in_place(add)
sub_ = subtract_ = in_place(sub)
mul_ = multiply_ = in_place(mul)
div_ = divide_ = true_divide_ = in_place(div)
floor_divide_ = in_place(floor_divide)
pow_ = in_place(pow)
neg_ = negative_ = in_place(neg)
remainder_ = in_place(remainder)
fmod_ = in_place(fmod)
clamp_ = clip_ = in_place(clamp)
clamp_min_ = in_place(clamp_min)
clamp_max_ = in_place(clamp_max)
lerp_ = in_place(lerp)
addcmul_ = in_place(addcmul)
addcdiv_ = in_place(addcdiv)
bitwise_and_ = in_place(bitwise_and)
bitwise_or_ = in_place(bitwise_or)
bitwise_xor_ = in_place(bitwise_xor)
bitwise_not_ = in_place(bitwise_not)
logical_and_ = in_place(logical_and)
logical_or_ = in_place(logical_or)
logical_xor_ = in_place(logical_xor)
atan2_ = in_place(atan2)
logical_not_ = in_place(logical_not)
