"""Linear maps: of one vector, or bilinear in two."""

from __future__ import annotations

import math

import numpy as np

from .operation import Array, Operation
from .products import matmul
from .sums import total

__all__ = ["Bilinear", "Linear"]


class Linear(Operation):
    """``Linear(x, weight, bias)``: ``x @ weight^T + bias``.

    ``x`` is ``(*, in_features)``, ``weight`` ``(out_features, in_features)``, ``bias``
    ``(out_features,)`` or None.
    """

    makes_gradients = True

    @staticmethod
    def compute(x: Array, weight: Array, bias: Array | None) -> Array:
        rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) if x.ndim > 2 else x
        y = matmul(rows, weight.T, start=bias)
        return y.reshape(*x.shape[:-1], len(weight)) if x.ndim > 2 else y

    def forward(self, x: Array, weight: Array, bias: Array | None) -> Array:
        self.save(x if self.needs[1] else None, weight if self.needs[0] else None)
        return self.compute(x, weight, bias)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, weight = self.saved
        grad = grads[0]
        rows = grad.reshape(-1, grad.shape[-1]) if grad.size else grad.reshape(0, grad.shape[-1])
        grad_x = grad_weight = grad_bias = None
        if self.needs[0]:
            grad_x = matmul(rows, weight).reshape(*grad.shape[:-1], weight.shape[1])
        if self.needs[1]:
            grad_weight = matmul(rows.T, x.reshape(len(rows), x.shape[-1]))
        if self.needs[2]:
            grad_bias = total(rows, (0,))
        return grad_x, grad_weight, grad_bias


class Bilinear(Operation):
    """``Bilinear(x1, x2, weight, bias)``: ``x1^T W_k x2 + b_k`` for each output ``k``.

    ``x1`` is ``(*, in1)``, ``x2`` ``(*, in2)``, ``weight`` ``(out, in1, in2)``, ``bias``
    ``(out,)`` or None.
    """

    def forward(self, x1: Array, x2: Array, weight: Array, bias: Array | None) -> Array:
        self.save(x1, x2, weight)
        y = np.einsum("...i,kij,...j->...k", x1, weight, x2, optimize=True)
        return y if bias is None else y + bias

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x1, x2, weight = self.saved
        grad = grads[0]
        flat = grad.reshape(-1, grad.shape[-1])
        rows1, rows2 = x1.reshape(-1, x1.shape[-1]), x2.reshape(-1, x2.shape[-1])
        return (
            np.einsum("...k,kij,...j->...i", grad, weight, x2, optimize=True),
            np.einsum("...k,kij,...i->...j", grad, weight, x1, optimize=True),
            np.einsum("nk,ni,nj->kij", flat, rows1, rows2, optimize=True),
            total(flat, (0,)) if self.needs[3] else None,
        )
