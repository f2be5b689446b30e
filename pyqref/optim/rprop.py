"""Steps that only the sign of the gradient decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array
from ..tensor.base import wrap
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun, 1993), for gradients of whole data sets.

    Each element has a step size `s`, ``lr`` at first (equation ``eq-rprop``)::

        s = clamp(s * etas[1], *step_sizes)        where the sign of the gradient stayed
        s = clamp(s * etas[0], *step_sizes)        where it changed, and g = 0 for now
        p = p - sign(g) * s

    Parameters
    ----------
    params
        See :class:`Optimizer`.
    lr
        Learning rate, >= 0.
    etas
        By what a step shrinks, in (0, 1), and grows, > 1.
    step_sizes
        The smallest and the largest step.
    maximize
        Go up instead of down.
    capturable, foreach, differentiable
        Settings of ``torch`` that have no meaning here; True is refused or warned of.

    Notes
    -----
    Source: documentation of ``torch.optim.Rprop``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.Rprop([weight], lr=0.1)
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}; use (0, 1) and > 1")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
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
            state["prev"] = wrap(np.zeros_like(parameter))
            state["step_size"] = wrap(np.full_like(parameter, group["lr"]))
        state["step"]._array += 1
        before, size = state["prev"]._array, state["step_size"]._array
        shrink, grow = group["etas"]
        agreement = grad * before
        factor = np.where(agreement > 0, grow, np.where(agreement < 0, shrink, 1))
        size *= factor.astype(size.dtype)
        np.clip(size, *group["step_sizes"], out=size)
        grad = np.where(agreement < 0, 0, grad).astype(grad.dtype)
        parameter -= np.sign(grad) * size
        before[...] = grad
