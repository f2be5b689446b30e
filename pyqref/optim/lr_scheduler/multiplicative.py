"""A learning rate that is multiplied by a function of the epoch."""

from __future__ import annotations

from .function import LambdaLR

__all__ = ["MultiplicativeLR"]


class MultiplicativeLR(LambdaLR):
    """The rate of the epoch before times a function of the epoch.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    lr_lambda
        A function of the epoch, or a list of one for each group.
    last_epoch
        See :class:`LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> scheduler = pyqref.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.25]
    """

    def get_lr(self) -> list[float]:
        """The rates so far, times the function."""
        if self._is_initial:
            return self._current()
        pairs = zip(self._current(), self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in pairs]
