"""Gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["SGD"]


#: Elements of a step that are changed at a time: 128 KiB of float32.
_PIECE = 2**15


class SGD(Optimizer):
    """Stochastic gradient descent.

    With gradient `g` (plus ``weight_decay * p``) and momentum `mu` (equation
    ``eq-sgd``)::

        b = mu * b + (1 - dampening) * g          (b = g at the first step)
        p = p - lr * (g + mu * b  if nesterov else  b)

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    momentum
        mu, >= 0.
    dampening
        How much less of the gradient enters the average.
    weight_decay
        Factor of the squared length of the parameters in the loss, >= 0.
    nesterov
        Look ahead by one step of the average; needs momentum, and no dampening.
    maximize
        Go up instead of down.
    foreach, differentiable, fused
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.SGD``.

    Examples
    --------
    >>> import pyqref
    >>> p = pyqref.nn.Parameter(pyqref.tensor([1.0]))
    >>> optimizer = pyqref.optim.SGD([p], lr=0.25)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.tolist()
    [0.5]
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        momentum = group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * parameter
        if momentum != 0:
            if state.get("momentum_buffer") is None:
                state["momentum_buffer"] = wrap(np.array(grad, copy=True))
                average = state["momentum_buffer"]._array
            else:
                average = state["momentum_buffer"]._array
                average *= momentum
                fresh = 1 - group["dampening"]
                average += grad if fresh == 1 else fresh * grad
            grad = grad + momentum * average if group["nesterov"] else average
        _subtract_scaled(parameter, grad, group["lr"])


def _subtract_scaled(parameter: Array, grad: Array, factor: float) -> None:
    """``parameter -= factor * grad``, where both are large a piece at a time, in the cache."""
    if parameter.size <= _PIECE or not (parameter.flags.c_contiguous and grad.flags.c_contiguous):
        parameter -= factor * grad
        return
    parameter, grad = parameter.reshape(-1), grad.reshape(-1)
    for start in range(0, parameter.size, _PIECE):
        piece = slice(start, start + _PIECE)
        parameter[piece] -= factor * grad[piece]
