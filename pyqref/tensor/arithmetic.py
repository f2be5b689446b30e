"""Arithmetic of tensors and numbers, with broadcasting and type promotion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tape import elementwise, unary
from .base import TensorBase, wrap
from .dispatch import apply
from .inplace import in_place
from .promotion import promote, promoted, to_floating

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "atan2",
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
        if rounding_mode == "floor":
            return apply(elementwise.FloorDiv, *promote(input, other))
        return apply(unary.Stepwise, div(input, other), np.trunc)
    a, b = (getattr(each, "_array", each) for each in promote(input, other))
    if np.any(b == 0):
        raise RuntimeError("ZeroDivisionError")
    quotient = np.floor_divide(a, b)
    if rounding_mode == "trunc":
        quotient = quotient + ((quotient < 0) & (quotient * b != a)).astype(common)
    return wrap(np.asarray(quotient))


def rdiv(input: Any, other: Any) -> Any:
    """A number over a tensor, as torch computes it: ``(1 / input) * other``, rounded twice."""
    return mul(apply(unary.Reciprocal, *to_floating(input)), other)


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
    return add(
        maximum(a, b), apply(unary.Log1p, apply(unary.Exp, neg(apply(unary.Abs, sub(a, b)))))
    )


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
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, got {condition.dtype}"
        )
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


def _refuse_bool(operand: Any) -> None:
    array = getattr(operand, "_array", operand)
    if isinstance(array, bool) or getattr(array, "dtype", None) == np.bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def where_method(input: Any, condition: Any, other: Any) -> Any:
    """``input`` where ``condition`` holds, else ``other``."""
    return where(condition, input, other)


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
atan2_ = in_place(atan2)
