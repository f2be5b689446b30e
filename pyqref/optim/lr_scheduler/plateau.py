"""A learning rate that falls when nothing gets better any more."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the learning rates by ``factor`` after ``patience`` epochs without progress.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    mode
        ``"min"`` if less is better, ``"max"`` if more is.
    factor
        Below 1.
    patience
        Number of epochs without progress that are allowed.
    threshold
        Progress that counts.
    threshold_mode
        ``"rel"``: a fraction of the best value; ``"abs"``: a difference.
    cooldown
        Epochs after a reduction that are not counted.
    min_lr
        Lowest rate, one for all groups or a list.
    eps
        A reduction by less is not made.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> Scheduler = pyqref.optim.lr_scheduler.ReduceLROnPlateau
    >>> scheduler = Scheduler(optimizer, factor=0.5, patience=0)
    >>> for loss in (1.0, 1.0, 1.0):
    ...     scheduler.step(loss)
    >>> optimizer.param_groups[0]['lr']
    0.25
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0, got {factor}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! use 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! use 'rel' or 'abs'")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        groups = len(optimizer.param_groups)
        self.optimizer = optimizer
        self.factor = factor
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(self.min_lrs)}")
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self._current()
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: float, epoch: int | None = None) -> None:  # type: ignore[override]
        """Note how good the epoch was.

        Parameters
        ----------
        metrics
            The watched value, a number or a tensor of one element.
        epoch
            Number of the epoch; the next one by default.
        """
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._current()

    @property
    def in_cooldown(self) -> bool:
        """Return True if epochs without progress are not counted now."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float) -> bool:
        relative = self.threshold_mode == "rel"
        if self.mode == "min":
            bound = self.best * (1.0 - self.threshold) if relative else self.best - self.threshold
            return value < bound
        bound = self.best * (1.0 + self.threshold) if relative else self.best + self.threshold
        return value > bound

    def _reduce(self) -> None:
        for group, lowest in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            old = group["lr"]
            new = max(old * self.factor, lowest)
            if old - new > self.eps:
                group["lr"] = new
