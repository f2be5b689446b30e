"""Functions of one array, element by element.

Each class gives the function and its derivative; the derivative is written in
terms of whichever of argument and result is the cheaper one to keep.
"""

from __future__ import annotations

import math

import numpy as np

from pyqref import _kernels

from .error_function import erf, erfc
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


class _OfArgument(Operation):
    """Keeps the argument ``x``; ``derivative(x)`` is a function of it.

    Kernels work out float32 where ``kernel`` names the function.
    """

    kernel = ""
    makes_gradients = True

    def value(self, x: Array) -> Array:
        raise TypeError(f"{type(self).__name__} defines no value")

    def derivative(self, kept: Array) -> Array:
        raise TypeError(f"{type(self).__name__} defines no derivative")

    def forward(self, x: Array) -> Array:
        if self.needs[0]:
            self.save(x)
        return self._value(x)

    def _value(self, x: Array) -> Array:
        found = _kernels.activation(self.kernel, x) if self.kernel else None
        return self.value(x) if found is None else found

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (kept,) = self.saved
        found = _kernels.activation_gradient(self.kernel, grads[0], kept) if self.kernel else None
        return (grads[0] * self.derivative(kept) if found is None else found,)


class _OfResult(_OfArgument):
    """Keeps the result ``y``; ``derivative(y)`` is a function of it."""

    def forward(self, x: Array) -> Array:
        y = np.asarray(self._value(x))
        if self.needs[0]:
            self.save(y)
        return y


def sign(x: Array) -> Array:
    """-1, 0 or 1; 0 of nan."""
    return np.where(np.isnan(x), x.dtype.type(0), np.sign(x))


class Neg(Operation):
    """``-x``."""

    def forward(self, x: Array) -> Array:
        return np.negative(x)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (-grads[0],)


class Abs(_OfArgument):
    """``|x|``; derivative 0 at 0 and at nan."""

    def value(self, x: Array) -> Array:
        return np.abs(x)

    def derivative(self, kept: Array) -> Array:
        return sign(kept)


class Square(_OfArgument):
    """``x * x``."""

    def value(self, x: Array) -> Array:
        return x * x

    def derivative(self, kept: Array) -> Array:
        return 2 * kept


class Exp(_OfResult):
    """``e ** x``."""

    kernel = "exp"

    def value(self, x: Array) -> Array:
        return np.exp(x)

    def derivative(self, kept: Array) -> Array:
        return kept


class Exp2(_OfResult):
    """``2 ** x``, in double: powers of whole numbers are exact."""

    def value(self, x: Array) -> Array:
        return np.exp2(x, dtype=np.float64).astype(x.dtype)

    def derivative(self, kept: Array) -> Array:
        return kept * math.log(2)


class Expm1(_OfResult):
    """``e ** x - 1``, accurate near 0."""

    def value(self, x: Array) -> Array:
        return np.expm1(x)

    def derivative(self, kept: Array) -> Array:
        return kept + 1


