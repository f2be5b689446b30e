"""Checks for the arguments of config setters: strings, classes, operations, lists of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyqref.nn.modules import Module
from pyqref.tensor.arguments import as_integer, described

from .._typing import Value

__all__ = ["as_class", "as_config", "as_index", "as_list", "as_operation", "as_pattern", "as_text"]


def as_text(value: object, name: str) -> str:
    """``value``, which must be a string.

    Raises
    ------
    TypeError
        It is something else.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {described(value)}")
    return value


def as_index(value: object, name: str) -> int:
    """``value`` as a position counted from zero.

    Raises
    ------
    TypeError
        It is no integer.
    ValueError
        It is negative.
    """
    return as_integer(value, name, least=0)


def as_class(value: object, name: str) -> type:
    """``value``, which must be a class.

    Raises
    ------
    TypeError
        It is something else; for a module the message names its class.
    """
    if not isinstance(value, type):
        raise TypeError(f"{name} must be a class, got {described(value)}{_hint(value)}")
    return value


def as_operation(value: object, name: str) -> type | Callable[..., Any] | str:
    """``value``, which must be a module class, a function, or the name of a tensor's method.

    Raises
    ------
    TypeError
        It is something else; for a module the message names its class.

    Examples
    --------
    >>> from pyqref import nn
    >>> as_operation("flatten", "object_type"), as_operation(len, "object_type")
    ('flatten', <built-in function len>)
    >>> as_operation(nn.ReLU(), "object_type")
    Traceback (most recent call last):
    ...
    TypeError: object_type must be a module class, a function or a method's name, got a ReLU; \
give its class, ReLU
    """
    if isinstance(value, Module) or not (callable(value) or isinstance(value, str)):
        raise TypeError(
            f"{name} must be a module class, a function or a method's name, "
            f"got {described(value)}{_hint(value)}"
        )
    return value


def as_pattern(value: object, name: str) -> object:
    """``value``, which must be an operation or a tuple of patterns.

    Raises
    ------
    TypeError
        It, or one in a tuple, is no operation.
    """
    if isinstance(value, tuple):
        return tuple(as_pattern(each, f"{name}[{i}]") for i, each in enumerate(value))
    return as_operation(value, name)


def as_list(value: object, name: str, of: Callable[[Any, str], Any]) -> list[Any]:
    """The elements of a list or tuple, each checked by ``of``.

    Raises
    ------
    TypeError
        It is no list, or ``of`` refuses an element.

    Examples
    --------
    >>> as_list(["a", 3], "attributes", as_text)
    Traceback (most recent call last):
    ...
    TypeError: attributes[1] must be a string, got 3
    """
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} must be a list, got {described(value)}")
    return [of(each, f"{name}[{i}]") for i, each in enumerate(value)]


def as_config(value: object, name: str, kind: type[Value]) -> Value | Mapping[str, Any] | None:
    """``value``, which must be a ``kind``, a dictionary of its items, or None.

    Raises
    ------
    TypeError
        It is something else.
    """
    if value is not None and not isinstance(value, (kind, Mapping)):
        raise TypeError(f"{name} must be a {kind.__name__} or None, got {described(value)}")
    return value


def _hint(value: Any) -> str:
    return f"; give its class, {type(value).__name__}" if isinstance(value, Module) else ""
