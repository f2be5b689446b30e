"""Functions of one tensor, element by element."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..tape import unary
from .base import wrap
from .dispatch import apply, refuse_quantized
from .inplace import in_place
from .promotion import to_floating

__all__ = [
    "abs",
    "absolute",
    "acos",
    "arccos",
    "arcsin",
    "arctan",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "frac",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "logit",
    "nan_to_num",
    "positive",
    "rad2deg",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]


def _refuse_bool(name: str, input: Any) -> None:
    """Raise for truth values, for which NumPy would give an answer in some other type."""
    if input._array.dtype.kind == "b":
        raise RuntimeError(f"{name} is not defined for pyqref.bool; convert it first, as by int()")


def abs(input: Any) -> Any:
    """``|input|``."""
    _refuse_bool("abs", input)
    return apply(unary.Abs, input)


def square(input: Any) -> Any:
    """``input * input``; of truth values as integers."""
    return apply(unary.Square, input.long() if input._array.dtype.kind == "b" else input)


def exp(input: Any) -> Any:
    """``e ** input``."""
    return apply(unary.Exp, *to_floating(input))


def expm1(input: Any) -> Any:
    """``e ** input - 1``."""
    return apply(unary.Expm1, *to_floating(input))


def log(input: Any) -> Any:
    """Natural logarithm."""
    return apply(unary.Log, *to_floating(input))


def log2(input: Any) -> Any:
    """Logarithm to base 2."""
    return apply(unary.Log2, *to_floating(input))


def log10(input: Any) -> Any:
    """Logarithm to base 10."""
    return apply(unary.Log10, *to_floating(input))


def log1p(input: Any) -> Any:
    """``log(1 + input)``."""
    return apply(unary.Log1p, *to_floating(input))


def sqrt(input: Any) -> Any:
    """Square root."""
    return apply(unary.Sqrt, *to_floating(input))


def rsqrt(input: Any) -> Any:
    """``1 / sqrt(input)``."""
    return apply(unary.Rsqrt, *to_floating(input))


def exp2(input: Any) -> Any:
    """``2 ** input``."""
    (input,) = to_floating(input)
    return apply(unary.Exp, input * math.log(2))


def logit(input: Any, eps: float | None = None) -> Any:
    """``log(input / (1 - input))``, with ``input`` first clamped to [eps, 1 - eps]."""
    (input,) = to_floating(input)
    if eps is not None:
        input = input.clamp(eps, 1 - eps)
    return log(input / (1 - input))


def deg2rad(input: Any) -> Any:
    """Degrees to radians."""
    return input * (math.pi / 180)


def rad2deg(input: Any) -> Any:
    """Radians to degrees."""
    return input * (180 / math.pi)


def erfc(input: Any) -> Any:
    """``1 - erf(input)``."""
    return 1 - erf(input)


def positive(input: Any) -> Any:
    """The tensor itself."""
    if input.dtype._name == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def reciprocal(input: Any) -> Any:
    """``1 / input``."""
    return apply(unary.Reciprocal, *to_floating(input))


def sin(input: Any) -> Any:
    """Sine."""
    return apply(unary.Sin, *to_floating(input))


def cos(input: Any) -> Any:
    """Cosine."""
    return apply(unary.Cos, *to_floating(input))


def tan(input: Any) -> Any:
    """Tangent."""
    return apply(unary.Tan, *to_floating(input))


def asin(input: Any) -> Any:
    """Inverse sine."""
    return apply(unary.Asin, *to_floating(input))


def acos(input: Any) -> Any:
    """Inverse cosine."""
    return apply(unary.Acos, *to_floating(input))


def atan(input: Any) -> Any:
    """Inverse tangent."""
    return apply(unary.Atan, *to_floating(input))


def sinh(input: Any) -> Any:
    """Hyperbolic sine."""
    return apply(unary.Sinh, *to_floating(input))


def cosh(input: Any) -> Any:
    """Hyperbolic cosine."""
    return apply(unary.Cosh, *to_floating(input))


def tanh(input: Any) -> Any:
    """Hyperbolic tangent."""
    return apply(unary.Tanh, *to_floating(input))


def sigmoid(input: Any) -> Any:
    """``1 / (1 + e ** -input)``."""
    return apply(unary.Sigmoid, *to_floating(input))


def erf(input: Any) -> Any:
    """Error function."""
    return apply(unary.Erf, *to_floating(input))


def relu(input: Any) -> Any:
    """``max(input, 0)``; of a quantized tensor ``max(q, zero_point)``."""
    _refuse_bool("relu", input)
    return apply(unary.Relu, input)


def _stepwise(function: Any, input: Any) -> Any:
    _refuse_bool(function.__name__, input)
    if input._array.dtype.kind in "iu" and not input.is_quantized:
        return apply(unary.Stepwise, input, np.copy)
    return apply(unary.Stepwise, input, function)


def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, halves to the even one; or the nearest multiple of 10**-decimals."""
    if decimals == 0:
        return _stepwise(np.rint, input)
    ten = input._array.dtype.type(10 ** builtins.abs(decimals))
    if decimals > 0:
        return _stepwise(lambda x: np.rint(x * ten) / ten, input)
    return _stepwise(lambda x: np.rint(x / ten) * ten, input)


