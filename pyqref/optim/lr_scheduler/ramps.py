"""Learning rates that begin or end with a fraction of themselves."""

from __future__ import annotations

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["ConstantLR", "LinearLR", "PolynomialLR"]


class ConstantLR(LRScheduler):
    """A fraction of the learning rates, until ``total_iters`` epochs have passed.

    ``lr = base * (factor if epoch < total_iters else 1)``.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    factor
        In (0, 1].
    total_iters
        Epochs with the factor.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError(f"factor must be in [0, 1], got {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates so far, times the factor at first and its inverse at the end."""
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._current()]
        if self.last_epoch != self.total_iters:
            return self._current()
        return [rate * (1.0 / self.factor) for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A fraction of the learning rates that changes along a line.

    ``lr = base * (start + (end - start) * min(epoch, total_iters) / total_iters)``, each
    epoch from the one before.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    start_factor
        At first, in (0, 1].
    end_factor
        From epoch ``total_iters`` on, in [0, 1].
    total_iters
        Epochs of the change.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(f"start_factor must be in (0, 1], got {start_factor}")
        if not 0 <= end_factor <= 1.0:
            raise ValueError(f"end_factor must be in [0, 1], got {end_factor}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch, from those of the epoch before."""
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._current()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [rate * (1.0 + rise / before) for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        rise = self.end_factor - self.start_factor
        epoch = min(self.total_iters, self.last_epoch)
        return [
            base * (self.start_factor + rise * epoch / self.total_iters) for base in self.base_lrs
        ]


class PolynomialLR(LRScheduler):
    """Learning rates that fall to zero along a polynomial.

    ``lr = base * (1 - min(epoch, total_iters) / total_iters)**power``, each epoch from the
    one before.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    total_iters
        Epochs until the rate is zero.
    power
        The exponent.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.0, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch, from those of the epoch before."""
        epoch, total = self.last_epoch, self.total_iters
        if self._is_initial or epoch == 0 or epoch > total:
            return self._current()
        ratio = ((1.0 - epoch / total) / (1.0 - (epoch - 1) / total)) ** self.power
        return [rate * ratio for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        epoch, total = min(self.total_iters, self.last_epoch), self.total_iters
        return [base * (1.0 - epoch / total) ** self.power for base in self.base_lrs]
