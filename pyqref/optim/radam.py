"""Adam without the division while the average is too young."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero, check_betas

__all__ = ["RAdam"]


class RAdam(Optimizer):
    """Adam, rectified (Liu et al., 2019).

    With gradient `g` (plus ``weight_decay * p``) at step `t` (equation ``eq-radam``)::

        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g * g
        most = 2 / (1 - beta2) - 1
        rho = most - 2 * t * beta2**t / (1 - beta2**t)
        r = sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
        step = r * sqrt(1 - beta2**t) / (sqrt(v) + eps)  if rho > 5  else  1
        p = p - lr * m / (1 - beta1**t) * step

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
    decoupled_weight_decay
        Shrink the parameters by ``lr * weight_decay`` instead.
    maximize
        Go up instead of down.
    foreach, capturable, differentiable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.RAdam``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.RAdam([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
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

        mean += (1 - beta1) * (grad - mean)
        square *= beta2
        square += (1 - beta2) * grad * grad
        correction = 1 - beta2**step
        change = mean / (1 - beta1**step) * lr
        most = 2 / (1 - beta2) - 1
        length = most - 2 * step * beta2**step / correction
        if length > 5.0:
            rectified = (length - 4) * (length - 2) * most
            rectified = (rectified / ((most - 4) * (most - 2) * length)) ** 0.5
            change = change * (correction**0.5 / (np.sqrt(square) + group["eps"])) * rectified
        parameter -= change
