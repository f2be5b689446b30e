"""Rows of a table: looked up one by one, or summed, averaged or maximised bag by bag."""

from __future__ import annotations

import numpy as np

from pyqref import _kernels

from .operation import Array, Operation

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Operation):
    """``Embedding(weight, indices, padding_idx, scale_grad_by_freq)``: ``weight[indices]``.

    Row ``padding_idx``, if not None, gets no gradient; with ``scale_grad_by_freq`` the
    gradient of a row is over the number of times that it was looked up.
    """

    @staticmethod
    def compute(
        weight: Array, indices: Array, padding_idx: int | None, scale_grad_by_freq: bool
    ) -> Array:
        return _kernels.float_rows(weight, indices)

    def forward(
        self, weight: Array, indices: Array, padding_idx: int | None, scale_grad_by_freq: bool
    ) -> Array:
        self.shape = weight.shape
        self.padding_idx, self.scale_grad_by_freq = padding_idx, scale_grad_by_freq
        self.save(indices)
        return _kernels.float_rows(weight, indices)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (indices,) = self.saved
        grad = np.zeros(self.shape, dtype=grads[0].dtype)
        np.add.at(grad, indices.reshape(-1), grads[0].reshape(-1, self.shape[1]))
        if self.padding_idx is not None:
            grad[self.padding_idx] = 0
        if self.scale_grad_by_freq:
            count = np.bincount(indices.reshape(-1), minlength=self.shape[0])
            grad /= np.maximum(count, 1)[:, None].astype(grad.dtype)
        return (grad,)


class EmbeddingBag(Operation):
    """Rows of a table, joined bag by bag.

    ``EmbeddingBag(weight, indices, starts, ends, mode, per_sample_weights, scale_grad_by_freq)``:
    ``indices`` is a vector; each bag has those from its start to its end. The rows of a
    bag are reduced by ``mode``, ``"sum"`` (each row times its ``per_sample_weights`` if that is not
    None), ``"mean"`` or ``"max"``. An empty bag gives zeros.
    """

    @staticmethod
    def compute(
        weight: Array,
        indices: Array,
        starts: Array,
        ends: Array,
        mode: str,
        per_sample_weights: Array | None,
        scale_grad_by_freq: bool,
    ) -> Array:
        return _kernels.float_bag(weight, indices, starts, ends, per_sample_weights, mode)

    def forward(
        self,
        weight: Array,
        indices: Array,
        starts: Array,
        ends: Array,
        mode: str,
        per_sample_weights: Array | None,
        scale_grad_by_freq: bool,
    ) -> Array:
        self.shape, self.mode, self.scale_grad_by_freq = weight.shape, mode, scale_grad_by_freq
        y = self.compute(
            weight, indices, starts, ends, mode, per_sample_weights, scale_grad_by_freq
        )
        if not any(self.needs):
            return y
        lengths = ends - starts
        rows = weight[indices] if self.needs[5] or mode == "max" else None
        bags = np.repeat(np.arange(len(lengths)), lengths)
        divisor = np.maximum(lengths, 1)[:, None].astype(weight.dtype) if mode == "mean" else None
        self.filled, self.winners = lengths > 0, None
        if rows is not None and mode == "max" and len(rows):
            self.winners = _first_equal(rows, y[bags], starts[self.filled])
        self.save(indices, bags, per_sample_weights, divisor, rows if self.needs[5] else None)
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        indices, bags, per_sample_weights, divisor, rows = self.saved
        grad_weight = np.zeros(self.shape, dtype=grads[0].dtype)
        if self.mode == "max":
            if self.winners is not None:
                columns = np.arange(self.shape[1])
                at = (indices[self.winners], np.broadcast_to(columns, self.winners.shape))
                np.add.at(grad_weight, at, grads[0][self.filled])
            return (grad_weight,)
        grad = (grads[0] if divisor is None else grads[0] / divisor)[bags]
        grad_samples = (grad * rows).sum(axis=1) if self.needs[5] else None
        if per_sample_weights is not None:
            grad = grad * per_sample_weights[:, None]
        if self.scale_grad_by_freq:
            count = np.bincount(indices, minlength=self.shape[0])[indices]
            grad = grad / count[:, None].astype(grad.dtype)
        np.add.at(grad_weight, indices, grad)
        return grad_weight, None, None, None, None, grad_samples


def _first_equal(rows: Array, largest: Array, starts: Array) -> Array:
    """Return, for each bag and column, the first row that holds the largest value, or nan."""
    place = np.arange(len(rows))[:, None]
    holds = (rows == largest) | np.isnan(rows)
    return np.minimum.reduceat(np.where(holds, place, len(rows) - 1), starts)
