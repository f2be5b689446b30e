"""Dropout: some elements become zero, the others grow to keep the mean."""

from __future__ import annotations

from .operation import Array, Operation

__all__ = ["Dropout"]


class Dropout(Operation):
    """``Dropout(x, keep, p)``: ``x * keep / (1 - p)``.

    ``keep`` is an array of zeros and ones that broadcasts to ``x``; ``p`` in [0, 1] is the
    probability of a zero. All of it is zero if ``p`` is 1.
    """

    def forward(self, x: Array, keep: Array, p: float) -> Array:
        scale = keep * x.dtype.type(0 if p == 1 else 1 / (1 - p))
        if self.needs[0]:
            self.save(scale)
        return x * scale

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (grads[0] * self.saved[0],)
