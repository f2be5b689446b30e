"""Base of functions of one array, which keep something of it for the gradient."""

from __future__ import annotations

import numpy as np

from pyqref import _kernels

from .._insides.numpy_errors import quiet
from .operation import Array, Operation

__all__ = ["OfArgument", "OfResult"]


class OfArgument(Operation):
    """Keeps the argument ``x``; ``derivative(x)`` is a function of it.

    Kernels work out float32 where ``kernel`` names the function.
    """

    keeps_result = False
    kernel = ""
    makes_gradients = True

    @staticmethod
    def value(x: Array) -> Array:
        raise TypeError("an operation of this kind defines a value")

    def derivative(self, kept: Array) -> Array:
        raise TypeError(f"{type(self).__name__} defines no derivative")

    def __init_subclass__(cls) -> None:
        if "runs_quietly" not in cls.__dict__:
            cls.runs_quietly = bool(cls.kernel) and "compute" not in cls.__dict__
        super().__init_subclass__()

    @classmethod
    def compute(cls, x: Array) -> Array:
        if not cls.kernel:
            return cls.value(x)
        found = _kernels.activation(cls.kernel, x)
        if found is not None:
            return found
        with quiet():
            return cls.value(x)

    def forward(self, x: Array) -> Array:
        y = np.asarray(self.compute(x))
        if self.needs[0]:
            self.save(y if self.keeps_result else x)
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (kept,) = self.saved
        found = _kernels.activation_gradient(self.kernel, grads[0], kept) if self.kernel else None
        return (grads[0] * self.derivative(kept) if found is None else found,)


class OfResult(OfArgument):
    """Keeps the result ``y``; ``derivative(y)`` is a function of it."""

    keeps_result = True
