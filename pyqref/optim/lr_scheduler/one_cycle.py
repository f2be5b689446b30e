"""A learning rate that rises once and then falls far below its first value."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .momentum import check_momentum, per_group, set_momentum
from .scheduler import LRScheduler

__all__ = ["OneCycleLR"]


class OneCycleLR(LRScheduler):
    """One cycle over all of training (Smith and Topin, 2017).

    From ``max_lr / div_factor`` to ``max_lr``, then to
    ``max_lr / div_factor / final_div_factor``; along a cosine,
    ``end + (start - end) / 2 * (1 + cos(pi * x))``, or a line. The momentum goes the other way.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    max_lr
        The largest rate, for all groups or each.
    total_steps
        Calls of :meth:`step` in all, or None:
    epochs, steps_per_epoch
        Then it is their product.
    pct_start
        Part of the steps in which the rate rises, in [0, 1].
    anneal_strategy
        ``"cos"`` or ``"linear"``.
    cycle_momentum
        Whether the momentum, or the first of the betas, changes too.
    base_momentum, max_momentum
        Its ends.
    div_factor, final_div_factor
        See above.
    three_phase
        Fall to the first rate in as many steps as it rose, and then on to the last.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> parameter = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.SGD([parameter], lr=1.0, momentum=0.9)
    >>> scheduler = pyqref.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> [round(rate, 3) for rate in rates]
    [0.04, 0.95, 0.611, 0.188]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"pct_start must be in [0, 1], got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
        self._anneal_func_type = anneal_strategy
        first = float(pct_start * self.total_steps) - 1
        top = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
        self._schedule_phases: list[dict[str, Any]] = [_phase(first, *top)]
        if three_phase:
            back = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
            end = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
            self._schedule_phases += [
                _phase(float(2 * pct_start * self.total_steps) - 2, *back),
                _phase(self.total_steps - 1, *end),
            ]
        else:
            down = ("max_lr", "min_lr", "base_momentum", "max_momentum")
            self._schedule_phases += [_phase(self.total_steps - 1, *down)]
        if last_epoch == -1:
            largest = per_group("max_lr", optimizer, max_lr)
            for group, rate in zip(optimizer.param_groups, largest, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            check_momentum(optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            if last_epoch == -1:
                least = per_group("base_momentum", optimizer, base_momentum)
                most = per_group("max_momentum", optimizer, max_momentum)
                for group, low, high in zip(optimizer.param_groups, least, most, strict=True):
                    set_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self) -> list[float]:
        """The rates of this step; sets the momentum as well.

        Raises
        ------
        ValueError
            All steps were made.
        """
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        rates = []
        for group in self.optimizer.param_groups:
            start = 0.0
            for phase in self._schedule_phases:
                end = phase["end_step"]
                if step <= end or phase is self._schedule_phases[-1]:
                    break
                start = end
            part = (step - start) / (end - start)
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self._between(*ends, part))
        return rates


def _phase(end: float, start_lr: str, end_lr: str, start: str, momentum: str) -> dict[str, Any]:
    return {
        "end_step": end,
        "start_lr": start_lr,
        "end_lr": end_lr,
        "start_momentum": start,
        "end_momentum": momentum,
    }


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    given = {"total_steps": total_steps}
    if total_steps is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    count = 1
    for name, value in given.items():
        if value is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"{name} must be an integer > 0, got {value}")
        count *= value
    return count
