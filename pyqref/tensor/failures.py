"""What an operation raises where it cannot be computed, in ``torch``'s words."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np

from ..tape import Operation
from .wrong_arguments import explained

__all__ = ["broadcast_error", "no_memory", "operation_error"]


def no_memory(operation: type[Operation], error: MemoryError) -> RuntimeError:
    """What :func:`.dispatch.apply` raises where there is no room for a result."""
    return RuntimeError(f"{operation.__name__.lower()}: the memory does not suffice: {error}")


def operation_error(
    error: Exception, operation: type[Operation], arrays: Sequence[Any], kwargs: dict[str, Any]
) -> Exception:
    """What :func:`.dispatch.apply` raises where NumPy cannot compute an operation."""
    if isinstance(error, ValueError):
        found = broadcast_error(error, arrays)
        if found is not error:
            return found
    parameters = list(signature(operation.forward).parameters)[1:]
    names = [*parameters, *(f"argument {n}" for n in range(len(arrays)))][: len(arrays)]
    return explained(
        operation.__name__.lower(), dict(zip(names, arrays, strict=True)) | kwargs, error
    )


def broadcast_error(error: ValueError, operands: Sequence[Any]) -> Exception:
    """NumPy's error in ``torch``'s words if it is one of shapes that do not fit, else itself.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ones(2) + pyqref.ones(3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at ...
    """
    if "too big" in str(error) or "Maximum allowed dimension" in str(error):
        return RuntimeError(f"the result is too large: {error}")
    shapes = [each.shape for each in operands if isinstance(each, np.ndarray)]
    if "broadcast" not in str(error) or len(shapes) < 2:
        return error
    longest = max(len(shape) for shape in shapes)
    a, b = ((1,) * (longest - len(shape)) + shape for shape in shapes[-2:])
    for axis in reversed(range(longest)):
        if a[axis] != b[axis] and 1 not in (a[axis], b[axis]):
            return RuntimeError(
                f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) "
                f"at non-singleton dimension {axis}"
            )
    return RuntimeError(str(error))