def floor(input: Any) -> Any:
    """The largest integer that is not larger."""
    return _stepwise(np.floor, input)


def ceil(input: Any) -> Any:
    """The smallest integer that is not smaller."""
    return _stepwise(np.ceil, input)


def trunc(input: Any) -> Any:
    """The integer part, rounded towards zero."""
    return _stepwise(np.trunc, input)


def frac(input: Any) -> Any:
    """The fractional part, with the sign of ``input``."""
    return input - trunc(input)


def sign(input: Any) -> Any:
    """-1, 0 or 1."""
    return apply(unary.Stepwise, input, _sign)


def _sign(x: Any) -> Any:
    if x.dtype.kind == "b":
        return x.copy()
    return (
        np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype) if x.dtype.kind == "f" else np.sign(x)
    )


def isnan(input: Any) -> Any:
    """Whether nan."""
    refuse_quantized("isnan", input)
    return wrap(np.asarray(np.isnan(input._array)))


def isinf(input: Any) -> Any:
    """Whether infinite, of either sign."""
    refuse_quantized("isinf", input)
    return wrap(np.asarray(np.isinf(input._array)))


def isfinite(input: Any) -> Any:
    """Whether neither nan nor infinite."""
    refuse_quantized("isfinite", input)
    return wrap(np.asarray(np.isfinite(input._array)))


def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """Replace nan by ``nan`` (0), infinities by the given or the largest finite numbers."""
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


absolute = abs
sgn = sign
arcsin, arccos, arctan = asin, acos, atan

abs_ = in_place(abs)
square_ = in_place(square)
exp_ = in_place(exp)
expm1_ = in_place(expm1)
log_ = in_place(log)
log2_ = in_place(log2)
log10_ = in_place(log10)
log1p_ = in_place(log1p)
sqrt_ = in_place(sqrt)
rsqrt_ = in_place(rsqrt)
reciprocal_ = in_place(reciprocal)
sin_ = in_place(sin)
cos_ = in_place(cos)
tanh_ = in_place(tanh)
sigmoid_ = in_place(sigmoid)
relu_ = in_place(relu)
round_ = in_place(round)
floor_ = in_place(floor)
ceil_ = in_place(ceil)
trunc_ = in_place(trunc)
sign_ = in_place(sign)
erf_ = in_place(erf)
absolute_ = abs_
acos_ = arccos_ = in_place(acos)
asin_ = arcsin_ = in_place(asin)
atan_ = arctan_ = in_place(atan)
cosh_ = in_place(cosh)
sinh_ = in_place(sinh)
tan_ = in_place(tan)
frac_ = in_place(frac)
nan_to_num_ = in_place(nan_to_num)
sgn_ = sign_
