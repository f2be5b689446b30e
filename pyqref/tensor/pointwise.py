"""Functions of one tensor, element by element."""

from __future__ import annotations

import builtins
import math
from functools import partial
from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import Tensor
from ..tape import unary
from .aliases import alias
from .arguments import as_integer
from .base import ANY_TENSOR, wrap
from .dispatch import apply, quantized, require_tensor
from .foreign import no_tensor
from .inplace import in_place
from .refusal import refuse_quantized
from .usual import apply_to_floating
from .wrong_arguments import explains_errors

__all__ = [
    "deg2rad_",
    "rad2deg_",
    "abs",
    "absolute",
    "ceil",
    "deg2rad",
    "floor",
    "frac",
    "isfinite",
    "isinf",
    "isnan",
    "nan_to_num",
    "positive",
    "rad2deg",
    "reciprocal",
    "relu",
    "round",
    "sgn",
    "sign",
    "square",
    "trunc",
]


def _refuse_bool(name: str, input: Any) -> None:
    """Raise for truth values, for which NumPy would give an answer in some other type."""
    require_tensor(name, "input", input)
    if input._array.dtype.kind == "b":
        raise RuntimeError(f"{name} is not defined for pyqref.bool; convert it first, as by int()")


def abs(input: Tensor) -> Tensor:
    """``|input|``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.abs(pyqref.tensor([-2, 3])).tolist()
    [2, 3]
    """
    _refuse_bool("abs", input)
    return apply(unary.Abs, input)


def square(input: Tensor) -> Tensor:
    """``input * input``; of truth values as integers.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.square(pyqref.tensor([-3.0, 0.5])).tolist()
    [9.0, 0.25]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("square", "input", input)
    return apply(unary.Square, input.long() if input._array.dtype.kind == "b" else input)


def deg2rad(input: Tensor) -> Tensor:
    """Degrees to radians.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.deg2rad(pyqref.tensor([180.0])).tolist()
    [3.1415927410125732]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("deg2rad", "input", input)
    return input * (math.pi / 180)


def rad2deg(input: Tensor) -> Tensor:
    """Radians to degrees.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.rad2deg(pyqref.tensor([3.1415927])).tolist()
    [180.0]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("rad2deg", "input", input)
    return input * (180 / math.pi)


def positive(input: Tensor) -> Tensor:
    """The tensor itself.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.positive(pyqref.tensor([-2.0, 3.0])).tolist()
    [-2.0, 3.0]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("positive", "input", input)
    if input.dtype._name == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def reciprocal(input: Tensor) -> Tensor:
    """``1 / input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.reciprocal(pyqref.tensor([0.5, 0.0])).tolist()
    [2.0, inf]
    """
    return apply_to_floating(unary.Reciprocal, input)


def relu(input: Tensor) -> Tensor:
    """``max(input, 0)``; of a quantized tensor ``max(q, zero_point)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.relu(pyqref.tensor([-2.0, 3.0])).tolist()
    [0.0, 3.0]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("relu", "input", input)
    if input.is_quantized:
        return quantized[unary.Relu](input)
    _refuse_bool("relu", input)
    return apply(unary.Relu, input)


def _stepwise(function: Any, input: Any) -> Any:
    if not isinstance(input, ANY_TENSOR) or input._array.dtype.kind != "f":
        _refuse_bool(function.__name__, input)
        if not input.is_quantized:
            return apply(unary.Stepwise, input, np.copy)
    return apply(unary.Stepwise, input, function)


@partial(explains_errors, quiet=False)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, halves to the even one; or the nearest multiple of 10**-decimals.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.round(pyqref.tensor([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    >>> pyqref.round(pyqref.tensor([1.26]), decimals=1).item() == pyqref.tensor(1.3).item()
    True
    """
    if decimals == 0:
        return _stepwise(np.rint, input)
    decimals = as_integer(decimals, "round: decimals")
    if input._array.dtype.kind in "iu":
        raise NotImplementedError(
            f"round: decimals other than 0 are not defined for {input.dtype}, got {decimals}"
        )
    power = builtins.abs(decimals)
    # Half floats are computed in single; 10**309 is beyond all floats.
    own = np.promote_types(input._array.dtype, np.float32)
    with quiet():
        ten = own.type(10**power if power < 309 else math.inf)

    def rounded(x: Any) -> Any:
        wide = x.astype(own, copy=False)
        wide = np.rint(wide * ten) / ten if decimals > 0 else np.rint(wide / ten) * ten
        return wide.astype(x.dtype, copy=False)

    return _stepwise(rounded, input)


