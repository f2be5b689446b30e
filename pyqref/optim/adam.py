"""Steps of a size that the history of each element decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero, check_betas

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Adaptive moments (Kingma and Ba, 2014).

    With gradient `g` (plus ``weight_decay * p``) at step `t` (equation ``eq-adam``)::

        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g * g
        p = p - lr / (1 - beta1**t) * m / (sqrt(v) / sqrt(1 - beta2**t) + eps)

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
    amsgrad
        Divide by the largest `v` so far (Reddi et al. 2018).
    maximize
        Go up instead of down.
    decoupled_weight_decay
        Shrink the parameters by ``lr * weight_decay`` instead, as :class:`AdamW` does.
    foreach, capturable, differentiable, fused
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.Adam``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.Adam([weight], lr=0.1)
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
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        lr, weight_decay = group["lr"], group["weight_decay"]
        beta1, beta2 = group["betas"]
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            state["exp_avg"] = wrap(np.zeros_like(parameter))
            state["exp_avg_sq"] = wrap(np.zeros_like(parameter))
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = wrap(np.zeros_like(parameter))
        state["step"]._array += 1
        step = state["step"]._array.item()
        if weight_decay != 0:
            if group["decoupled_weight_decay"]:
                parameter *= 1 - lr * weight_decay
            else:
                grad = grad + weight_decay * parameter
        mean, square = state["exp_avg"]._array, state["exp_avg_sq"]._array
        mean += (1 - beta1) * (grad - mean)
        square *= beta2
        square += (1 - beta2) * grad * grad
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._array
            np.maximum(largest, square, out=largest)
            square = largest
        denominator = np.sqrt(square) / (1 - beta2**step) ** 0.5 + group["eps"]
        parameter -= (lr / (1 - beta1**step)) * mean / denominator


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2017).

    As :class:`Adam`, but the decay does not pass through the averages (equation
    ``eq-adamw``): first ``p = p - lr * weight_decay * p``.

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr, betas, eps, amsgrad, maximize, foreach, capturable, differentiable, fused
        See :class:`Adam`.
    weight_decay
        Fraction of the parameters taken off, per unit of learning rate, >= 0.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.AdamW([weight], lr=0.1)
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
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
