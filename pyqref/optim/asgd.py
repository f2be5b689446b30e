"""Gradient descent that also averages where it has been."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky, 1992).

    With gradient `g` (plus ``weight_decay * p``) at step `t` (equation ``eq-asgd``)::

        p = p * (1 - lambd * eta) - eta * g        (eta = lr, mu = 1 at first)
        ax = ax + (p - ax) * mu
        eta = lr / (1 + lambd * lr * t)**alpha
        mu = 1 / max(1, t - t0)

    The average `ax` stands in the state of each parameter.

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    lambd
        How fast parameters shrink.
    alpha
        Power with which the rate falls.
    t0
        The step after which averaging begins.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    maximize
        Go up instead of down.
    foreach, differentiable, capturable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.ASGD``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.ASGD([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
            state["eta"] = wrap(np.asarray(group["lr"], np.float32))
            state["mu"] = wrap(np.ones((), np.float32))
            state["ax"] = wrap(np.zeros_like(parameter))
        state["step"]._array += 1
        step, lr, lambd = state["step"]._array.item(), group["lr"], group["lambd"]
        eta, mu, average = (state[name]._array for name in ("eta", "mu", "ax"))
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * parameter

        parameter *= 1 - lambd * eta.item()
        parameter -= eta.item() * grad
        if mu.item() == 1:
            average[...] = parameter
        else:
            average += (parameter - average) * mu.item()
        eta[...] = lr / (1 + lambd * lr * step) ** group["alpha"]
        mu[...] = 1 / max(1, step - group["t0"])
