"""Arithmetic of tensors and numbers, with broadcasting and type promotion."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import Tensor, TensorOrNumber
from ..tape import bounds, elementwise, unary
from .aliases import alias
from .arguments import described
from .base import ANY_TENSOR, TensorBase, wrap
from .dispatch import apply
from .failures import broadcast_error
from .foreign import no_tensor
from .inplace import in_place
from .promotion import fitting, promote, promoted, to_floating
from .refusal import refuse_quantized
from .usual import combine, own_numbers

__all__ = [
    "add",
    "div",
    "divide",
    "floor_divide",
    "fmod",
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
]


def add(input: Tensor, other: TensorOrNumber, *, alpha: float = 1) -> Tensor:
    """``input + alpha * other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.add(pyqref.tensor([1.0, 2.0]), 3.0, alpha=10).tolist()
    [31.0, 32.0]
    """
    if type(alpha) is not int or alpha != 1:
        other = _scaled(other, alpha)
    return combine(elementwise.Add, input, other)


def _scaled(other: Any, alpha: Any) -> Any:
    if isinstance(alpha, np.ndarray):
        raise TypeError(f"argument 'alpha' must be a number, got {described(alpha)}")
    return mul(other, alpha) if alpha != 1 else other


def sub(input: Tensor, other: TensorOrNumber, *, alpha: float = 1) -> Tensor:
    """``input - alpha * other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sub(pyqref.tensor([5.0]), pyqref.tensor([1.0]), alpha=3).tolist()
    [2.0]
    """
    if type(alpha) is not int or alpha != 1:
        other = _scaled(other, alpha)
    for operand in (input,) if type(other) is float else (input, other):
        _refuse_bool(operand)
    return combine(elementwise.Sub, input, other)


def rsub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """``other - alpha * input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.rsub(pyqref.tensor([1.0, 2.0]), 10.0).tolist()
    [9.0, 8.0]
    """
    return sub(other, input, alpha=alpha)


def mul(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input * other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.mul(pyqref.tensor([[1.0], [2.0]]), pyqref.tensor([3.0, 4.0])).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    return combine(elementwise.Mul, input, other)


def div(input: Tensor, other: TensorOrNumber, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``: integers are divided as floats.

    Parameters
    ----------
    input, other
        Tensors or numbers.
    rounding_mode
        None for the true quotient, ``"trunc"`` to round it towards zero, ``"floor"``
        to round it down; the rounded quotient of integers is an integer.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([-7.0])
    >>> pyqref.div(x, 2.0).item(), pyqref.div(x, 2.0, rounding_mode="floor").item()
    (-3.5, -4.0)
    """
    if rounding_mode is None:
        if isinstance(input, TensorBase) and input._array.dtype.kind == "f":
            return combine(elementwise.Div, input, other)
        return apply(elementwise.Div, *to_floating(input, other))
    if not isinstance(rounding_mode, str) or rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found {rounding_mode!r}"
        )
    common = promoted(input, other)
    if common.kind == "f":
        if rounding_mode == "floor":
            return apply(elementwise.FloorDiv, *promote(input, other))
        return apply(unary.Stepwise, div(input, other), np.trunc)
    a, b = (getattr(each, "_array", each) for each in _numbers("div", input, other))
    if np.any(b == 0):
        raise RuntimeError("ZeroDivisionError")
    try:
        with quiet():  # the least integer over -1 is itself
            quotient = np.floor_divide(a, b)
    except ValueError as error:
        raise broadcast_error(error, (a, b)) from None
    if rounding_mode == "trunc":
        quotient = quotient + ((quotient < 0) & (quotient * b != a)).astype(common)
    return wrap(np.asarray(quotient))


def rdiv(input: Tensor, other: TensorOrNumber) -> Tensor:
    """A number over a tensor, as torch computes it: ``(1 / input) * other``, rounded twice."""
    return mul(apply(unary.Reciprocal, *to_floating(input)), other)


def floor_divide(input: Tensor, other: TensorOrNumber) -> Tensor:
    """The quotient, rounded down.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.floor_divide(pyqref.tensor([-7, 7]), 2).tolist()
    [-4, 3]
    """
    return div(input, other, rounding_mode="floor")


