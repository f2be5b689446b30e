"""Adam that looks ahead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero, check_betas

__all__ = ["NAdam"]


class NAdam(Optimizer):
    """Adam with the momentum of Nesterov (Dozat, 2016).

    With gradient `g` (plus ``weight_decay * p``) at step `t` (equation ``eq-nadam``)::

        mu_t = beta1 * (1 - 0.96**(t * momentum_decay) / 2)
        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g * g
        d = sqrt(v / (1 - beta2**t)) + eps
        p = p - lr * (1 - mu_t) / (1 - mu_1 ... mu_t) * g / d
        p = p - lr * mu_(t+1) / (1 - mu_1 ... mu_(t+1)) * m / d

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    betas
        Decay rates of the two averages, in [0, 1).
    eps
        Added to the denominator, >= 0.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    momentum_decay
        How fast the momentum rises to beta1, >= 0.
    decoupled_weight_decay
        Shrink the parameters by ``lr * weight_decay`` instead.
    maximize
        Go up instead of down.
    foreach, capturable, differentiable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.NAdam``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.NAdam([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(
            lr=lr, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay
        )
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            state["mu_product"] = wrap(np.ones((), np.float32))
            state["exp_avg"] = wrap(np.zeros_like(parameter))
            state["exp_avg_sq"] = wrap(np.zeros_like(parameter))
        state["step"]._array += 1
        step, lr, (beta1, beta2) = state["step"]._array.item(), group["lr"], group["betas"]
        mean, square = state["exp_avg"]._array, state["exp_avg_sq"]._array
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                parameter *= 1 - lr * group["weight_decay"]
            else:
                grad = grad + group["weight_decay"] * parameter

        momentum, ahead = (
            beta1 * (1 - 0.5 * 0.96 ** (each * group["momentum_decay"]))
            for each in (step, step + 1)
        )
        state["mu_product"]._array *= momentum
        product = state["mu_product"]._array.item()
        mean += (1 - beta1) * (grad - mean)
        square *= beta2
        square += (1 - beta2) * grad * grad
        size = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        parameter += (-lr * (1 - momentum) / (1 - product)) * grad / size
        parameter += (-lr * ahead / (1 - product * ahead)) * mean / size
