"""Marks for scripting in the source of a model; they leave the code unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from .._typing import Value

__all__ = [
    "Attribute",
    "Final",
    "annotate",
    "export",
    "ignore",
    "interface",
    "is_scripting",
    "isinstance_",
    "overload_method",
    "script_method",
    "unused",
]


class Attribute(NamedTuple):
    """A value and the type that a compiler should give it; read :attr:`value`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.Attribute(3, int).value
    3
    """

    value: Any
    type: Any


def is_scripting() -> bool:
    """Return False: code is never compiled here.

    Models ask, to leave out what a compiler cannot take. Here all of it runs.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.is_scripting()
    False
    """
    return False


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method itself; a scripted copy has all methods.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> class Net(nn.Module):
    ...     def forward(self, x):
    ...         return x
    ...     @pyqref.jit.export
    ...     def twice(self, x):
    ...         return 2 * x
    >>> pyqref.jit.script(Net()).twice(pyqref.ones(1)).item()
    2.0
    """
    return fn


def ignore(drop: bool | Callable[..., Any] = False, **kwargs: object) -> Callable[..., Any]:
    """The function itself: all code is Python. A decorator, with or without arguments.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.jit.ignore
    ... def one(x):
    ...     return x + 1
    >>> @pyqref.jit.ignore(drop=True)
    ... def two(x):
    ...     return x + 2
    >>> one(0), two(0)
    (1, 2)
    """
    return drop if callable(drop) else _itself


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: all code is Python.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.jit.unused
    ... def one(x):
    ...     return x + 1
    >>> one(0)
    1
    """
    return fn


def overload_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method itself: Python keeps the last of several definitions."""
    return fn


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method itself, of a class derived from :class:`ScriptModule`.

    Examples
    --------
    >>> import pyqref
    >>> class Double(pyqref.jit.ScriptModule):
    ...     @pyqref.jit.script_method
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Double()(pyqref.ones(1)).item()
    2.0
    """
    return fn


def interface(obj: type[Any]) -> type[Any]:
    """The class itself.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.jit.interface
    ... class Layer:
    ...     def forward(self, x):
    ...         pass
    >>> Layer.__name__
    'Layer'
    """
    return obj


def annotate(the_type: type[Value], the_value: Value) -> Value:
    """``the_value``; a compiler would take it for one of ``the_type``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.annotate(list, [])
    []
    """
    return the_value


def isinstance_(obj: Sequence[int], target_type: object) -> bool:
    """Python's ``isinstance``, which scripts reach as ``jit.isinstance``.

    A type with parameters, as ``List[int]``, is looked at without them.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.isinstance([1, 2], list[int])
    True
    """
    kinds: tuple[Any, ...] = target_type if isinstance(target_type, tuple) else (target_type,)
    plain: Any = tuple(getattr(each, "__origin__", each) for each in kinds)
    return isinstance(obj, plain)


def _itself(fn: Callable[..., Any]) -> Callable[..., Any]:
    return fn
