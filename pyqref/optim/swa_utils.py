"""Averages of the weights along training, and what goes with them."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

from .._typing import AnyModule, Device, Tensor
from ..dtypes import int64
from ..nn.modules.batchnorm import BatchNormBase
from ..nn.modules.module import Module
from ..tape import no_grad
from ..tensor.base import TensorBase
from ..tensor.creation import tensor
from .lr_scheduler.scheduler import LRScheduler
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _decay(decay: float) -> float:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay}; use [0, 1]")
    return decay


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """A function ``(average, value, count)`` for the exponential average.

    ``decay * average + (1 - decay) * value`` (equation ``eq-moving-average-of-weights``).

    Examples
    --------
    >>> get_ema_avg_fn(0.5)(1.0, 2.0, 7)
    1.5
    """
    decay = _decay(decay)

    def ema_update(average: Any, value: Any, count: Any) -> Any:
        return decay * average + (1 - decay) * value

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """A function ``(average, value, count)`` for the mean of all values so far.

    ``average + (value - average) / (count + 1)``.

    Examples
    --------
    >>> get_swa_avg_fn()(1.0, 4.0, 2)
    2.0
    """

    def swa_update(average: Any, value: Any, count: Any) -> Any:
        return average + (value - average) / (count + 1)

    return swa_update


def _of_lists(one: Callable[[Any, Any, Any], Any]) -> Callable[[list[Any], list[Any], Any], None]:
    def update(averages: list[Any], values: list[Any], count: Any) -> None:
        with no_grad():
            for average, value in zip(averages, values, strict=True):
                average.copy_(one(average, value, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[list[Any], list[Any], Any], None]:
    """:func:`get_ema_avg_fn` for lists of tensors, in place."""
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[[list[Any], list[Any], Any], None]:
    """:func:`get_swa_avg_fn` for lists of tensors, in place."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those of the model.

    Parameters
    ----------
    model
        The model that is copied.
    device
        Where the copy lives.
    avg_fn
        ``avg_fn(average, value, count)`` gives the new average of a parameter; the mean of all
        values by default.
    multi_avg_fn
        The same for lists, in place.
    use_buffers
        Average the buffers too; otherwise they are copied.

    Attributes
    ----------
    module : Module
        The copy.
    n_averaged : Tensor
        How often :meth:`update_parameters` was called.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Linear(1, 1)
    >>> average = AveragedModel(model)
    >>> for value in (1.0, 2.0):
    ...     _ = pyqref.nn.init.constant_(model.weight, value)
    ...     average.update_parameters(model)
    >>> average.module.weight.item()
    1.5
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Device = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[list[Any], list[Any], Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("give one of avg_fn and multi_avg_fn, not both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output of the copy."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: AnyModule) -> None:
        """Take the parameters of the model into the averages."""
        averages: list[Tensor] = list(self.module.parameters())
        values: list[Tensor] = list(model.parameters())
        if self.use_buffers:
            averages = list(itertools.chain(averages, self.module.buffers()))
            values = list(itertools.chain(values, model.buffers()))
        averages = [each.detach() for each in averages]
        values = [each.detach() for each in values]
        count = self.n_averaged.item()
        with no_grad():
            if count == 0:
                for average, value in zip(averages, values, strict=True):
                    average.copy_(value)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(averages, values, self.n_averaged)
            else:
                one = get_swa_avg_fn() if self.avg_fn is None else self.avg_fn
                for average, value in zip(averages, values, strict=True):
                    average.copy_(one(average, value, self.n_averaged))
            if not self.use_buffers:
                pairs = zip(self.module.buffers(), model.buffers(), strict=True)
                for kept, value in pairs:
                    kept.detach().copy_(value.detach())
            self.n_averaged.add_(1)


def update_bn(loader: Iterable[Any], model: Module, device: Device = None) -> None:
    """Compute the running moments of all batch normalizations anew, in one pass over data.

    Parameters
    ----------
    loader
        Batches: tensors, or lists whose first element is one.
    model
        The model; it is in training mode meanwhile, and afterwards as before.
    device
        Where batches are sent.
    """
    layers = [each for each in model.modules() if isinstance(each, BatchNormBase)]
    if not layers:
        return
    was_training, momenta = model.training, [each.momentum for each in layers]
    model.train()
    try:
        for each in layers:
            each.reset_running_stats()
            each.momentum = None
        with no_grad():
            for batch in loader:
                inputs: Any = batch if isinstance(batch, TensorBase) else batch[0]
                model(inputs if device is None else inputs.to(device))
    finally:
        for each, momentum in zip(layers, momenta, strict=True):
            each.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """Move the learning rates that it finds to a constant one.

    With `x` from 0 to 1 in ``anneal_epochs`` epochs and ``a = (1 - cos(pi * x)) / 2``, or
    ``a = x``: ``lr = swa_lr * a + lr_at_first * (1 - a)``.

    Parameters
    ----------
    optimizer
        Whose learning rates are set.
    swa_lr
        The last rate, for all groups or each.
    anneal_epochs
        How long it takes, >= 0.
    anneal_strategy
        ``"cos"`` or ``"linear"``.
    last_epoch
        See :class:`~pyqref.optim.lr_scheduler.LRScheduler`.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=1.0)
    >>> schedule = SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> rates = []
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     schedule.step()
    ...     rates.append(schedule.get_last_lr()[0])
    >>> rates
    [0.75, 0.5, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = (
            swa_lr if isinstance(swa_lr, list | tuple) else [swa_lr] * len(optimizer.param_groups)
        )
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(
                f"swa_lr must have one rate a group, {len(optimizer.param_groups)}, "
                f"got {len(rates)}"
            )
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be an integer >= 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, part: float) -> float:
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> list[float]:
        """The rates of this epoch, from those of the epoch before."""
        step = self._step_count - 1
        groups = self.optimizer.param_groups
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self._share(max(0, min(1, (step - 1) / max(1, self.anneal_epochs))))
        now = self._share(max(0, min(1, step / max(1, self.anneal_epochs))))
        first = [
            group["swa_lr"]
            if before == 1
            else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            for group in groups
        ]
        return [
            group["swa_lr"] * now + rate * (1 - now)
            for group, rate in zip(groups, first, strict=True)
        ]
