"""A learning rate that goes up and down."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..optimizer import Optimizer
from .momentum import check_momentum, per_group, set_momentum
from .scheduler import LRScheduler

__all__ = ["CyclicLR"]


class CyclicLR(LRScheduler):
    """Raise the rate from its base to a largest one and lower it, once a cycle (Smith, 2015).

    With `x` in [0, 1) the part of a cycle that is over and `r` the part in which the rate
    rises::

        height = (max_lr - base_lr) * (x / r  if x <= r  else  (x - 1) / (r - 1))
        lr = base_lr + height * scale

    The scale is 1 (``"triangular"``), halved every cycle (``"triangular2"``), or
    ``gamma**iterations`` (``"exp_range"``). The momentum goes the other way.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    base_lr, max_lr
        The ends of a cycle, for all groups or each.
    step_size_up, step_size_down
        Iterations of the two halves; the second is as long as the first by default.
    mode
        ``"triangular"``, ``"triangular2"`` or ``"exp_range"``.
    gamma
        See above.
    scale_fn, scale_mode
        A function for the scale, of ``"cycle"`` (1 at first) or ``"iterations"``.
    cycle_momentum
        Whether the momentum, or the first of the betas, changes too.
    base_momentum, max_momentum
        Its ends.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> parameter = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.SGD([parameter], lr=1.0, momentum=0.9)
    >>> scheduler = pyqref.optim.lr_scheduler.CyclicLR(optimizer, 0.5, 1.0, step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.75, 1.0, 0.75, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        lowest = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest, strict=True):
                group["lr"] = rate
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                f"mode must be 'triangular', 'triangular2' or 'exp_range', got {mode!r}; "
                "or give scale_fn"
            )
        self.mode = mode
        self.gamma = gamma
        self._custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            check_momentum(optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                pairs = zip(
                    optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
                )
                for group, least, most in pairs:
                    set_momentum(group, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """The scale of a cycle or an iteration."""
        if self._custom is not None:
            return self._custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[float]:
        """The rates of this iteration; sets the momentum as well."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        factor = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            pairs = zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            )
            for group, least, most in pairs:
                set_momentum(group, most - (most - least) * factor * scale)
        return [
            low + (high - low) * factor * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return the base class's state, with the attributes of ``scale_fn`` if it is an object."""
        state = super().state_dict()
        custom = state.pop("_custom")
        has_attributes = custom is not None and not isinstance(custom, FunctionType)
        state["_scale_fn_custom"] = dict(custom.__dict__) if has_attributes else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; the function stays the one given here."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if attributes is not None and self._custom is not None:
            self._custom.__dict__.update(attributes)
