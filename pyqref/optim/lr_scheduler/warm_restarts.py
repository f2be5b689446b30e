"""A learning rate that falls along half a cosine, again and again."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["CosineAnnealingWarmRestarts"]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rate from its base to ``eta_min``, then start from the base again.

    ``lr = eta_min + (base - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2``, where `T_cur` epochs of
    `T_i` have passed since the last restart (Loshchilov and Hutter 2016).

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    T_0
        Epochs until the first restart, >= 1.
    T_mult
        How many times longer every next round is, >= 1.
    eta_min
        The lowest rate.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> kind = pyqref.optim.lr_scheduler.CosineAnnealingWarmRestarts
    >>> scheduler = kind(optimizer, T_0=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> [round(rate, 3) for rate in rates]
    [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"T_0 must be an integer > 0, got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"T_mult must be an integer >= 1, got {T_mult}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates after ``T_cur`` epochs of a round."""
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to any moment.

        Parameters
        ----------
        epoch
            Such as ``epoch + batch / batches``, for rates that change with every batch.
        """
        if epoch is not None and epoch < 0:
            raise ValueError(f"epoch must be >= 0, got {epoch}")
        self._go(epoch)

    def _advance(self, epoch: int | None) -> None:
        self._go(epoch)

    def _go(self, epoch: float | None) -> None:
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        elif epoch < self.T_0:
            self.T_cur, self.T_i = epoch, self.T_0
        elif self.T_mult == 1:
            self.T_cur, self.T_i = epoch % self.T_0, self.T_0
        else:
            rounds = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            passed = self.T_0 * (self.T_mult**rounds - 1) / (self.T_mult - 1)
            self.T_cur, self.T_i = epoch - passed, self.T_0 * self.T_mult**rounds
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())
