"""Padding: a border of a constant, or of elements of the array itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import PART
from pyqref._kernels.parts import parts
from pyqref.numerics.windows import inside

from .operation import Array, Operation

__all__ = ["MODES", "Pad", "border_indices", "scatter"]

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
    return np.moveaxis(np.moveaxis(grad, axis, -1) @ matrix, -1, axis)


def border_indices(length: int, before: int, after: int, mode: str) -> Array:
    """Which element of an axis stands at each place of the padded one.

    Negative numbers crop: before padding if ``mode`` is ``"circular"``, so that what is wrapped
    around is what was left; after padding in the other modes, which look at the whole axis.
    """
    left, right = max(-before, 0), max(-after, 0)
    border = max(before, 0), max(after, 0)
    index = np.arange(length)
    if mode == "circular":
        return np.pad(index[left : length - right], border, mode="wrap")
    index = np.pad(index, border, mode="reflect" if mode == "reflect" else "edge")
    return index[left : len(index) - right]


def _bordered(x: Array, indices: list[Array]) -> Array:
    """Elements of the last axes of ``x``, one axis after the other; some results at a time."""
    leading = x.ndim - len(indices)
    result = np.empty((*x.shape[:leading], *map(len, indices)), x.dtype)
    for at in parts(result, most=PART):
        chosen = [index[where] for index, where in zip(indices, at[leading:], strict=True)]
        key: tuple[Any, ...] = (*at[:leading], chosen[0])
        some = x[key]
        for axis, index in enumerate(chosen[1:], leading + 1):
            some = np.take(some, index, axis)
        result[at] = some
    return result


class Pad(Operation):
    """``Pad(x, pairs, mode, value)``.

    ``pairs`` gives the elements before and after each of the last axes, in their order;
    negative numbers crop. ``mode`` is ``"constant"`` (a border of ``value``), ``"reflect"``,
    ``"replicate"`` or ``"circular"``.
    """

    def forward(
        self, x: Array, pairs: tuple[tuple[int, int], ...], mode: str, value: float
    ) -> Array:
        self.shape = x.shape
        self.indices: list[Array] = []
        if mode != "constant":
            for axis, pair in enumerate(pairs, -len(pairs)):
                index = border_indices(x.shape[axis], *pair, mode)
                self.indices.append(index[:, None])
            return _bordered(x, [index[:, 0] for index in self.indices])
        self.pairs = pairs
        return _kernels.pad(x, pairs, value)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = grads[0]
        if not self.indices:
            result = np.zeros(self.shape, dtype=grad.dtype)
            places, rest = inside(self.shape[len(self.shape) - len(self.pairs) :], self.pairs)
            result[rest] = grad[places]
            return (result,)
        for axis, index in enumerate(self.indices, -len(self.indices)):
            grad = scatter(grad, axis, index, None, self.shape[axis])
        return (grad,)
