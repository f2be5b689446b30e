"""Several schedules of one optimiser: at the same time, or one after the other."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Several(LRScheduler):
    """Schedules of one optimiser."""

    _schedulers: list[Any]

    def _check(self, optimizer: Optimizer | None, schedulers: Sequence[Any]) -> Optimizer:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler, got none")
        found: Optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        for number, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name}: scheduler {number} has no `optimizer`")
            if scheduler.optimizer is not found:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but "
                    f"scheduler {number} belongs to another one"
                )
        return found

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser, with the states of the schedules."""
        left_out = ("optimizer", "_schedulers")
        state = {key: value for key, value in self.__dict__.items() if key not in left_out}
        return {**state, "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(_Several):
    """Schedules that all step at the same time, each from the rate that it finds.

    Parameters
    ----------
    schedulers
        Schedules of one optimiser.
    optimizer
        This optimiser; that of the first schedule by default.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> schedules = [ConstantLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)]
    >>> scheduler = ChainedScheduler(schedules)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.25, 0.25, 0.125]
    """

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        self.optimizer = self._check(optimizer, schedulers)
        self._schedulers = list(schedulers)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Step all schedules."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


class SequentialLR(_Several):
    """Schedules in a row: each begins where the one before ends.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    schedulers
        Its schedules.
    milestones
        The epochs at which the second and all further schedules begin.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> schedules = [ConstantLR(optimizer, 0.25), ExponentialLR(optimizer, 0.5)]
    >>> scheduler = SequentialLR(optimizer, schedules, milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.25, 0.25, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[Any],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "SequentialLR expects one milestone less than schedulers, got "
                f"{len(schedulers)} schedulers and {len(milestones)} milestones"
            )
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        # Each schedule has made its first step by now; only that of the first one counts.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        _undo(schedulers)
        _begin(schedulers[0])
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Step the schedule of this epoch."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            scheduler._update(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _undo(schedulers: list[Any]) -> None:
    for scheduler in schedulers:
        if isinstance(scheduler, _Several):
            _undo(scheduler._schedulers)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1


def _begin(scheduler: Any) -> None:
    scheduler._is_initial = True
    scheduler._step_count = 0
    if isinstance(scheduler, _Several):
        with warnings.catch_warnings():
            # The optimiser has made no step yet, and need not have.
            warnings.simplefilter("ignore", UserWarning)
            scheduler.step()
    else:
        scheduler._advance(None)
    scheduler._is_initial = False
