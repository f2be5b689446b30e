"""Base class of all schedules."""

from __future__ import annotations

import warnings
from typing import Any

from ..optimizer import Optimizer

__all__ = ["LRScheduler"]


class LRScheduler:
    """Sets the learning rate of every group of an optimiser, once an epoch.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    last_epoch
        The epoch to go on from; -1 starts anew.

    Notes
    -----
    A schedule defines :meth:`get_lr`: the rates of epoch ``self.last_epoch``, from those
    of the epoch before, which stand in the groups.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.StepLR(optimizer, 2)
    >>> isinstance(scheduler, pyqref.optim.lr_scheduler.LRScheduler)
    True
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when "
                    "resuming scheduler with last_epoch >= 0; load the optimizer's state first"
                )
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._optimizer_steps = optimizer._steps_taken
        self._is_initial = True
        self._advance(None)
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch, one for each group."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr")

    def get_last_lr(self) -> list[float]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch; call it after ``optimizer.step()``.

        Parameters
        ----------
        epoch
            Go to this epoch instead. Deprecated.
        """
        optimizer = self.optimizer
        counts = type(optimizer).step is Optimizer.step
        if self._step_count == 1 and counts and optimizer._steps_taken == self._optimizer_steps:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first "
                "value of the learning rate schedule is skipped; call `optimizer.step()` first",
                stacklevel=2,
            )
        if epoch is not None:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated; call `scheduler.step()`",
                stacklevel=2,
            )
        self._advance(epoch)

    def _advance(self, epoch: int | None) -> None:
        self._step_count += 1
        self._update(epoch)

    def _update(self, epoch: int | None) -> None:
        """Go to an epoch without counting it as a step."""
        closed_form = getattr(self, "_get_closed_form_lr", None)
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self.get_lr() if closed_form is None else closed_form()
        self._set(rates)

    def _set(self, rates: list[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr: list[float] = [group["lr"] for group in self.optimizer.param_groups]

    def _current(self) -> list[float]:
        """The learning rates that stand in the groups."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        left_out = ("optimizer", "_optimizer_steps")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave."""
        self.__dict__.update(state_dict)
