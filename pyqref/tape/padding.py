"""Padding: a border of a constant, or of elements of the array itself."""

from __future__ import annotations

import numpy as np

from pyqref import _kernels
from pyqref.numerics.borders import places_along
from pyqref.numerics.windows import inside

from .operation import Array, Operation
from .products import matmul

__all__ = ["MODES", "Pad"]

MODES = ("reflect", "replicate", "circular")
"""The modes whose border is made of elements of the array."""


def _put_back(grad: Array, axis: int, places: Array, length: int) -> Array:
    """Add up elements at the places of an axis of ``length`` from which they were copied."""
    matrix = np.zeros((len(places), length), dtype=grad.dtype)
    matrix[np.arange(len(places)), places] = 1
    return np.moveaxis(matmul(np.moveaxis(grad, axis, -1), matrix), -1, axis)


class Pad(Operation):
    """``Pad(x, pairs, mode, value)``.

    ``pairs`` gives the elements before and after each of the last axes, in their order;
    negative numbers crop. ``mode`` is ``"constant"`` (a border of ``value``), ``"reflect"``,
    ``"replicate"`` or ``"circular"``.
    """

    @staticmethod
    def compute(x: Array, pairs: tuple[tuple[int, int], ...], mode: str, value: float) -> Array:
        return _kernels.bordered(x, pairs, mode, value)

    def forward(
        self, x: Array, pairs: tuple[tuple[int, int], ...], mode: str, value: float
    ) -> Array:
        self.shape = x.shape
        self.pairs, self.mode = pairs, mode
        return self.compute(x, pairs, mode, value)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = grads[0]
        if self.mode == "constant":
            result = np.zeros(self.shape, dtype=grad.dtype)
            places, rest = inside(self.shape[len(self.shape) - len(self.pairs) :], self.pairs)
            result[rest] = grad[places]
            return (result,)
        for axis, pair in enumerate(self.pairs, -len(self.pairs)):
            sources = places_along(self.shape[axis], *pair, self.mode)
            grad = _put_back(grad, axis, sources, self.shape[axis])
        return (grad,)
