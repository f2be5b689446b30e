"""Steps that shrink with all gradients so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Adaptive steps from the sum of squares (Duchi, Hazan and Singer, 2011).

    With gradient `g` (plus ``weight_decay * p``) at step `t` (equation ``eq-adagrad``)::

        s = s + g * g                              (initial_accumulator_value at first)
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    lr_decay
        How fast the learning rate falls, >= 0.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    initial_accumulator_value
        First value of the sum, >= 0.
    eps
        Added to the denominator, >= 0.
    maximize
        Go up instead of down.
    foreach, differentiable, fused
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.Adagrad``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.Adagrad([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least_zero(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self._start(self.state[parameter], parameter._array, group)

    def _start(self, state: dict[str, Any], parameter: Array, group: dict[str, Any]) -> None:
        """The state before the first step; it is there from the beginning."""
        state["step"] = wrap(np.zeros((), np.float32))
        state["sum"] = wrap(np.full_like(parameter, group["initial_accumulator_value"]))

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        if not state:
            self._start(state, parameter, group)
        state["step"]._array += 1
        step, total = state["step"]._array.item(), state["sum"]._array
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * parameter

        lr = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        total += grad * grad
        parameter += -lr * grad / (np.sqrt(total) + group["eps"])
