"""The tensors that a model is called with."""

from __future__ import annotations

import inspect
from typing import Any

from ..nn.modules import Module
from ..tensor.arguments import described
from ..tensor.base import TensorBase

__all__ = ["inputs_of"]


def inputs_of(model: Module, given: Any, function: str, argument: str) -> tuple[Any, ...]:
    """The tensors that a user gave, as the arguments of a model.

    Parameters
    ----------
    model
        What is called with them.
    given
        A tensor, or a tuple or list of tensors.
    function, argument
        Names of what the user called, for messages.

    Raises
    ------
    TypeError
        One is no tensor, or the model takes another number of arguments.

    Examples
    --------
    >>> from pyqref import nn, ones
    >>> inputs_of(nn.ReLU(), [ones(1), ones(1)], "export.c", "inputs")
    Traceback (most recent call last):
        ...
    TypeError: export.c: inputs: ReLU cannot be called with 2 tensors: too many positional arguments
    """
    inputs = tuple(given) if isinstance(given, tuple | list) else (given,)
    for n, each in enumerate(inputs):
        if not isinstance(each, TensorBase):
            raise TypeError(f"{function}: {argument} must be tensors, got {described(each)} at {n}")
    try:
        inspect.signature(model.forward).bind(*inputs)
    except TypeError as error:
        raise TypeError(
            f"{function}: {argument}: {type(model).__name__} cannot be called with "
            f"{len(inputs)} tensors: {error}"
        ) from None
    return inputs
