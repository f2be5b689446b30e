"""Losses that compare prediction and target element by element.

Each class states the loss of one element, :meth:`~ElementwiseLoss.value`, above its
derivatives, :meth:`~ElementwiseLoss.slopes`; the base class takes the mean or sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .activation import softplus
from .operation import Array, Operation, unbroadcast
from .unary import sigmoid, sign

__all__ = [
    "BinaryCrossEntropy",
    "BinaryCrossEntropyWithLogits",
    "ElementwiseLoss",
    "Huber",
    "KlDiv",
    "L1",
    "Mse",
    "SmoothL1",
    "reduce",
]


def reduce(loss: Array, reduction: str) -> Array:
    """All of the losses (``"none"``), their ``"sum"`` or their ``"mean"``; nan of none at all."""
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        return loss.sum() / loss.dtype.type(loss.size)


class ElementwiseLoss(Operation):
    """``Loss(input, target, reduction, *parameters)``; the two are broadcast together."""

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        """Loss of each element."""
        raise NotImplementedError(f"{type(self).__name__}.value")

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        """Its derivatives by input and by target."""
        raise NotImplementedError(f"{type(self).__name__}.slopes")

    def forward(self, x: Array, target: Array, reduction: str, *parameters: Any) -> Array:
        loss = self.value(x, target, *parameters)
        self.reduction, self.size = reduction, loss.size
        self.shapes = x.shape, target.shape
        if self.needs[0] or self.needs[1]:
            self.save(*self.slopes(x, target, *parameters))
        return reduce(loss, reduction)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = grads[0]
        if self.reduction == "mean":
            grad = grad / max(self.size, 1)
        return tuple(
            unbroadcast(grad * slope, shape) if need else None
            for slope, shape, need in zip(self.saved, self.shapes, self.needs, strict=False)
        )


class Mse(ElementwiseLoss):
    """``Mse(input, target, reduction)``: ``(input - target)^2``."""

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        return (x - target) ** 2

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        slope = 2 * (x - target)
        return slope, -slope


class L1(ElementwiseLoss):
    """``L1(input, target, reduction)``: ``|input - target|``; slope 0 at 0 and at nan."""

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        return np.abs(x - target)

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        slope = sign(x - target)
        return slope, -slope


class Huber(ElementwiseLoss):
    """``Huber(input, target, reduction, delta)``.

    ``d^2 / 2`` where ``d = |input - target|`` is at most ``delta``, else
    ``delta * (d - delta / 2)``.
    """

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        (delta,) = parameters
        d = np.abs(x - target)
        return np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        (delta,) = parameters
        slope = np.clip(x - target, -delta, delta)
        return slope, -slope


class SmoothL1(ElementwiseLoss):
    """``SmoothL1(input, target, reduction, beta)``: the Huber loss over its ``delta``, ``beta``."""

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        (beta,) = parameters
        d = np.abs(x - target)
        return np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        (beta,) = parameters
        slope = np.clip((x - target) / beta, -1, 1)
        return slope, -slope


class BinaryCrossEntropy(ElementwiseLoss):
    """``BinaryCrossEntropy(input, target, reduction)`` of probabilities in [0, 1].

    ``-(target * log(input) + (1 - target) * log(1 - input))``, the logarithms not below
    -100.
    """

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        with np.errstate(divide="ignore"):
            log_x = np.maximum(np.log(x), -100)
            log_not_x = np.maximum(np.log1p(-x), -100)
        return (target - 1) * log_not_x - target * log_x

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        with np.errstate(divide="ignore"):
            log_odds = np.log1p(-x) - np.log(x)
        return (x - target) / np.maximum((1 - x) * x, x.dtype.type(1e-12)), log_odds


class BinaryCrossEntropyWithLogits(ElementwiseLoss):
    """``BinaryCrossEntropyWithLogits(input, target, reduction, pos_weight)``.

    ``-(pos_weight * target * log(p) + (1 - target) * log(1 - p))`` with
    ``p = sigmoid(input)``; ``pos_weight`` is an array or 1.
    """

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        (pos_weight,) = parameters
        return (1 - target) * x + ((pos_weight - 1) * target + 1) * softplus(-x)

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        (pos_weight,) = parameters
        slope = (1 - target) - ((pos_weight - 1) * target + 1) * sigmoid(-x)
        return slope, -x + (pos_weight - 1) * softplus(-x)


class KlDiv(ElementwiseLoss):
    """``KlDiv(input, target, reduction, log_target)``.

    ``target * (log(target) - input)``, 0 where ``target`` is 0; with ``log_target`` the
    target is given by its logarithm. As in torch, the slope of a target of 0 is nan.
    """

    def value(self, x: Array, target: Array, *parameters: float) -> Array:
        if parameters[0]:
            return np.exp(target) * (target - x)
        return target * _log_or_zero(target) - target * x

    def slopes(self, x: Array, target: Array, *parameters: float) -> tuple[Array, Array]:
        if parameters[0]:
            p = np.exp(target)
            return -p, p * (target - x + 1)
        slope = np.broadcast_to(-target, np.broadcast_shapes(x.shape, target.shape))
        return slope, _log_or_zero(target) + target / target - x


def _log_or_zero(target: Array) -> Array:
    return np.log(np.where(target == 0, target.dtype.type(1), target))
