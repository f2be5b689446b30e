"""Losses of classes: the negative log-likelihood of indices or of probabilities.

Log-probabilities are ``(N, C, *size)`` with the classes on axis 1, or ``(C,)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .operation import Array, Operation

__all__ = ["Nll", "ProbabilityNll"]


class Nll(Operation):
    """``Nll(log_p, target, weight, ignore_index, label_smoothing, reduction)``.

    ``-w[t] * log_p[t]`` for the class ``t`` of each place, 0 where ``t`` is
    ``ignore_index``. The mean is over the weights ``w[t]`` of the places that count.
    With label smoothing ``s`` the target is ``1 - s`` times the class plus ``s / C`` times
    every class.
    """

    def forward(
        self,
        log_p: Array,
        target: Array,
        weight: Array | None,
        ignore_index: int,
        label_smoothing: float,
        reduction: str,
    ) -> Array:
        self.axis = 1 if log_p.ndim > 1 else 0
        counts = target != ignore_index
        index = np.expand_dims(np.where(counts, target, 0), self.axis)
        weights = counts.astype(log_p.dtype)
        if weight is not None:
            weights *= weight[index.squeeze(self.axis)]
        chosen = np.take_along_axis(log_p, index, self.axis).squeeze(self.axis)
        loss = np.where(counts, -chosen * weights, 0)
        spread = None
        if label_smoothing > 0:
            spread = self._spread(log_p, weight, counts, label_smoothing)
            smooth = (spread * log_p).sum(axis=self.axis)
            loss = (1 - label_smoothing) * loss - np.where(counts, smooth, 0)
        scale: Any = log_p.dtype.type(1)
        if reduction == "mean":
            with np.errstate(divide="ignore"):
                scale = 1 / weights.sum()
        self.shape, self.reduction = log_p.shape, reduction
        self.save(index, -(1 - label_smoothing) * weights, spread, scale, counts)
        if reduction == "none":
            return loss
        with np.errstate(invalid="ignore"):
            return loss.sum() * scale if reduction == "sum" else loss.sum() / weights.sum()

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        index, slope, spread, scale, counts = self.saved
        grad = grads[0] * scale
        grad_log_p = np.zeros(self.shape, dtype=slope.dtype)
        place = np.expand_dims(grad * slope, self.axis)
        np.put_along_axis(grad_log_p, index, place, self.axis)
        if spread is not None:
            grad = np.expand_dims(grad, self.axis) if self.reduction == "none" else grad
            grad_log_p -= grad * spread
        # 0 also where the mean is over no place, and the gradient nan
        if counts.all():
            return (grad_log_p,)
        return (np.where(np.expand_dims(counts, self.axis), grad_log_p, 0),)

    def _spread(
        self, log_p: Array, weight: Array | None, counts: Array, label_smoothing: float
    ) -> Array:
        """What label smoothing gives to every class at the places that count."""
        classes = log_p.shape[self.axis]
        share = np.full(classes, label_smoothing / classes, dtype=log_p.dtype)
        if weight is not None:
            share *= weight
        if self.axis == 0:
            return share * counts
        return share.reshape(-1, *(1,) * (log_p.ndim - 2)) * np.expand_dims(counts, 1)


class ProbabilityNll(Operation):
    """``ProbabilityNll(log_p, target, weight, label_smoothing, reduction)``.

    ``-sum(w * target * log_p)`` over the classes, for targets that are probabilities. The
    mean is over the places.
    """

    def forward(
        self,
        log_p: Array,
        target: Array,
        weight: Array | None,
        label_smoothing: float,
        reduction: str,
    ) -> Array:
        self.axis = 1 if log_p.ndim > 1 else 0
        classes = log_p.shape[self.axis]
        column = (-1, *(1,) * (log_p.ndim - 1 - self.axis))
        w = log_p.dtype.type(1) if weight is None else weight.reshape(column)
        smooth = target * (1 - label_smoothing) + label_smoothing / classes
        loss = -(w * smooth * log_p).sum(axis=self.axis)
        self.reduction = reduction
        self.count = math.prod(loss.shape)
        self.save(w * smooth, w * log_p * (1 - label_smoothing) if self.needs[1] else None)
        if reduction == "none":
            return loss
        return loss.sum() if reduction == "sum" else loss.sum() / loss.dtype.type(self.count)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        weights, log_p = self.saved
        grad = grads[0]
        if self.reduction == "mean":
            grad = grad / self.count
        elif self.reduction == "none":
            grad = np.expand_dims(grad, self.axis)
        return -grad * weights, None if log_p is None else -grad * log_p
