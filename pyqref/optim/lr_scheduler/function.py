"""A learning rate that a function of the epoch decides."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler

__all__ = ["LambdaLR"]


class LambdaLR(LRScheduler):
    """The base rate times a function of the epoch.

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
    >>> scheduler = pyqref.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     optimizer.step()
    ...     scheduler.step()
    >>> [round(rate, 3) for rate in rates]
    [1.0, 0.5, 0.333, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, list | tuple):
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Base rate times function, for each group."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]

    def state_dict(self) -> dict[str, Any]:
        """Return the base class's state, with the attributes of callable objects."""
        state = super().state_dict()
        state["lr_lambdas"] = [
            None if isinstance(function, FunctionType) else dict(function.__dict__)
            for function in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; the functions stay those given here."""
        rest = {key: value for key, value in state_dict.items() if key != "lr_lambdas"}
        self.__dict__.update(rest)
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                function.__dict__.update(attributes)
