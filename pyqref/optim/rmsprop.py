"""Steps divided by the size of recent gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Steps divided by the root of an average of squares (Hinton, 2012).

    With gradient `g` (plus ``weight_decay * p``; equation ``eq-rmsprop``)::

        v = alpha * v + (1 - alpha) * g * g
        a = a + (1 - alpha) * (g - a)              (centered only)
        d = g / (sqrt(v - a * a) + eps)            (without a: sqrt(v))
        b = momentum * b + d                       (momentum only; otherwise b = d)
        p = p - lr * b

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    alpha
        Decay rate of the averages, >= 0.
    eps
        Added to the denominator, >= 0.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    momentum
        Part of the step before that is made again, >= 0.
    centered
        Subtract the square of the average gradient, which leaves its variance.
    maximize
        Go up instead of down.
    capturable, foreach, differentiable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.RMSprop``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.RMSprop([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(
            lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha
        )
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            state["square_avg"] = wrap(np.zeros_like(parameter))
            if group["momentum"] > 0:
                state["momentum_buffer"] = wrap(np.zeros_like(parameter))
            if group["centered"]:
                state["grad_avg"] = wrap(np.zeros_like(parameter))
        state["step"]._array += 1
        lr, alpha, square = group["lr"], group["alpha"], state["square_avg"]._array
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * parameter

        square *= alpha
        square += (1 - alpha) * grad * grad
        if group["centered"]:
            mean = state["grad_avg"]._array
            mean += (1 - alpha) * (grad - mean)
            square = square - mean * mean
        size = np.sqrt(square) + group["eps"]
        if group["momentum"] > 0:
            average = state["momentum_buffer"]._array
            average *= group["momentum"]
            average += grad / size
            parameter -= lr * average
        else:
            parameter += -lr * grad / size
