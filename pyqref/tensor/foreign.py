"""Tensors and arrays of other libraries, where a tensor of this one is wanted."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._typing import Array

__all__ = [
    "array_of_torch",
    "comes_from_torch",
    "is_torch_tensor",
    "kind_of",
    "no_tensor",
    "refuse_foreign",
]


def is_torch_tensor(value: object) -> bool:
    """Return True if it is a tensor of torch; does not import torch.

    Examples
    --------
    >>> import pyqref
    >>> is_torch_tensor(pyqref.ones(1))
    False
    """
    return comes_from_torch(value) and hasattr(value, "numpy")


def comes_from_torch(value: object) -> bool:
    """Return True if it is an object of torch, or a list or tuple that holds one.

    Examples
    --------
    >>> import pyqref
    >>> comes_from_torch([pyqref.ones(1), (1, None)])
    False
    """
    if isinstance(value, list | tuple):
        return any(map(comes_from_torch, value))
    return type(value).__module__.partition(".")[0] == "torch"


def _version() -> str:
    """``"torch 2.13"``, of the torch that is imported."""
    version = getattr(sys.modules.get("torch"), "__version__", "")
    return f"torch {'.'.join(str(version).split('.')[:2])}" if version else "torch"


def array_of_torch(value: Any) -> Array:
    """The memory of a tensor of torch, as an array; gradients do not reach it.

    Raises
    ------
    TypeError
        No array can lie on that memory; the message says what to write.
    """
    try:
        return np.from_dlpack(value.detach())
    except (BufferError, RuntimeError, TypeError, AttributeError) as error:
        is_quantized = getattr(value, "is_quantized", False)
        remedy = "write pyqref.from_dlpack(t.float().cpu())"
        if is_quantized:
            remedy = (
                "take its integers, pyqref.from_dlpack(t.int_repr()), and make_per_tensor of "
                "them, or take over the model with pyqref.interop.from_torch"
            )
        raise TypeError(
            f"a tensor of {_version()}, {getattr(value, 'dtype', '')}, cannot be read as it is "
            f"({error}); {remedy}"
        ) from error


def kind_of(value: object) -> str:
    """The name of a value's type; for a tensor or array of another library, what to write.

    Examples
    --------
    >>> import numpy
    >>> kind_of("text"), kind_of(numpy.ones(2))
    ('str', 'ndarray; write pyqref.from_numpy(array)')
    """
    if is_torch_tensor(value):
        steps = "t.detach()" if getattr(value, "requires_grad", False) else "t"
        return f"tensor of {_version()}; write pyqref.from_dlpack({steps})"
    if isinstance(value, np.ndarray):
        return "ndarray; write pyqref.from_numpy(array)"
    return type(value).__name__


def refuse_foreign(what: str, value: object) -> None:
    """Raise TypeError if ``value``, an operand of ``what``, is a tensor of torch."""
    if is_torch_tensor(value):
        raise TypeError(f"{what} takes tensors of pyqref, got a {kind_of(value)}")


def no_tensor(function: str, argument: str, value: object) -> TypeError:
    """The error for an argument that must be a tensor; quick functions look for it themselves.

    Examples
    --------
    >>> no_tensor("neg", "input", 5)
    TypeError("neg(): argument 'input' must be Tensor, not int")
    """
    return TypeError(f"{function}(): argument '{argument}' must be Tensor, not {kind_of(value)}")
