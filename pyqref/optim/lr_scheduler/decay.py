"""Learning rates that are multiplied by a factor from time to time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["ExponentialLR", "MultiStepLR", "StepLR"]


class StepLR(LRScheduler):
    """Multiplies the learning rates by ``gamma`` every ``step_size`` epochs.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    step_size
        Number of epochs, >= 1.
    gamma
        The factor.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> parameter = pyqref.nn.Parameter(pyqref.zeros(1))
    >>> optimizer = pyqref.optim.SGD([parameter], lr=0.5)
    >>> schedule = StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if step_size < 1:
            raise ValueError(f"step_size must be >= 1, got {step_size}")
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates so far, times gamma at a multiple of ``step_size``."""
        if self._is_initial or self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return [rate * self.gamma for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        times = self.last_epoch // self.step_size
        return [base * self.gamma**times for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiplies the learning rates by ``gamma`` at each of the ``milestones``.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    milestones
        Epochs; one that is given twice counts twice.
    gamma
        The factor.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates so far, times gamma at a milestone."""
        if self._is_initial or self.last_epoch not in self.milestones:
            return self._current()
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiplies the learning rates by ``gamma`` every epoch.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    gamma
        The factor.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates so far, times gamma."""
        if self._is_initial or self.last_epoch == 0:
            return self._current()
        return [rate * self.gamma for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]
