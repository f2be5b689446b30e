"""Functions of two arrays, element by element, with broadcasting.

The arrays arrive in one common type: promotion is done by the tensors above.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Number
from .channels import quotient, scaled, sum_of_products
from .operation import Array, Operation, unbroadcast

__all__ = [
    "Add",
    "Atan2",
    "Binary",
    "Div",
    "FloorDiv",
    "Fmod",
    "Hypot",
    "Lerp",
    "LogAddExp",
    "Mul",
    "Pow",
    "Remainder",
    "Sub",
    "Where",
    "XLogY",
    "shape_of",
]


def shape_of(value: Number | Array | None) -> tuple[int, ...]:
    """Shape of an array; a plain number has shape ``()``."""
    return getattr(value, "shape", ())


class Binary(Operation):
    """Remembers both shapes and sums each gradient back to its operand's shape."""

    def reduced(self, grad_a: Array | None, grad_b: Array | None) -> tuple[Array | None, ...]:
        shape_a, shape_b = self.shapes
        return (
            None if grad_a is None else unbroadcast(grad_a, shape_a),
            None if grad_b is None else unbroadcast(grad_b, shape_b),
        )

    def note_shapes(self, a: Number | Array, b: object) -> None:
        self.shapes = getattr(a, "shape", ()), getattr(b, "shape", ())


class Add(Binary):
    """``a + b``."""

    compute = staticmethod(np.add)

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        return a + b

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        need_a, need_b = self.needs
        return self.reduced(grads[0] if need_a else None, grads[0] if need_b else None)


class Sub(Binary):
    """``a - b``."""

    compute = staticmethod(np.subtract)

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        return a - b

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        need_a, need_b = self.needs
        return self.reduced(grads[0] if need_a else None, -grads[0] if need_b else None)


