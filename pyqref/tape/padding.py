"""Padding: a border of a constant, or of elements of the array itself."""

from __future__ import annotations

import numpy as np

from pyqref import _kernels
from pyqref.numerics.borders import places_along
from pyqref.numerics.windows import inside

from .operation import Array, Operation
from .products import matmul

__all__ = ["MODES", "Pad", "scatter"]

MODES = ("reflect", "replicate", "circular")
"""The modes whose border is made of elements of the array."""


def scatter(grad: Array, axis: int, indices: Array, weights: Array | None, length: int) -> Array:
    """Put weighted elements back along an axis of ``length``.

    The adjoint of :func:`pyqref.numerics.float_resize.gather`.
    """
    matrix = np.zeros((len(indices), length), dtype=grad.dtype)
    np.add.at(
        matrix, (np.arange(len(indices))[:, None], indices), 1 if weights is None else weights
    )
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
            index = places_along(self.shape[axis], *pair, self.mode)[:, None]
            grad = scatter(grad, axis, index, None, self.shape[axis])
        return (grad,)
