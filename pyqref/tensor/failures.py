"""Errors of operations that cannot be computed, in the words of ``torch``.

What :mod:`.dispatch` raises stands here. It is compiled, and whether an error is one that pyqref
raised is told by the instruction of the frame that raised it, which only Python has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, NoReturn

import numpy as np

from ..tape import Operation
from .foreign import no_tensor
from .refusal import undefined_for_quantized
from .wrong_arguments import explained

__all__ = [
    "Implementations",
    "broadcast_error",
    "refuse_no_tensor",
    "refuse_operation",
    "refuse_without_memory",
]


class Implementations(dict[type[Operation], Callable[..., Any]]):
    """Implementations by operation; one without an entry is not defined for quantized tensors."""

    def __missing__(self, operation: type[Operation]) -> Callable[..., Any]:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise undefined_for_quantized(operation.__name__.lower(), *args)

        return refuse


def refuse_no_tensor(function: str, argument: str, value: object) -> NoReturn:
    """Raise where an argument must be a tensor and is none."""
    raise no_tensor(function, argument, value)


def refuse_without_memory(operation: type[Operation], error: MemoryError) -> NoReturn:
    """Raise where there is no memory for a result."""
    name = operation.__name__.lower()
    raise RuntimeError(f"{name}: the memory does not suffice: {error}") from None


def refuse_operation(
    error: Exception, operation: type[Operation], arrays: Sequence[Any], kwargs: dict[str, Any]
) -> NoReturn:
    """Raise where NumPy cannot compute an operation."""
    if isinstance(error, ValueError):
        found = broadcast_error(error, arrays)
        if found is not error:
            raise found from None
    parameters = list(signature(operation.forward).parameters)[1:]
    names = [*parameters, *(f"argument {n}" for n in range(len(arrays)))][: len(arrays)]
    raise explained(
        operation.__name__.lower(), dict(zip(names, arrays, strict=True)) | kwargs, error
    ) from None


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
