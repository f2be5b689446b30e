"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operation import Array, Operation

__all__ = ["Cumprod", "Cumsum"]


def _cumulated(ufunc: Any, x: Array, axis: int) -> Array:
    """Running sums or products of floats in double, rounded one by one."""
    dtype = np.float64 if x.dtype.kind == "f" else x.dtype
    return ufunc.accumulate(x, axis=axis, dtype=dtype).astype(x.dtype, copy=False)


class Cumsum(Operation):
    """Running sum along an axis."""

    def forward(self, x: Array, axis: int) -> Array:
        self.axis = axis
        return _cumulated(np.add, x, axis) if x.ndim else x.copy()

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if grads[0].ndim == 0:
            return grads[0], None
        turned = np.flip(grads[0], self.axis)
        return np.flip(_cumulated(np.add, turned, self.axis), self.axis), None


class Cumprod(Operation):
    """Running product along an axis."""

    def forward(self, x: Array, axis: int) -> Array:
        self.axis = axis
        if self.needs[0]:
            self.save(x)
        return _cumulated(np.multiply, x, axis) if x.ndim else x.copy()

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if grads[0].ndim == 0:
            return grads[0], None
        x = np.moveaxis(self.saved[0], self.axis, -1)
        grad = np.moveaxis(grads[0], self.axis, -1)
        result = np.zeros_like(x)
        for index in range(x.shape[-1]):
            without = x.copy()
            without[..., index] = 1
            result[..., index] = (grad * np.cumprod(without, axis=-1))[..., index:].sum(axis=-1)
        return np.moveaxis(result, -1, self.axis), None
