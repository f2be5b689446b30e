"""The inverse of matrices."""

from __future__ import annotations

import numpy as np

from .operation import Array, Operation

__all__ = ["Inverse"]


class Inverse(Operation):
    r""":math:`Y = X^{-1}` for stacks of square matrices; :math:`\nabla_X = -Y^T \nabla_Y Y^T`."""

    saves_own = True

    def forward(self, x: Array) -> Array:
        result: Array = np.linalg.inv(x)
        self.save(result)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (inverse,) = self.saved
        turned = np.swapaxes(inverse, -1, -2)
        return (-(turned @ grads[0] @ turned),)
