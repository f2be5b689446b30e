"""Base of the functions of :mod:`pyqref.nn.init`, which fill a tensor and record nothing."""

from __future__ import annotations

import functools
import math
from typing import Any

from .._typing import Function, Tensor
from ..tape import no_grad
from .base import TensorBase
from .foreign import kind_of

__all__ = ["fans_of", "fills"]


def fills(function: Function) -> Function:
    """The function, which takes a tensor first, without a record on the tape."""

    @functools.wraps(function)
    def checked(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(tensor, TensorBase):
            is_layer = hasattr(tensor, "named_parameters")
            remedy = "; give a parameter of it, such as its weight" if is_layer else ""
            raise TypeError(
                f"{function.__name__}(): argument 'tensor' must be Tensor, "
                f"not {kind_of(tensor)}{remedy}"
            )
        with no_grad():
            return function(tensor, *args, **kwargs)

    result: Any = checked
    return result


def fans_of(tensor: Tensor) -> tuple[int, int]:
    """Return how many inputs an output sees, and how many outputs an input reaches."""
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    receptive_field = math.prod(shape[2:])
    return shape[1] * receptive_field, shape[0] * receptive_field
