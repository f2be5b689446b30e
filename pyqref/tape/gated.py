"""Activations of more than one element, or of two arrays: GELU, GLU, PReLU, softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref import _kernels

from .._insides.numpy_errors import quiet
from .activation import Pointwise
from .error_function import erf
from .operation import Array, Operation
from .sums import total_but_channels
from .unary import sigmoid

__all__ = ["Gelu", "Glu", "LogSoftmax", "Prelu", "Softmax"]


class Gelu(Pointwise):
    """``Gelu(x, approximate)``: ``x`` times the normal distribution function of ``x``.

    ``approximate="none"`` uses the error function, ``"tanh"`` the formula
    ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2``.
    """

    kernel = "gelu"

    def constants(self, *parameters: Any) -> tuple[float, ...] | None:
        self.kernel = "gelu" if parameters[0] == "none" else "gelu_tanh"
        return ()

    def value(self, x: Array, *parameters: Any) -> Array:
        return x * self._distribution(x, *parameters)

    def slope(self, x: Array, y: Array, *parameters: Any) -> Array:
        p = self._distribution(x, *parameters)
        if parameters[0] == "none":
            return p + x * (np.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))
        inner_slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        return p + x * (2 * p * (1 - p) * inner_slope)

    def _distribution(self, x: Array, approximate: str) -> Array:
        if approximate == "none":
            return (1 + erf(x * math.sqrt(0.5))) * 0.5
        return (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) * 0.5


class Prelu(Operation):
    """``Prelu(x, weight)``: ``x`` if ``x > 0``, else ``weight * x``.

    ``weight`` has one element, or one for each index of axis 1 of ``x``.
    """

    def forward(self, x: Array, weight: Array) -> Array:
        self.shape = weight.shape
        if weight.size != 1 and x.ndim > 1:
            weight = weight.reshape(-1, *(1,) * (x.ndim - 2))
        self.save(x, weight if self.needs[0] else None)
        y = _kernels.prelu(x, weight)
        return np.where(x > 0, x, weight * x) if y is None else y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, weight = self.saved
        grad_x = grad_weight = None
        if self.needs[0]:
            grad_x = _kernels.prelu(x, weight, grads[0])
            if grad_x is None:
                grad_x = np.where(x > 0, grads[0], weight * grads[0])
        if self.needs[1]:
            each = np.where(x > 0, x.dtype.type(0), x * grads[0])
            if math.prod(self.shape) == 1:
                grad_weight = each.sum().reshape(self.shape)
            else:
                sums = total_but_channels(each) if x.ndim > 1 else each
                grad_weight = sums.reshape(self.shape)
        return grad_x, grad_weight


class Glu(Operation):
    """``Glu(x, dim)``: the first half along ``dim`` times the sigmoid of the second half."""

    makes_gradients = True

    def forward(self, x: Array, dim: int) -> Array:
        self.dim = dim
        y = _kernels.glu(x, dim)
        if y is not None:
            self.save(x)
            return y
        a, b = np.split(x, 2, axis=dim)
        gate = sigmoid(b)
        if self.needs[0]:
            self.save(a, gate)
        return a * gate

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if len(self.saved) == 1:
            (x,) = self.saved
            return (_kernels.glu_gradient(np.asarray(grads[0], x.dtype), x, self.dim),)
        a, gate = self.saved
        return (np.concatenate([grads[0] * gate, grads[0] * a * gate * (1 - gate)], self.dim),)


class Softmax(Operation):
    """``Softmax(x, dim)``: ``exp(x) / sum(exp(x))`` along ``dim``."""

    makes_gradients = is_quiet = True

    @staticmethod
    def compute(x: Array, dim: int) -> Array:
        found = _kernels.softmax(x, dim)
        if found is not None:
            return found
        with quiet():
            y = np.exp(x - x.max(axis=dim, keepdims=True, initial=-np.inf))
            y /= y.sum(axis=dim, keepdims=True)
        return y

    def forward(self, x: Array, dim: int) -> Array:
        self.dim = dim
        y = self.compute(x, dim)
        self.save(y)
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (y,) = self.saved
        found = _kernels.softmax_gradient(grads[0], y, self.dim)
        if found is not None:
            return (found,)
        with quiet():
            weighted = grads[0] * y
            return (weighted - y * weighted.sum(axis=self.dim, keepdims=True),)


class LogSoftmax(Operation):
    """``LogSoftmax(x, dim)``: ``x - log(sum(exp(x)))`` along ``dim``."""

    makes_gradients = is_quiet = True

    @staticmethod
    def compute(x: Array, dim: int) -> Array:
        found = _kernels.softmax(x, dim, is_log=True)
        if found is not None:
            return found
        with quiet():
            y = x - x.max(axis=dim, keepdims=True, initial=-np.inf)
            y -= np.log(np.exp(y).sum(axis=dim, keepdims=True))
        return y

    def forward(self, x: Array, dim: int) -> Array:
        self.dim = dim
        y = self.compute(x, dim)
        self.save(y)
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (y,) = self.saved
        found = _kernels.softmax_gradient(grads[0], y, self.dim, is_log=True)
        if found is not None:
            return (found,)
        with quiet():
            return (grads[0] - np.exp(y) * grads[0].sum(axis=self.dim, keepdims=True),)