class Mul(Binary):
    """``a * b``."""

    compute = staticmethod(scaled)
    makes_gradients = True

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        self.save(a if self.needs[1] else None, b if self.needs[0] else None)
        return scaled(a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        shape_a, shape_b = self.shapes
        return (
            sum_of_products(grads[0], b, shape_a) if self.needs[0] else None,
            sum_of_products(grads[0], a, shape_b) if self.needs[1] else None,
        )


class Div(Binary):
    """``a / b``."""

    compute = staticmethod(quotient)

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        self.save(a if self.needs[1] else None, b if any(self.needs) else None)
        return quotient(a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        shape_a, shape_b = self.shapes
        grad_a = grad_b = None
        if self.needs[0]:
            grad_a = unbroadcast(quotient(grads[0], b), shape_a)
        if self.needs[1] and shape_b == grads[0].shape:
            grad_b = -grads[0] * (a / b) / b
        elif self.needs[1]:
            # The divisor is the same along the axes of the sum.
            grad_b = -sum_of_products(grads[0], a, shape_b) / b / b
        return grad_a, grad_b


class FloorDiv(Binary):
    """``floor(a / b)``, exact where the quotient would round up; constant between its steps."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        return np.where(b == 0, a / b, np.floor_divide(a, b))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        zero = np.zeros_like(grads[0])
        return self.reduced(
            zero if self.needs[0] else None,
            zero if self.needs[1] else None,
        )


class Pow(Binary):
    """``a ** b``; small exponents are products and roots, as in ``torch``."""

    @staticmethod
    def compute(a: Array, b: Array) -> Array:
        return _power(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        result = _power(a, b)
        self.save(
            a if any(self.needs) else None,
            b if any(self.needs) else None,
            result if self.needs[1] else None,
        )
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b, result = self.saved
        grad_a = grad_b = None
        if self.needs[0]:
            one = np.asarray(1, dtype=grads[0].dtype)
            below = np.asarray(b - one) if isinstance(b, np.ndarray) else b - one
            grad_a = np.where(b == 0, 0 * one, grads[0] * (b * _power(a, below)))
        if self.needs[1]:
            grad_b = grads[0] * np.where((a == 0) & (b >= 0), 0 * result, result * np.log(a))
        return self.reduced(grad_a, grad_b)


def _power(a: Array, b: Any) -> Array:
    """``a ** b``; the number 1/2, but no tensor, means the root: -0.0 of -0.0 and nan of -inf."""
    if isinstance(b, np.ndarray) and b.size == 1 and abs(b.item()) == 0.5:
        # NumPy takes the root then, too: of what has the power that is meant.
        a = np.where(a == -np.inf, np.inf, a) + 0.0
    if shape_of(b) == () and a.dtype.kind == "f":
        one = a.dtype.type(1)
        match float(b):
            case 2.0:
                return a * a
            case 3.0:
                return a * a * a
            case 0.5:
                return np.sqrt(a)
            case -0.5:
                return one / np.sqrt(a)
            case -1.0:
                return one / a
            case -2.0:
                return one / (a * a)
    return np.power(a, b)


def _refuse_integer_zero(b: Any) -> None:
    if b.dtype.kind in "iub" and not np.all(b):
        raise RuntimeError("ZeroDivisionError: the remainder of a division of integers by zero")


class Remainder(Binary):
    """``a - floor(a / b) * b``: the sign is that of ``b``."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        _refuse_integer_zero(b)
        self.save(a if self.needs[1] else None, b if self.needs[1] else None)
        return np.remainder(a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        need_a, need_b = self.needs
        return self.reduced(
            grads[0] if need_a else None,
            -grads[0] * np.floor_divide(a, b) if need_b else None,
        )


class Fmod(Binary):
    """``a - trunc(a / b) * b``: the sign is that of ``a``."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        _refuse_integer_zero(b)
        self.save(a if self.needs[1] else None, b if self.needs[1] else None)
        return np.fmod(a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        need_a, need_b = self.needs
        return self.reduced(
            grads[0] if need_a else None,
            -grads[0] * np.trunc(a / b) if need_b else None,
        )


class Atan2(Binary):
    """Angle of the point ``(b, a)``, in [-pi, pi]; derivative 0 where both squares are 0."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        if any(self.needs):
            self.save(a, b)
        return np.arctan2(a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        norm = a * a + b * b
        norm = np.where(norm == 0, norm.dtype.type(np.inf), norm)
        return self.reduced(
            grads[0] * (b / norm) if self.needs[0] else None,
            grads[0] * (-a / norm) if self.needs[1] else None,
        )


class XLogY(Binary):
    """``a * log(b)``; 0 where ``a`` is 0, unless ``b`` is nan."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        if any(self.needs):
            self.save(a, b)
        zero = a.dtype.type(0)
        return np.where((a == 0) & ~np.isnan(b), zero, a * np.log(b))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        is_flat, zero = (a == 0) & (b <= 0), grads[0].dtype.type(0)
        return self.reduced(
            np.where(is_flat, zero, grads[0] * np.log(b)) if self.needs[0] else None,
            grads[0] * (a / b) if self.needs[1] else None,
        )


class Hypot(Binary):
    """``sqrt(a**2 + b**2)``, whose squares may leave the range."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        result = np.hypot(a, b)
        if any(self.needs):
            self.save(a, b, result)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b, result = self.saved
        return self.reduced(
            grads[0] * (a / result) if self.needs[0] else None,
            grads[0] * (b / result) if self.needs[1] else None,
        )


class LogAddExp(Binary):
    """``log(e**a + e**b)``, whose powers may leave the range."""

    def forward(self, a: Array, b: Array) -> Array:
        self.note_shapes(a, b)
        if any(self.needs):
            self.save(a, b)
        return np.logaddexp(a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        return self.reduced(
            grads[0] / (1 + np.exp(b - a)) if self.needs[0] else None,
            grads[0] / (1 + np.exp(a - b)) if self.needs[1] else None,
        )


class Where(Operation):
    """``a`` where ``condition`` holds, else ``b``."""

    runs_quietly = True
    compute = staticmethod(np.where)

    def forward(self, condition: Array, a: Array, b: Array) -> Array:
        self.shapes = shape_of(a), shape_of(b)
        self.save(condition)
        return np.where(condition, a, b)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (condition,) = self.saved
        zero = grads[0].dtype.type(0)
        shape_a, shape_b = self.shapes
        return (
            None,
            unbroadcast(np.where(condition, grads[0], zero), shape_a) if self.needs[1] else None,
            unbroadcast(np.where(condition, zero, grads[0]), shape_b) if self.needs[2] else None,
        )


class Lerp(Operation):
    """``start + weight * (end - start)``."""

    def forward(self, start: Array, end: Array, weight: Array) -> Array:
        self.shapes = shape_of(start), shape_of(end), shape_of(weight)
        difference = end - start
        if any(self.needs):
            self.save(weight, difference)
        near = start + weight * difference
        return np.where(np.abs(weight) < 0.5, near, end - difference * (1 - weight))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        weight, difference = self.saved
        one = grads[0].dtype.type(1)
        each = (
            grads[0] * (one - weight) if self.needs[0] else None,
            grads[0] * weight if self.needs[1] else None,
            grads[0] * difference if self.needs[2] else None,
        )
        return tuple(
            None if grad is None else unbroadcast(grad, shape)
            for grad, shape in zip(each, self.shapes, strict=True)
        )
