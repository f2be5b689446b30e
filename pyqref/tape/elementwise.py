"""Arithmetic of two arrays, element by element, with broadcasting."""

from __future__ import annotations

from .operation import Array, Operation, unbroadcast

__all__ = ["Add", "Mul"]


class Add(Operation):
    """``a + b``."""

    def forward(self, a: Array, b: Array) -> Array:
        self.shapes = getattr(a, "shape", ()), getattr(b, "shape", ())
        return a + b

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        shape_a, shape_b = self.shapes
        return unbroadcast(grads[0], shape_a), unbroadcast(grads[0], shape_b)


class Mul(Operation):
    """``a * b``."""

    def forward(self, a: Array, b: Array) -> Array:
        self.shapes = getattr(a, "shape", ()), getattr(b, "shape", ())
        self.save(a if self.needs[1] else None, b if self.needs[0] else None)
        return a * b

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        shape_a, shape_b = self.shapes
        return (
            unbroadcast(grads[0] * b, shape_a) if self.needs[0] else None,
            unbroadcast(grads[0] * a, shape_b) if self.needs[1] else None,
        )