class Log(_OfArgument):
    """Natural logarithm."""

    kernel = "log"

    def value(self, x: Array) -> Array:
        return np.log(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / kept


class Log2(_OfArgument):
    """Logarithm to base 2."""

    def value(self, x: Array) -> Array:
        return np.log2(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept * math.log(2))


class Log10(_OfArgument):
    """Logarithm to base 10."""

    def value(self, x: Array) -> Array:
        return np.log10(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept * math.log(10))


class Log1p(_OfArgument):
    """``log(1 + x)``, accurate near 0."""

    def value(self, x: Array) -> Array:
        return np.log1p(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept + 1)


class Sqrt(_OfResult):
    """Square root."""

    def value(self, x: Array) -> Array:
        return np.sqrt(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (2 * kept)


class Rsqrt(_OfResult):
    """``1 / sqrt(x)``."""

    kernel = "rsqrt"

    def value(self, x: Array) -> Array:
        return 1 / np.sqrt(x)

    def derivative(self, kept: Array) -> Array:
        return kept * kept * kept * -0.5


class Reciprocal(_OfResult):
    """``1 / x``."""

    def value(self, x: Array) -> Array:
        return 1 / x

    def derivative(self, kept: Array) -> Array:
        return -kept * kept


class Sin(_OfArgument):
    """Sine."""

    def value(self, x: Array) -> Array:
        return np.sin(x)

    def derivative(self, kept: Array) -> Array:
        return np.cos(kept)


class Cos(_OfArgument):
    """Cosine."""

    def value(self, x: Array) -> Array:
        return np.cos(x)

    def derivative(self, kept: Array) -> Array:
        return -np.sin(kept)


class Tan(_OfResult):
    """Tangent."""

    def value(self, x: Array) -> Array:
        return np.tan(x)

    def derivative(self, kept: Array) -> Array:
        return 1 + kept * kept


class Asin(_OfArgument):
    """Inverse sine."""

    def value(self, x: Array) -> Array:
        return np.arcsin(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / np.sqrt(1 - kept * kept)


class Acos(_OfArgument):
    """Inverse cosine."""

    def value(self, x: Array) -> Array:
        return np.arccos(x)

    def derivative(self, kept: Array) -> Array:
        return -1 / np.sqrt(1 - kept * kept)


class Atan(_OfArgument):
    """Inverse tangent."""

    def value(self, x: Array) -> Array:
        return np.arctan(x)

    def derivative(self, kept: Array) -> Array:
        return 1 / (kept * kept + 1)


class Sinh(_OfArgument):
    """Hyperbolic sine."""

    def value(self, x: Array) -> Array:
        return np.sinh(x)

    def derivative(self, kept: Array) -> Array:
        return np.cosh(kept)


class Cosh(_OfArgument):
    """Hyperbolic cosine."""

    def value(self, x: Array) -> Array:
        return np.cosh(x)

    def derivative(self, kept: Array) -> Array:
        return np.sinh(kept)


class Tanh(_OfResult):
    """Hyperbolic tangent."""

    kernel = "tanh"

    def value(self, x: Array) -> Array:
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


class Sigmoid(_OfResult):
    """``1 / (1 + e ** -x)``."""

    kernel = "sigmoid"

    def value(self, x: Array) -> Array:
        return sigmoid(x)

    def derivative(self, kept: Array) -> Array:
        return (1 - kept) * kept


class Relu(_OfResult):
    """``max(x, 0)``; derivative 0 at 0, 1 at nan."""

    def value(self, x: Array) -> Array:
        found = _kernels.activation("hardtanh", x, 0.0, math.inf)
        if found is not None:
            return found
        zero = x.dtype.type(0)
        if x.dtype.kind == "f":  # NumPy's clip takes a third of the time of its maximum
            return x.clip(zero, x.dtype.type(np.inf))
        return np.maximum(x, zero)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (_kernels.straight_through(grads[0], self.saved[0] != 0),)


class Erf(_OfArgument):
    """``2 / sqrt(pi)`` times the integral of ``e ** -t**2`` from 0 to ``x``."""

    kernel = "erf"

    def value(self, x: Array) -> Array:
        return erf(x)

    def derivative(self, kept: Array) -> Array:
        return (2 / math.sqrt(math.pi)) * np.exp(-kept * kept)


class Erfc(Erf):
    """``1 - erf(x)``, accurate where that is small."""

    kernel = ""
    makes_gradients = True

    def value(self, x: Array) -> Array:
        return erfc(x)

    def derivative(self, kept: Array) -> Array:
        return -super().derivative(kept)


class Stepwise(Operation):
    """A function that is constant between its steps, such as ``rint``: derivative 0."""

    def forward(self, x: Array, function: object) -> Array:
        return np.asarray(function(x))  # type: ignore[operator]

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return np.zeros_like(grads[0]), None
