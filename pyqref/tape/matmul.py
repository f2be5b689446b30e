"""Matrix products."""

from __future__ import annotations

import numpy as np

from . import products
from .operation import Array, Operation, unbroadcast

__all__ = ["Einsum", "Matmul", "product"]

_FLOAT32 = np.dtype(np.float32)


def product(a: Array, b: Array) -> Array:
    """``a @ b``; half precision is summed in single precision."""
    if a.dtype == b.dtype == _FLOAT32 and a.ndim > 1 < b.ndim:
        return products.matmul(a, b)
    if a.dtype == np.float16:
        return product(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    return products.multiply(a, b)


_LABELS = {
    (1, 1): "DotBackward0",
    (2, 1): "MvBackward0",
    (2, 2): "MmBackward0",
    (3, 3): "BmmBackward0",
}


class Matmul(Operation):
    """Product of vectors, matrices, or stacks of matrices, which broadcast."""

    compute = staticmethod(product)

    def forward(self, a: Array, b: Array) -> Array:
        self.save(a if self.needs[1] else None, b if self.needs[0] else None)
        self.shapes = a.shape, b.shape
        self.label = _LABELS.get((a.ndim, b.ndim))
        return np.asarray(product(a, b))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        a, b = self.saved
        shape_a, shape_b = self.shapes
        grad = grads[0]
        if len(shape_b) == 1:
            grad = grad[..., np.newaxis]
        if len(shape_a) == 1:
            grad = grad[..., np.newaxis, :]
        grad_a = grad_b = None
        if self.needs[0]:
            columns = b[:, np.newaxis] if len(shape_b) == 1 else b
            grad_a = product(grad, columns.swapaxes(-1, -2))
            grad_a = unbroadcast(grad_a, (1, *shape_a) if len(shape_a) == 1 else shape_a)
            grad_a = grad_a.reshape(shape_a)
        if self.needs[1]:
            rows = a[np.newaxis, :] if len(shape_a) == 1 else a
            grad_b = product(rows.swapaxes(-1, -2), grad)
            grad_b = unbroadcast(grad_b, (*shape_b, 1) if len(shape_b) == 1 else shape_b)
            grad_b = grad_b.reshape(shape_b)
        return grad_a, grad_b


class Einsum(Operation):
    """Einstein's sum; each operand names an axis at most once, the result is explicit."""

    def forward(self, equation: str, *operands: Array) -> Array:
        inputs, self.output = equation.split("->")
        self.inputs = inputs.split(",")
        self.save(*operands)
        return np.asarray(np.einsum(equation, *operands, optimize=len(operands) > 1))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return None, *(
            self._gradient(position, grads[0]) if need else None
            for position, need in enumerate(self.needs[1:])
        )

    def _gradient(self, position: int, grad: Array) -> Array:
        own = self.inputs[position]
        names = [self.output, *self.inputs[:position], *self.inputs[position + 1 :]]
        arrays = [grad, *self.saved[:position], *self.saved[position + 1 :]]
        reached = "".join(name for name in own if any(name in other for other in names))
        result = np.einsum(f"{','.join(names)}->{reached}", *arrays, optimize=True)
        shape = [
            length if name in reached else 1
            for name, length in zip(own, self.saved[position].shape, strict=True)
        ]
        return np.broadcast_to(np.asarray(result).reshape(shape), self.saved[position].shape)
