"""The arguments of a call as its function names them, however they were written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pyqref._typing import AnyModule

__all__ = ["ArgsKwargsPair", "normalize_function", "normalize_module"]

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call.

    Attributes
    ----------
    args
        Those by position.
    kwargs
        Those by name, in the order of the signature.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    arg_types: object = None,
    kwarg_types: object = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of ``target``, defaults included.

    Parameters
    ----------
    target
        A function.
    args, kwargs
        What it is called with.
    arg_types, kwarg_types
        Accepted for compatibility: functions of pyqref have one signature each.
    normalize_to_only_use_kwargs
        Name all of them; else those that were given by position stay there.

    Returns
    -------
    ArgsKwargsPair or None
        None where the function has no signature, or takes arguments that have no names, or
        none that fit.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.fx.operator_schemas import normalize_function
    >>> normalize_function(pyqref.flatten, ("x", 1))
    ArgsKwargsPair(args=('x', 1), kwargs={'end_dim': -1})
    >>> normalize_function(pyqref.flatten, ("x", 1), normalize_to_only_use_kwargs=True)
    ArgsKwargsPair(args=(), kwargs={'input': 'x', 'start_dim': 1, 'end_dim': -1})

    Source: documentation of ``torch.fx.Node.normalized_arguments``.
    """
    try:
        signature = inspect.signature(target)
        if any(each.kind not in _BY_NAME for each in signature.parameters.values()):
            return None
        bound = signature.bind(*args, **(kwargs or {}))
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    named = dict(bound.arguments)
    count = 0 if normalize_to_only_use_kwargs else len(args)
    positional = tuple(named.pop(name) for name in list(named)[:count])
    return ArgsKwargsPair(positional, named)


def normalize_module(
    root: AnyModule,
    target: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Form of :func:`normalize_function` for the module at a path of ``root``."""
    forward = root.get_submodule(target).forward
    return normalize_function(forward, args, kwargs, None, None, normalize_to_only_use_kwargs)
