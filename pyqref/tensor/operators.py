"""Make the method of an operator such as ``+`` from a function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Operand, Tensor
from .base import TensorBase, wrap
from .foreign import refuse_foreign
from .promotion import cast, promoted

__all__ = ["operator", "reflected"]


def operator(function: Callable[..., Tensor]) -> Callable[[Tensor, Operand], Tensor]:
    """The function as a method of an operator: NotImplemented for what it cannot take."""

    @functools.wraps(function)
    def method(input: Any, other: Any) -> Any:
        if isinstance(other, TensorBase):
            return function(input, other)
        if isinstance(other, np.ndarray):
            other = wrap(other)
        elif not isinstance(other, (int, float, np.number, np.bool_)):
            refuse_foreign(function.__name__, other)
            return NotImplemented
        return function(input, other)

    return method


def reflected(function: Callable[..., Tensor]) -> Callable[[Tensor, Operand], Tensor]:
    """The operator with its operands exchanged."""

    @functools.wraps(function)
    def method(input: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = wrap(other)
        elif not isinstance(other, (TensorBase, int, float, np.number, np.bool_)):
            refuse_foreign(function.__name__, other)
            return NotImplemented
        if not isinstance(other, TensorBase):
            (other,) = cast(promoted(other, input), wrap(np.asarray(other)))
        return function(other, input)

    return method
