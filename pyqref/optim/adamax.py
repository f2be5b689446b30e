"""Steps divided by the largest recent gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero, check_betas

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the root (Kingma and Ba, 2014).

    With gradient `g` (plus ``weight_decay * p``) at step `t` (equation ``eq-adamax``)::

        m = m + (1 - beta1) * (g - m)
        u = max(beta2 * u, abs(g) + eps)
        p = p - lr / (1 - beta1**t) * m / u

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    betas
        Decay rates of the two averages, in [0, 1).
    eps
        Added to the size of a gradient, >= 0.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    maximize
        Go up instead of down.
    foreach, differentiable, capturable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.Adamax``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.Adamax([weight], lr=0.1)
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
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            state["exp_avg"] = wrap(np.zeros_like(parameter))
            state["exp_inf"] = wrap(np.zeros_like(parameter))
        state["step"]._array += 1
        step, (beta1, beta2) = state["step"]._array.item(), group["betas"]
        mean, largest = state["exp_avg"]._array, state["exp_inf"]._array
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * parameter

        mean += (1 - beta1) * (grad - mean)
        largest *= beta2
        np.maximum(largest, np.abs(grad) + group["eps"], out=largest)
        parameter += -(group["lr"] / (1 - beta1**step)) * mean / largest
