"""A learning rate that falls along half a cosine."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["CosineAnnealingLR"]


class CosineAnnealingLR(LRScheduler):
    """Lower the rate from its base to ``eta_min`` in ``T_max`` epochs, and raise it again.

    ``lr = eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2`` (Loshchilov and
    Hutter 2016), each epoch from the one before, so that another change of the rate in
    between is kept.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    T_max
        Epochs from the highest to the lowest rate.
    eta_min
        The lowest rate.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> [round(rate, 3) for rate in rates]
    [1.0, 0.75, 0.25, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_max <= 0:
            raise ValueError(f"T_max must be > 0, got {T_max}")
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch, from those of the epoch before."""
        epoch, span, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial or epoch == 0:
            return self._current()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - span) % (2 * span) == 0:
            # The epoch before was at the bottom, where the ratio below divides by zero.
            pairs = zip(self._current(), self.base_lrs, strict=True)
            drop = 1 - math.cos(math.pi / span)
            return [rate + (base - low) * drop / 2 for rate, base in pairs]
        ratio = (1 + math.cos(math.pi * epoch / span)) / (
            1 + math.cos(math.pi * (epoch - 1) / span)
        )
        return [ratio * (rate - low) + low for rate in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        height = 1 + math.cos(self.last_epoch * math.pi / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]
