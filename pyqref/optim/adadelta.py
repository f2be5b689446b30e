"""Steps whose unit is that of the parameter itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Adaptive steps without a learning rate of their own (Zeiler, 2012).

    With gradient `g` (plus ``weight_decay * p``; equation ``eq-adadelta``)::

        v = rho * v + (1 - rho) * g * g
        d = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * d * d
        p = p - lr * d

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Factor of a step, >= 0.
    rho
        Decay rate of the two averages, in [0, 1].
    eps
        Added under the roots, >= 0.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    maximize
        Go up instead of down.
    foreach, capturable, differentiable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.Adadelta``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.Adadelta([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}; use [0, 1]")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "capturable": capturable,
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
            state["acc_delta"] = wrap(np.zeros_like(parameter))
        state["step"]._array += 1
        rho, eps = group["rho"], group["eps"]
        square, moved = state["square_avg"]._array, state["acc_delta"]._array
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * parameter

        square *= rho
        square += (1 - rho) * grad * grad
        delta = np.sqrt(moved + eps) / np.sqrt(square + eps) * grad
        moved *= rho
        moved += (1 - rho) * delta * delta
        parameter -= group["lr"] * delta
