"""The larger or smaller of two arrays, element by element, and arrays kept within bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref import _kernels

from .._typing import Number
from .elementwise import Binary, shape_of
from .operation import Array, Operation, unbroadcast

__all__ = ["Clamp", "Maximum", "Minimum"]


class _Extremum(Binary):
    """The larger or smaller of two.

    Equal operands share the gradient in halves. Beside a nan neither loses: both have all of it.
    """

    loses: np.ufunc
    runs_quietly = True

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        result: Array = self.compute(a, b)
        if any(self.needs):
            half = np.where(a == b, result.dtype.type(0.5), result.dtype.type(1))
            self.save(half, self.loses(a, b), self.loses(b, a))
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        half, a_loses, b_loses = self.saved
        grad = grads[0] * half
        return self.reduced(
            np.where(a_loses, grad.dtype.type(0), grad) if self.needs[0] else None,
            np.where(b_loses, grad.dtype.type(0), grad) if self.needs[1] else None,
        )


class Maximum(_Extremum):
    """``max(a, b)``; a nan in either is kept."""

    compute, loses = staticmethod(np.maximum), np.less


class Minimum(_Extremum):
    """``min(a, b)``; a nan in either is kept."""

    compute, loses = staticmethod(np.minimum), np.greater


def _between(a: Array, low: Number | Array | None, high: Number | Array | None) -> Array | None:
    """Return what a kernel gives for float32 and numbers, or None; a zero keeps its sign."""
    first: Any = -math.inf if low is None else low
    second: Any = math.inf if high is None else high
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return None
    if first != first or second != second:  # nan, which the result is then
        return None
    return _kernels.activation("hardtanh", a, first, second)


class Clamp(Operation):
    """``min(max(a, low), high)``; the gradient passes where ``low <= a <= high``."""

    runs_quietly = True

    @staticmethod
    def compute(a: Array, low: Number | Array | None, high: Number | Array | None) -> Array:
        result = _between(a, low, high)
        if result is not None:
            return result
        result = a
        if low is not None:
            result = np.maximum(result, low)
        if high is not None:
            result = np.minimum(result, high)
        return result.copy() if result is a else result

    def forward(self, a: Array, low: Number | Array | None, high: Number | Array | None) -> Array:
        result = self.compute(a, low, high)
        if any(self.needs):
            inside = np.ones(result.shape, dtype=np.bool_)
            below = above = ~inside
            if low is not None:
                inside, below = inside & (a >= low), a < low
            if high is not None:
                inside, above = inside & (a <= high), a > high
            if low is not None and high is not None:
                below, above = below & (low < high), above | (low > high)
            self.save(inside, below, above)
            self.shapes = tuple(shape_of(each) for each in (a, low, high))
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return tuple(
            unbroadcast(np.where(passes, grads[0], grads[0].dtype.type(0)), shape) if need else None
            for passes, shape, need in zip(self.saved, self.shapes, self.needs, strict=True)
        )