def pow(input: Tensor, exponent: TensorOrNumber) -> Tensor:
    """``input ** exponent``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.pow(pyqref.tensor([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    >>> pyqref.pow(2.0, pyqref.tensor([3.0])).tolist()
    [8.0]
    """
    own = own_numbers(input, (exponent,))
    if own is not None and own[0] is not None:
        return apply(elementwise.Pow, input, own[0])
    a, b = _numbers("pow", input, exponent)
    if isinstance(exponent, int) and b.dtype.kind in "iu" and exponent >= 0:
        fitting(exponent, b.dtype)
    kinds = {getattr(each, "_array", each).dtype.kind for each in (a, b)}
    if kinds <= {"i", "u"} and not _non_negative(exponent):
        if not isinstance(exponent, TensorBase):
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        return wrap(_integer_powers(getattr(a, "_array", a), b._array))
    return apply(elementwise.Pow, a, b)


def _integer_powers(base: Any, exponent: Any) -> Any:
    """Return powers of integers; negative powers are 0, except for those of 1 and -1."""
    is_fraction = exponent < 0
    try:
        powers = np.power(base, np.where(is_fraction, exponent & 1, exponent))
        powers = np.where(is_fraction & (base != 1) & (base != -1), 0, powers)
    except ValueError as error:
        raise broadcast_error(error, (base, exponent)) from None
    return powers.astype(exponent.dtype)


def _numbers(name: str, *operands: Any) -> list[Any]:
    """The operands in their common type, which may not be bool: NumPy makes int8 of that."""
    refuse_quantized(*operands)
    found = promote(*operands)
    if all(getattr(each, "_array", each).dtype == np.bool_ for each in found):
        raise RuntimeError(f"{name} is not defined for pyqref.bool; convert it first, as by int()")
    return found


def _non_negative(value: Any) -> bool:
    return bool(np.all(np.asarray(getattr(value, "_array", value)) >= 0))


def neg(input: Tensor) -> Tensor:
    """``-input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.neg(pyqref.tensor([1.0, -2.0])).tolist()
    [-1.0, 2.0]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("neg", "input", input)
    if input.dtype._name == "bool":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return apply(unary.Neg, input)


def remainder(input: Tensor, other: TensorOrNumber) -> Tensor:
    """Remainder of the floored quotient; its sign is that of ``other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.remainder(pyqref.tensor([-7.0, 7.0]), 3.0).tolist()  # the sign of the divisor
    [2.0, 1.0]
    """
    return apply(elementwise.Remainder, *_numbers("remainder", input, other))


def fmod(input: Tensor, other: TensorOrNumber) -> Tensor:
    """Remainder of the truncated quotient; its sign is that of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.fmod(pyqref.tensor([-7.0, 7.0]), 3.0).tolist()  # the sign of the dividend
    [-1.0, 1.0]
    """
    return apply(elementwise.Fmod, *_numbers("fmod", input, other))


def maximum(input: Tensor, other: TensorOrNumber) -> Tensor:
    """The larger of two, element by element; nan wins.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.maximum(pyqref.tensor([1.0, 5.0]), pyqref.tensor([3.0, float("nan")])).tolist()
    [3.0, nan]
    """
    return combine(bounds.Maximum, input, other)


def minimum(input: Tensor, other: TensorOrNumber) -> Tensor:
    """The smaller of two, element by element; nan wins.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.minimum(pyqref.tensor([1.0, 5.0]), pyqref.tensor([3.0, float("nan")])).tolist()
    [1.0, nan]
    """
    return combine(bounds.Minimum, input, other)


def _refuse_bool(operand: Any) -> None:
    if isinstance(operand, TensorBase) and operand._array.dtype.kind != "b":
        return
    array = getattr(operand, "_array", operand)
    if isinstance(array, bool) or getattr(array, "dtype", None) == np.bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


subtract = alias(sub, "subtract")
multiply = alias(mul, "multiply")
divide = alias(div, "divide")
true_divide = alias(div, "true_divide")
negative = alias(neg, "negative")

add_ = in_place(add)
sub_ = subtract_ = in_place(sub)
mul_ = multiply_ = in_place(mul)
div_ = divide_ = true_divide_ = in_place(div)
floor_divide_ = in_place(floor_divide)
pow_ = in_place(pow)
neg_ = negative_ = in_place(neg)
remainder_ = in_place(remainder)
fmod_ = in_place(fmod)
