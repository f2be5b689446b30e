"""Activations: functions of one array, element by element, and their slopes.

Each class states :meth:`~Pointwise.value`, the function, above
:meth:`~Pointwise.slope`, its derivative. At a kink the slope is that of the side
written in the docstring. ReLU, sigmoid and tanh stand with the other functions of one
array in :mod:`~pyqref.tape.unary`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels

from .operation import Array, Operation
from .unary import sigmoid

__all__ = [
    "Elu",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyRelu",
    "LogSigmoid",
    "Mish",
    "Pointwise",
    "Silu",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Threshold",
    "softplus",
]


class Pointwise(Operation):
    """``y = value(x)``; the gradient of ``x`` is that of ``y`` times ``slope(x, y)``.

    Kernels work out both of float32, the slope from the argument, which is saved. Of other types
    only the slope is saved. One that is boolean says where the gradient passes; elsewhere it is 0,
    also where that of ``y`` is infinite.

    Attributes
    ----------
    kernel : str
        Class attribute: the name of the function in :func:`pyqref._kernels.activation`, if any.
    """

    kernel = ""
    saves_argument = True
    makes_gradients = True

    def constants(self, *parameters: float) -> tuple[float, ...] | None:
        """Return the constants of the kernel, or None where it does not cover the parameters."""
        return parameters

    def value(self, x: Array, *parameters: float) -> Array:
        """The function itself."""
        raise NotImplementedError(f"{type(self).__name__}.value")

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        """Its derivative at ``x``, where its value is ``y``."""
        raise NotImplementedError(f"{type(self).__name__}.slope")

    def forward(self, x: Array, *parameters: Any) -> Array:
        self.given = self.constants(*parameters) if self.kernel else None
        if self.given is not None:
            found = _kernels.activation(self.kernel, x, *self.given)
            if found is not None:
                if self.needs[0]:
                    self.save(x)
                return found
            self.given = None
        y = self.value(x, *parameters)
        if self.needs[0]:
            self.save(self.slope(x, y, *parameters))
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (slope,) = self.saved
        if self.given is not None:
            found = _kernels.activation_gradient(self.kernel, grads[0], slope, *self.given)
            if found is not None:
                return (found,)
            # Of another type than the result, which a user may have given.
            grad = np.asarray(grads[0], slope.dtype)
            return (_kernels.activation_gradient(self.kernel, grad, slope, *self.given),)
        if slope.dtype == np.bool_:
            return (_kernels.straight_through(grads[0], slope),)
        return (grads[0] * slope,)


def softplus(x: Array) -> Array:
    """``log(1 + exp(x))`` without overflow."""
    found = _kernels.activation("softplus", x, 1.0, np.inf)
    if found is not None:
        return found
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


class Hardtanh(Pointwise):
    """``Hardtanh(x, min_val, max_val)``: clamp to the range; slope 0 at both ends.

    ReLU6 is ``Hardtanh(x, 0.0, 6.0)``.
    """

    kernel = "hardtanh"

    def value(self, x: Array, *parameters: float) -> Array:
        min_val, max_val = parameters
        return np.clip(x, min_val, max_val)

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        min_val, max_val = parameters
        return (x > min_val) & (x < max_val)


class LeakyRelu(Pointwise):
    """``LeakyRelu(x, negative_slope)``: ``x`` if ``x > 0``, else ``negative_slope * x``."""

    kernel = "leaky_relu"

    def value(self, x: Array, *parameters: float) -> Array:
        return np.where(x > 0, x, x * parameters[0])

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return np.where(x > 0, x.dtype.type(1), x.dtype.type(parameters[0]))


class Elu(Pointwise):
    """``Elu(x, alpha, scale, input_scale)``.

    ``scale * alpha * (exp(input_scale * x) - 1)`` if ``x < 0``, else ``scale * x``, which is 0 at 0
    for infinite ``alpha``, too; the slope at 0 is that of the first. ELU is ``(alpha, 1, 1)``, CELU
    ``(alpha, 1, 1 / alpha)``, SELU ``(alpha, scale, 1)``.
    """

    kernel = "elu"

    def constants(self, *parameters: float) -> tuple[float, ...] | None:
        alpha, scale, input_scale = parameters
        return (alpha * scale, scale, input_scale) if input_scale >= 0 else None

    def value(self, x: Array, *parameters: float) -> Array:
        alpha, scale, input_scale = parameters
        below = np.expm1(np.minimum(x, 0) * input_scale) * (alpha * scale)
        return np.where(x < 0, below, x * scale)

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        alpha, scale, input_scale = parameters
        below = np.exp(np.minimum(x, 0) * input_scale) * (alpha * scale * input_scale)
        return np.where(x > 0, x.dtype.type(scale), below)


class Silu(Pointwise):
    """``Silu(x)``: ``x * sigmoid(x)``."""

    kernel = "silu"

    def value(self, x: Array, *parameters: float) -> Array:
        return x * sigmoid(x)

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        s = sigmoid(x)
        return s * (1 + x * (1 - s))


class Mish(Pointwise):
    """``Mish(x)``: ``x * tanh(log(1 + exp(x)))``."""

    kernel = "mish"

    def value(self, x: Array, *parameters: float) -> Array:
        return x * np.tanh(softplus(x))

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        t = np.tanh(softplus(x))
        return t + x * (1 - t * t) * sigmoid(x)


class Softplus(Pointwise):
    """``Softplus(x, beta, threshold)``: ``log(1 + exp(beta * x)) / beta``.

    It is ``x`` itself where ``beta * x > threshold``.
    """

    kernel = "softplus"

    def constants(self, *parameters: float) -> tuple[float, ...] | None:
        return (*parameters, -0.0)

    def value(self, x: Array, *parameters: float) -> Array:
        beta, threshold = parameters
        return np.where(x * beta > threshold, x, softplus(x * beta) / beta)

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        beta, threshold = parameters
        return np.where(x * beta > threshold, x.dtype.type(1), sigmoid(x * beta))


class LogSigmoid(Pointwise):
    """``LogSigmoid(x)``: ``log(sigmoid(x))``."""

    kernel = "softplus"

    def constants(self, *parameters: float) -> tuple[float, ...] | None:
        return -1.0, np.inf, 0.0

    def value(self, x: Array, *parameters: float) -> Array:
        return 0 - softplus(-x)  # 0, not -0, where the sigmoid is 1

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return sigmoid(-x)


class Softsign(Pointwise):
    """``Softsign(x)``: ``x / (1 + |x|)``."""

    def value(self, x: Array, *parameters: float) -> Array:
        return x / (1 + np.abs(x))

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return (1 + np.abs(x)) ** -2


class Hardswish(Pointwise):
    """``Hardswish(x)``: ``x * min(max(x + 3, 0), 6) / 6``; slope 0 at -3, 1 at 3."""

    kernel = "hardswish"

    def value(self, x: Array, *parameters: float) -> Array:
        return x * np.clip(x + 3, 0, 6) / 6

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        one = x.dtype.type(1)
        return np.where(x <= -3, 0 * one, np.where(x >= 3, one, x / 3 + one / 2))


class Hardsigmoid(Pointwise):
    """``Hardsigmoid(x)``: ``min(max(x + 3, 0), 6) / 6``; slope 0 at -3 and 3."""

    kernel = "hardsigmoid"

    def value(self, x: Array, *parameters: float) -> Array:
        return np.clip(x + 3, 0, 6) / 6

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return ((x > -3) & (x < 3)) * x.dtype.type(1 / 6)


class Threshold(Pointwise):
    """``Threshold(x, threshold, value)``: ``x`` if ``x > threshold``, else ``value``."""

    def value(self, x: Array, *parameters: float) -> Array:
        threshold, value = parameters
        return np.where(x <= threshold, x.dtype.type(value), x)

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return ~(x <= parameters[0])


class Hardshrink(Pointwise):
    """``Hardshrink(x, lambd)``: ``x`` if ``|x| > lambd``, else 0."""

    def value(self, x: Array, *parameters: float) -> Array:
        return np.where(np.abs(x) <= parameters[0], x.dtype.type(0), x)

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return np.abs(x) > parameters[0]


class Softshrink(Pointwise):
    """``Softshrink(x, lambd)``: ``x`` moved towards 0 by ``lambd``, and 0 in between."""

    def value(self, x: Array, *parameters: float) -> Array:
        return x - np.clip(x, -parameters[0], parameters[0])

    def slope(self, x: Array, y: Array, *parameters: float) -> Array:
        return np.abs(x) > parameters[0]
