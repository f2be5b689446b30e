"""Functions of one array, element by element.

Each class gives the function and its derivative; the derivative is written in
terms of whichever of argument and result is the cheaper one to keep.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pyqref import _kernels

from .error_function import erf, erfc
from .of_one_array import OfArgument, OfResult
from .operation import Array, Operation

__all__ = [
    "Abs",
    "Acos",
    "Asin",
    "Atan",
    "Cos",
    "Cosh",
    "Erf",
    "Erfc",
    "Exp",
    "Exp2",
    "Expm1",
    "Log",
    "Log1p",
    "Log2",
    "Log10",
    "Neg",
    "Reciprocal",
    "Relu",
    "Rsqrt",
    "Sigmoid",
    "Sin",
    "Sinh",
    "Sqrt",
    "Square",
    "Stepwise",
    "Tan",
    "Tanh",
    "erf",
    "sigmoid",
    "sign",
]


def sign(x: Array) -> Array:
    """-1, 0 or 1; 0 of nan."""
    return np.where(np.isnan(x), x.dtype.type(0), np.sign(x))


class Neg(Operation):
    """``-x``."""

    compute = staticmethod(np.negative)

    def forward(self, x: Array) -> Array:
        return np.negative(x)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (-grads[0],)


class Abs(OfArgument):
    """``|x|``; derivative 0 at 0 and at nan."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.abs(x)

    def derivative(self, kept: Array) -> Array:
        return sign(kept)


class Square(OfArgument):
    """``x * x``."""

    @staticmethod
    def value(x: Array) -> Array:
        return x * x

    def derivative(self, kept: Array) -> Array:
        return 2 * kept


class Exp(OfResult):
    """``e ** x``."""

    kernel = "exp"

    @staticmethod
    def value(x: Array) -> Array:
        return np.exp(x)

    def derivative(self, kept: Array) -> Array:
        return kept


class Exp2(OfResult):
    """``2 ** x``, in double: powers of whole numbers are exact."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.exp2(x, dtype=np.float64).astype(x.dtype)

    def derivative(self, kept: Array) -> Array:
        return kept * math.log(2)


class Expm1(OfResult):
    """``e ** x - 1``, accurate near 0."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.expm1(x)

    def derivative(self, kept: Array) -> Array:
        return kept + 1


class Log(OfArgument):
    """Natural logarithm."""

    kernel = "log"

    @staticmethod
    def value(x: Array) -> Array:
        return np.log(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / kept


class Log2(OfArgument):
    """Logarithm to base 2."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.log2(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept * math.log(2))


class Log10(OfArgument):
    """Logarithm to base 10."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.log10(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept * math.log(10))


class Log1p(OfArgument):
    """``log(1 + x)``, accurate near 0."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.log1p(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept + 1)


class Sqrt(OfResult):
    """Square root."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.sqrt(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (2 * kept)


class Rsqrt(OfResult):
    """``1 / sqrt(x)``."""

    kernel = "rsqrt"

    @staticmethod
    def value(x: Array) -> Array:
        return 1 / np.sqrt(x)

    def derivative(self, kept: Array) -> Array:
        return kept * kept * kept * -0.5


class Reciprocal(OfResult):
    """``1 / x``."""

    @staticmethod
    def value(x: Array) -> Array:
        return 1 / x

    def derivative(self, kept: Array) -> Array:
        return -kept * kept


class Sin(OfArgument):
    """Sine."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.sin(x)

    def derivative(self, kept: Array) -> Array:
        return np.cos(kept)


class Cos(OfArgument):
    """Cosine."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.cos(x)

    def derivative(self, kept: Array) -> Array:
        return -np.sin(kept)


class Tan(OfResult):
    """Tangent."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.tan(x)

    def derivative(self, kept: Array) -> Array:
        return 1 + kept * kept


class Asin(OfArgument):
    """Inverse sine."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.arcsin(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / np.sqrt(1 - kept * kept)


class Acos(OfArgument):
    """Inverse cosine."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.arccos(x)

    def derivative(self, kept: Array) -> Array:
        return -1 / np.sqrt(1 - kept * kept)


class Atan(OfArgument):
    """Inverse tangent."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.arctan(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept * kept + 1)


class Sinh(OfArgument):
    """Hyperbolic sine."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.sinh(x)

    def derivative(self, kept: Array) -> Array:
        return np.cosh(kept)


class Cosh(OfArgument):
    """Hyperbolic cosine."""

    @staticmethod
    def value(x: Array) -> Array:
        return np.cosh(x)

    def derivative(self, kept: Array) -> Array:
        return np.sinh(kept)


class Tanh(OfResult):
    """Hyperbolic tangent."""

    kernel = "tanh"

    @staticmethod
    def value(x: Array) -> Array:
        return np.tanh(x)

    def derivative(self, kept: Array) -> Array:
        return 1 - kept * kept


def sigmoid(x: Array) -> Array:
    """``1 / (1 + e ** -x)``, without overflow."""
    found = _kernels.activation("sigmoid", x)
    if found is not None:
        return found
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


class Sigmoid(OfResult):
    """``1 / (1 + e ** -x)``."""

    kernel = "sigmoid"

    @staticmethod
    def value(x: Array) -> Array:
        return sigmoid(x)

    def derivative(self, kept: Array) -> Array:
        return (1 - kept) * kept


class Relu(OfResult):
    """``max(x, 0)``; derivative 0 at 0, 1 at nan."""

    runs_quietly = True

    @staticmethod
    def value(x: Array) -> Array:
        found = _kernels.activation("hardtanh", x, 0.0, math.inf)
        if found is not None:
            return found
        zero = x.dtype.type(0)
        if x.dtype.kind == "f":  # NumPy's clip takes a third of the time of its maximum
            return x.clip(zero, x.dtype.type(np.inf))
        return np.maximum(x, zero)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (_kernels.straight_through(grads[0], self.saved[0] != 0),)


class Erf(OfArgument):
    """``2 / sqrt(pi)`` times the integral of ``e ** -t**2`` from 0 to ``x``."""

    kernel = "erf"

    @staticmethod
    def value(x: Array) -> Array:
        return erf(x)

    def derivative(self, kept: Array) -> Array:
        return (2 / math.sqrt(math.pi)) * np.exp(-kept * kept)


class Erfc(Erf):
    """``1 - erf(x)``, accurate where that is small."""

    kernel = ""
    makes_gradients = True

    @staticmethod
    def value(x: Array) -> Array:
        return erfc(x)

    def derivative(self, kept: Array) -> Array:
        return -super().derivative(kept)


class Stepwise(Operation):
    """A function that is constant between its steps, such as ``rint``: derivative 0."""

    @staticmethod
    def compute(x: Array, function: Callable[[Array], Array]) -> Array:
        return function(x)

    def forward(self, x: Array, function: Callable[[Array], Array]) -> Array:
        return np.asarray(function(x))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return np.zeros_like(grads[0]), None
