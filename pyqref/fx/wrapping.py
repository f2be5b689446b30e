"""``wrap``: record the call of a function instead of tracing through it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .._insides.stack import caller
from .interception import intercept

__all__ = ["WRAPPED_NAMES", "wrap", "wrapped_globals"]

# Under this name a module's globals list the names that were wrapped in it.
WRAPPED_NAMES = "__pyqref_fx_wrapped__"
_modules: list[dict[str, Any]] = []


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Record calls of a function that are given a traced value, from now on.

    Parameters
    ----------
    fn_or_name
        A Python function, also as a decorator; or the name by which the module calls it,
        which serves for builtins such as ``"len"``.

    Returns
    -------
    ``fn_or_name``

    Raises
    ------
    NotImplementedError
        A name is wrapped elsewhere than at the top level of a module.
    RuntimeError
        Neither a function nor a name was given.

    Examples
    --------
    >>> import pyqref
    >>> @wrap
    ... def halve(x):
    ...     return x / 2 if x.sum() > 0 else x
    >>> print(pyqref.fx.symbolic_trace(lambda x: halve(x) + 1).code.strip())
    def forward(self, x):
        halve = wrapping_halve(x);  x = None
        add = halve + 1;  halve = None
        return add

    Source: documentation of ``torch.fx.wrap``.
    """
    if isinstance(fn_or_name, FunctionType):
        intercept(fn_or_name)
        return fn_or_name
    name = getattr(fn_or_name, "__name__", None) if callable(fn_or_name) else fn_or_name
    if not isinstance(name, str):
        raise RuntimeError(
            "wrap takes a function or the name of one, got "
            f"{type(fn_or_name).__name__} {fn_or_name!r}"
        )
    frame = caller()
    if frame is None or frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    names = frame.f_globals.setdefault(WRAPPED_NAMES, set())
    names.add(name)
    if not any(each is frame.f_globals for each in _modules):
        _modules.append(frame.f_globals)
    return fn_or_name


def wrapped_globals() -> list[dict[str, Any]]:
    """The globals of the modules in which names were wrapped."""
    return list(_modules)
