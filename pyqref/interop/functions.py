"""Functions of ``torch`` and the functions of the same name here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from pyqref.nn import functional as F
from pyqref.tensor import Size, Tensor

__all__ = ["MissingError", "attribute_exists", "check_call", "function_of"]

#: ``from pyqref import tensor`` would give the function of that name.
_TENSOR = import_module("pyqref.tensor")
#: Functions of Python itself, which work on any tensor.
_PYTHON = ("_operator", "operator", "builtins", "math")
_FUNCTIONAL = ("torch.nn.functional", "torch._C._nn")


class MissingError(TypeError):
    """Something of ``torch`` that is called has no counterpart here.

    Examples
    --------
    >>> raise MissingError("calls torch.fft.fft, which pyqref does not have")
    Traceback (most recent call last):
        ...
    pyqref.interop.functions.MissingError: calls torch.fft.fft, which pyqref does not have
    """


def function_of(target: Callable[..., Any]) -> Callable[..., Any]:
    """The function that does here what ``target`` does in ``torch``.

    Raises
    ------
    MissingError
        There is none.

    Examples
    --------
    >>> import operator
    >>> function_of(operator.add) is operator.add
    True
    """
    name = getattr(target, "__name__", repr(target))
    module = getattr(target, "__module__", None) or "torch"
    if module in _PYTHON:
        return target
    places = (F, _TENSOR) if module.startswith(_FUNCTIONAL) else (_TENSOR, F)
    if module.split(".")[0] == "torch":
        for place in places:
            found = getattr(place, name, None)
            if inspect.isroutine(found):
                return found
    raise MissingError(f"calls {module}.{name}, which pyqref does not have")


def attribute_exists(name: str) -> bool:
    """Return True if tensors, or their results, have an attribute or method of this name.

    They give sizes, lists, numbers, and pairs of ``values`` and ``indices``.
    """
    kinds = (Tensor, Size, list, dict, str, float)
    return name in ("values", "indices") or any(hasattr(kind, name) for kind in kinds)


def check_call(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], name: str
) -> None:
    """Raise MissingError if ``function`` does not take these arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # functions of Python itself have none
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise MissingError(
            f"calls {name} with arguments that it does not take in pyqref: {error}"
        ) from None
