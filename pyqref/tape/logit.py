"""The inverse of the sigmoid."""

from __future__ import annotations

import numpy as np

from .operation import Array, Operation

__all__ = ["Logit"]


class Logit(Operation):
    """``log(x / (1 - x))`` of ``x`` clamped to [eps, 1 - eps]; of ``x`` itself if None."""

    def forward(self, x: Array, eps: float | None) -> Array:
        self.eps = eps
        if self.needs[0]:
            self.save(x)
        inside = x if eps is None else np.clip(x, x.dtype.type(eps), x.dtype.type(1 - eps))
        return np.log(inside / (1 - inside))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (x,) = self.saved
        low, outside = (0.0, np.nan) if self.eps is None else (self.eps, 0.0)
        is_out = (x < low) | (x > 1 - low)
        return np.where(is_out, x.dtype.type(outside), grads[0] / (x * (1 - x))), None
