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
        is_counted = target != ignore_index
        counts = None if is_counted.all() else is_counted
        index = (target if counts is None else np.where(counts, target, 0)).astype(np.intp)
        places = _places(log_p.shape, index)
        one = log_p.dtype.type(1)
        weights: Any = one if weight is None else weight[index]
        if counts is not None:
            weights = weights * counts
        loss = _counted(np.take(log_p, places) * -weights, counts)
        spread = None
        if label_smoothing > 0:
            spread = self._spread(log_p, weight, counts, label_smoothing)
            smooth = (spread * log_p).sum(axis=self.axis)
            loss = (1 - label_smoothing) * loss - _counted(smooth, counts)
        scale = total = one
        if reduction == "mean":
            is_one = weight is None and counts is None
            total = log_p.dtype.type(target.size) if is_one else weights.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            if reduction == "mean":
                scale = 1 / total
            self.shape, self.reduction = log_p.shape, reduction
            self.save(places, -(1 - label_smoothing) * weights, spread, scale, counts)
            return loss if reduction == "none" else loss.sum() / total

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        places, slope, spread, scale, counts = self.saved
        grad = grads[0] * scale
        grad_log_p = np.zeros(self.shape, dtype=slope.dtype)
        grad_log_p.reshape(-1)[places] = grad * slope
        if spread is not None:
            grad = np.expand_dims(grad, self.axis) if self.reduction == "none" else grad
            grad_log_p -= grad * spread
        # 0 also where the mean is over no place, and the gradient nan
        if counts is None:
            return (grad_log_p,)
        return (np.where(np.expand_dims(counts, self.axis), grad_log_p, 0),)

    def _spread(
        self, log_p: Array, weight: Array | None, counts: Array | None, label_smoothing: float
    ) -> Array:
        """Return the weight that label smoothing gives to every class at the places that count."""
        classes = log_p.shape[self.axis]
        share = np.full(classes, label_smoothing / classes, dtype=log_p.dtype)
        if weight is not None:
            share *= weight
        if self.axis:
            share = share.reshape(-1, *(1,) * (log_p.ndim - 2))
        return share if counts is None else share * np.expand_dims(counts, self.axis)


def _places(shape: tuple[int, ...], index: Array) -> Array:
    """Return the places in C order of each place's class ``index``, in ``(N, C, *size)``."""
    if len(shape) == 1:
        return index
    size = math.prod(shape[2:])
    first = np.arange(shape[0], dtype=np.intp) * (shape[1] * size)
    if size == 1:
        return first.reshape(first.size, *(1,) * (index.ndim - 1)) + index
    pixels = np.arange(size, dtype=np.intp).reshape(shape[2:])
    return first.reshape(first.size, *(1,) * (index.ndim - 1)) + index * size + pixels


def _counted(x: Array, counts: Array | None) -> Array:
    return x if counts is None else np.where(counts, x, 0)


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
