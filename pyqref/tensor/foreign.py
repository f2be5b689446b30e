"""Tensors and arrays of other libraries, where a tensor of this one is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["kind_of", "no_tensor", "refuse_foreign"]


def _is_torch(value: Any) -> bool:
    """Whether it is a tensor of torch, which is not imported for that."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "numpy")


def kind_of(value: Any) -> str:
    """The name of a value's type; for a tensor or array of another library, what to write.

    Examples
    --------
    >>> import numpy
    >>> kind_of("text"), kind_of(numpy.ones(2))
    ('str', 'ndarray; write pyqref.from_numpy(array)')
    """
    if _is_torch(value):
        steps = "t.detach().numpy()" if getattr(value, "requires_grad", False) else "t.numpy()"
        return f"torch.{type(value).__name__}; write pyqref.from_numpy({steps})"
    if isinstance(value, np.ndarray):
        return "ndarray; write pyqref.from_numpy(array)"
    return type(value).__name__


def refuse_foreign(what: str, value: Any) -> None:
    """Raise TypeError if ``value``, an operand of ``what``, is a tensor of torch."""
    if _is_torch(value):
        raise TypeError(f"{what} takes tensors of pyqref, got a {kind_of(value)}")


def no_tensor(function: str, argument: str, value: Any) -> TypeError:
    """The error for an argument that must be a tensor; quick functions look for it themselves.

    Examples
    --------
    >>> no_tensor("neg", "input", 5)
    TypeError("neg(): argument 'input' must be Tensor, not int")
    """
    return TypeError(f"{function}(): argument '{argument}' must be Tensor, not {kind_of(value)}")