def floor(input: Tensor) -> Tensor:
    """The largest integer that is not larger.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.floor(pyqref.tensor([-1.5, 1.5])).tolist()
    [-2.0, 1.0]
    """
    return _stepwise(np.floor, input)


def ceil(input: Tensor) -> Tensor:
    """The smallest integer that is not smaller.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ceil(pyqref.tensor([-1.5, 1.5])).tolist()
    [-1.0, 2.0]
    """
    return _stepwise(np.ceil, input)


def trunc(input: Tensor) -> Tensor:
    """The integer part, rounded towards zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.trunc(pyqref.tensor([-1.5, 1.5])).tolist()
    [-1.0, 1.0]
    """
    return _stepwise(np.trunc, input)


def frac(input: Tensor) -> Tensor:
    """The fractional part, with the sign of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.frac(pyqref.tensor([-1.5, 2.25])).tolist()
    [-0.5, 0.25]
    """
    return input - trunc(input)


def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1; 0 of nan.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sign(pyqref.tensor([-2.0, 0.0, 3.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("sign", "input", input)
    return apply(unary.Stepwise, input, _sign)


def _sign(x: Any) -> Any:
    if x.dtype.kind == "b":
        return x.copy()
    return unary.sign(x) if x.dtype.kind == "f" else np.sign(x)


def isnan(input: Tensor) -> Tensor:
    """True where an element is nan.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isnan(pyqref.tensor([1.0, float("inf"), float("nan")])).tolist()
    [False, False, True]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("isnan", "input", input)
    refuse_quantized(input)
    return wrap(np.asarray(np.isnan(input._array)))


def isinf(input: Tensor) -> Tensor:
    """True where an element is infinite, of either sign.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isinf(pyqref.tensor([1.0, float("-inf"), float("nan")])).tolist()
    [False, True, False]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("isinf", "input", input)
    refuse_quantized(input)
    return wrap(np.asarray(np.isinf(input._array)))


def isfinite(input: Tensor) -> Tensor:
    """True where an element is neither nan nor infinite.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isfinite(pyqref.tensor([1.0, float("inf"), float("nan")])).tolist()
    [True, False, False]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("isfinite", "input", input)
    refuse_quantized(input)
    return wrap(np.asarray(np.isfinite(input._array)))


@explains_errors
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Replace nan by ``nan`` (0), infinities by the given or the largest finite numbers.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([float("nan"), float("inf")])
    >>> pyqref.nan_to_num(x, nan=5.0, posinf=9.0).tolist()
    [5.0, 9.0]
    """
    refuse_quantized(input)
    array = input._array
    if array.dtype.kind != "f":
        return wrap(array.copy())
    limits = np.finfo(array.dtype)
    highest = limits.max if posinf is None else posinf
    lowest = limits.min if neginf is None else neginf
    replaced = input.clone()
    for where, value in (
        (np.isnan(array), nan or 0.0),
        (np.isposinf(array), highest),
        (np.isneginf(array), lowest),
    ):
        if where.any():
            replaced = replaced.masked_fill(wrap(where), float(value))
    return replaced


absolute = alias(abs, "absolute")
sgn = alias(sign, "sgn")

abs_ = in_place(abs)
square_ = in_place(square)
reciprocal_ = in_place(reciprocal)
relu_ = in_place(relu, elementwise=True)
round_ = in_place(round)
floor_ = in_place(floor)
ceil_ = in_place(ceil)
trunc_ = in_place(trunc)
sign_ = in_place(sign)
absolute_ = abs_
frac_ = in_place(frac)
nan_to_num_ = in_place(nan_to_num)
deg2rad_ = in_place(deg2rad)
rad2deg_ = in_place(rad2deg)
sgn_ = sign_
