"""From a function to its in-place form: ``add_ = in_place(add)``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..tape import is_grad_enabled
from .base import TensorBase, wrap
from .dispatch import change, check_in_place, store

__all__ = ["in_place"]


def in_place(function: Callable[..., Any], elementwise: bool = False) -> Callable[..., Any]:
    """The same function, which stores its result in its first argument and returns that.

    The result must have the shape of the first argument, and a type that fits it.

    Parameters
    ----------
    function
        What is computed.
    elementwise
        Whether it takes quantized tensors and works element by element: then part by part.
    """

    @functools.wraps(function)
    def changed(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_in_place(input)
        if elementwise and input.is_quantized:
            change(input, function, *args, **kwargs)
        else:
            store(input, function(_before(input), *args, **kwargs))
        return input

    changed.__name__ = changed.__qualname__ = f"{function.__name__}_"
    changed.__doc__ = f"In-place form of :func:`{function.__name__}`."
    return changed


def _before(tensor: Any) -> Any:
    """What a tensor is before the change, with elements of its own if gradients need them."""
    if tensor.is_quantized or not is_grad_enabled():
        return tensor
    edge = tensor._edge()
    if edge is None:
        return tensor
    before: TensorBase = wrap(tensor._array.copy())
    before._node, before._output_index = edge
    return before
