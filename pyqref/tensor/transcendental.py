"""Roots, exponentials, logarithms and trigonometry, element by element."""

from __future__ import annotations

from .._typing import Tensor
from ..tape import unary
from ..tape.logit import Logit
from .aliases import alias
from .dispatch import apply
from .inplace import in_place
from .promotion import to_floating
from .usual import apply_to_floating

__all__ = [
    "erfc_",
    "exp2_",
    "logit_",
    "acos",
    "arccos",
    "arcsin",
    "arctan",
    "asin",
    "atan",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logit",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def exp(input: Tensor) -> Tensor:
    """``e ** input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.exp(pyqref.tensor([0.0, 1000.0])).tolist()
    [1.0, inf]
    """
    return apply_to_floating(unary.Exp, input)


def expm1(input: Tensor) -> Tensor:
    """``e ** input - 1``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.expm1(pyqref.tensor([0.0, 1e-10])).tolist()  # exp(x) - 1 would be 0
    [0.0, 1.000000013351432e-10]
    """
    return apply_to_floating(unary.Expm1, input)


def log(input: Tensor) -> Tensor:
    """Natural logarithm.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.log(pyqref.tensor([1.0, 0.0, -1.0])).tolist()
    [0.0, -inf, nan]
    """
    return apply_to_floating(unary.Log, input)


def log2(input: Tensor) -> Tensor:
    """Logarithm to base 2.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.log2(pyqref.tensor([0.25, 8.0])).tolist()
    [-2.0, 3.0]
    """
    return apply_to_floating(unary.Log2, input)


def log10(input: Tensor) -> Tensor:
    """Logarithm to base 10.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.log10(pyqref.tensor([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    return apply_to_floating(unary.Log10, input)


def log1p(input: Tensor) -> Tensor:
    """``log(1 + input)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.log1p(pyqref.tensor([0.0, 1e-10])).tolist()  # log(1 + x) would be 0
    [0.0, 1.000000013351432e-10]
    """
    return apply_to_floating(unary.Log1p, input)


def sqrt(input: Tensor) -> Tensor:
    """Square root.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sqrt(pyqref.tensor([4.0, -1.0])).tolist()
    [2.0, nan]
    """
    return apply_to_floating(unary.Sqrt, input)


def rsqrt(input: Tensor) -> Tensor:
    """``1 / sqrt(input)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.rsqrt(pyqref.tensor([4.0, 0.0])).tolist()
    [0.5, inf]
    """
    return apply_to_floating(unary.Rsqrt, input)


def exp2(input: Tensor) -> Tensor:
    """``2 ** input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.exp2(pyqref.tensor([-1.0, 3.0])).tolist()
    [0.5, 8.0]
    """
    return apply_to_floating(unary.Exp2, input)


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """``log(input / (1 - input))``, with ``input`` first clamped to [eps, 1 - eps].

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logit(pyqref.tensor([0.0, 0.5, 1.0])).tolist()
    [-inf, 0.0, inf]
    """
    return apply(Logit, *to_floating(input), eps)


def erfc(input: Tensor) -> Tensor:
    """``1 - erf(input)``, accurate where that is small.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.erfc(pyqref.tensor([-100.0, 0.0, 5.0]))
    tensor([2.0000e+00, 1.0000e+00, 1.5375e-12])
    """
    return apply_to_floating(unary.Erfc, input)


def sin(input: Tensor) -> Tensor:
    """Sine.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sin(pyqref.tensor([0.0])).tolist()
    [0.0]
    """
    return apply_to_floating(unary.Sin, input)


def cos(input: Tensor) -> Tensor:
    """Cosine.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cos(pyqref.tensor([0.0])).tolist()
    [1.0]
    """
    return apply_to_floating(unary.Cos, input)


def tan(input: Tensor) -> Tensor:
    """Tangent.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tan(pyqref.tensor([0.0])).tolist()
    [0.0]
    """
    return apply_to_floating(unary.Tan, input)


def asin(input: Tensor) -> Tensor:
    """Inverse sine.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.asin(pyqref.tensor([0.0, 2.0])).tolist()
    [0.0, nan]
    """
    return apply_to_floating(unary.Asin, input)


def acos(input: Tensor) -> Tensor:
    """Inverse cosine.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.acos(pyqref.tensor([1.0, 2.0])).tolist()
    [0.0, nan]
    """
    return apply_to_floating(unary.Acos, input)


def atan(input: Tensor) -> Tensor:
    """Inverse tangent.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.atan(pyqref.tensor([0.0])).tolist()
    [0.0]
    """
    return apply_to_floating(unary.Atan, input)


def sinh(input: Tensor) -> Tensor:
    """Hyperbolic sine.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sinh(pyqref.tensor([0.0])).tolist()
    [0.0]
    """
    return apply_to_floating(unary.Sinh, input)


def cosh(input: Tensor) -> Tensor:
    """Hyperbolic cosine.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cosh(pyqref.tensor([0.0])).tolist()
    [1.0]
    """
    return apply_to_floating(unary.Cosh, input)


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tanh(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return apply_to_floating(unary.Tanh, input)


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + e ** -input)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sigmoid(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return apply_to_floating(unary.Sigmoid, input)


def erf(input: Tensor) -> Tensor:
    """Error function.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.erf(pyqref.tensor([-100.0, 0.0, 100.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return apply_to_floating(unary.Erf, input)


arcsin, arccos, arctan = alias(asin, "arcsin"), alias(acos, "arccos"), alias(atan, "arctan")
exp_ = in_place(exp)
expm1_ = in_place(expm1)
log_ = in_place(log)
log2_ = in_place(log2)
log10_ = in_place(log10)
log1p_ = in_place(log1p)
sqrt_ = in_place(sqrt)
rsqrt_ = in_place(rsqrt)
sin_ = in_place(sin)
cos_ = in_place(cos)
tanh_ = in_place(tanh, elementwise=True)
sigmoid_ = in_place(sigmoid, elementwise=True)
erf_ = in_place(erf)
acos_ = arccos_ = in_place(acos)
asin_ = arcsin_ = in_place(asin)
atan_ = arctan_ = in_place(atan)
cosh_ = in_place(cosh)
sinh_ = in_place(sinh)
tan_ = in_place(tan)
erfc_ = in_place(erfc)
exp2_ = in_place(exp2)
logit_ = in_place(logit)
