"""A model is run on batches, and layers are listened to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyqref._typing import Array, Module
from pyqref.autograd import no_grad
from pyqref.tensor import Tensor

__all__ = ["Moments", "batches", "called", "input_of", "listening"]


def batches(data: Iterable[Any], caller: str) -> Iterator[Any]:
    """The batches of ``data``, at least one."""
    if isinstance(data, Tensor):
        raise TypeError(
            f"{caller}: data must be a list or another iterable of batches, got a Tensor; pass "
            "[data] for one batch"
        )
    batch = None
    for batch in data:
        yield batch
    if batch is None:
        raise ValueError(f"{caller}: data must have a batch, got none")


def called(model: Module, batch: Any) -> Any:
    """Call a model with one batch; a tuple or a list stands for several arguments."""
    with no_grad():
        return model(*batch) if isinstance(batch, (tuple, list)) else model(batch)


@contextmanager
def listening(module: Module, hear: Any) -> Iterator[None]:
    """Call ``hear(input, output)`` after each call of a module."""
    handle = module.register_forward_hook(lambda _, inputs, output: hear(inputs[0], output))
    try:
        yield
    finally:
        handle.remove()


def input_of(model: Module, path: str, batch: Any) -> Any:
    """The input of the module at ``path`` when the model is called with a batch."""
    heard: list[Any] = []
    with listening(model.get_submodule(path), lambda x, _: heard.append(x)):
        called(model, batch)
    if not heard:
        raise ValueError(f"{path!r} is never called by {type(model).__name__}.forward")
    return heard[-1]


class Moments:
    """Count, sum and sum of squares of each channel, in double precision.

    Parameters
    ----------
    axis
        The axis of the channels.
    """

    def __init__(self, axis: int) -> None:
        self.axis = axis
        self.count = 0
        self.total: Any = 0.0
        self.squares: Any = 0.0

    def add(self, values: Tensor) -> None:
        """Take in a tensor; a quantized one by the numbers that it stands for."""
        real = values.dequantize() if values.is_quantized else values
        rows = np.moveaxis(real.detach().numpy().astype(np.float64), self.axis, 0)
        rows = rows.reshape(len(rows), -1)
        self.count += rows.shape[1]
        self.total = self.total + rows.sum(axis=1)
        self.squares = self.squares + (rows * rows).sum(axis=1)

    @property
    def mean(self) -> Array:
        """Mean of each channel."""
        return np.asarray(self.total / self.count)

    @property
    def deviation(self) -> Array:
        """Standard deviation of the numbers seen of each channel."""
        variance = self.squares / self.count - self.mean**2
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
