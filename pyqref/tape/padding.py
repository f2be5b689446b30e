"""Padding: a border of a constant, or of elements of the array itself."""

from __future__ import annotations

import functools

import numpy as np

from pyqref import _kernels
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


@functools.lru_cache(maxsize=64)
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


def _bordered(x: Array, pairs: tuple[tuple[int, int], ...], mode: str) -> Array:
    """A border of elements of the last axes of ``x``, made axis by axis in a larger copy."""
    crops = [slice(max(-before, 0), min(after, 0) or None) for before, after in pairs]
    if mode == "circular":
        x = x[(..., *crops)]
    wider = tuple([(max(before, 0), max(after, 0)) for before, after in pairs])
    y = _kernels.pad(x, wider, 0)
    for axis, (before, after) in enumerate(wider, -len(wider)):
        along = np.moveaxis(y, axis, 0)
        length = len(along)
        source = before + border_indices(length - before - after, before, after, mode)
        for places in (slice(before), slice(length - after, length)):
            for place, element in enumerate(source[places].tolist(), places.start or 0):
                along[place] = along[element]
    return y if mode == "circular" else np.ascontiguousarray(y[(..., *crops)])


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
            return _bordered(x, pairs, mode)
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
