"""Functions that run other code for a while, or that take other arguments.

What
    The code object of a function, ``__code__``, is exchanged for another one, or copied with
    other flags.
Why
    A function object stays itself, so that every way of reaching it is covered while a model is
    traced: ``F.relu``, ``from pyqref.nn.functional import relu``, a table of functions, a default
    argument. Outside of tracing nothing is paid, not even a look at each argument of each call.
Where it is absent
    A function whose code cannot be exchanged is called with the stand-ins of traced values, which
    say in their errors that it cannot be traced. Python's reference documents ``__code__`` as
    writable.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any

__all__ = ["all_positional", "detour", "exchange", "twin_of"]


def exchange(function: FunctionType, code: CodeType) -> None:
    """Have a function run other code from now on."""
    function.__code__ = code


def twin_of(function: FunctionType, name: str | None = None) -> FunctionType:
    """Another function of the same code, which is not exchanged with that of the first.

    Errors say the name in its code, so with a name of its own it has a code object of its own.
    """
    code = function.__code__
    if name is not None:
        code = code.replace(co_name=name)
        if sys.version_info >= (3, 11):
            code = code.replace(co_qualname=name)
    twin = FunctionType(
        code,
        function.__globals__,
        name or function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__annotations__ = function.__annotations__
    twin.__doc__, twin.__module__ = function.__doc__, function.__module__
    twin.__qualname__ = name or function.__qualname__
    twin.__dict__.update(function.__dict__)
    return twin


@cache
def _template(free_variables: int) -> CodeType:
    """A code object that calls ``"SEAT"``, with so many free variables.

    Python lets functions exchange code only if they have equally many.
    """
    names = ", ".join(f"free_{index}" for index in range(free_variables))
    lines = [
        f"def outer({names}):",
        "    def detour(*args, **kwargs):",
        f"        if 0: {names or 'pass'}",
        '        return "SEAT".arrive(args, kwargs)',
        "    return detour",
    ]
    space: dict[str, Any] = {}
    exec("\n".join(lines), space)
    made: FunctionType = space["outer"](*[None] * free_variables)
    return made.__code__


def detour(code: CodeType, target: Any, file: str) -> CodeType:
    """Make the code that sends the calls of a function with this code to ``target.arrive``.

    Examples
    --------
    >>> class Target:
    ...     def arrive(self, args, kwargs):
    ...         return f"arrived with {args}"
    >>> def double(x):
    ...     return 2 * x
    >>> exchange(double, detour(double.__code__, Target(), "here"))
    >>> double(1)
    'arrived with (1,)'
    """
    template = _template(len(code.co_freevars))
    constants = tuple(target if each == "SEAT" else each for each in template.co_consts)
    return template.replace(co_consts=constants, co_name=code.co_name, co_filename=file)


def all_positional(function: FunctionType, count: int) -> Callable[..., Any]:
    """The function with ``*args``, ``**kwargs`` and keyword-only arguments made ordinary.

    So a single value can stand for all of ``args``.

    Examples
    --------
    >>> def several(*args, **kwargs):
    ...     return args, kwargs
    >>> all_positional(several, 2)("all", "named")
    ('all', 'named')
    """
    code = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = code.replace(
        co_flags=flags, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0
    )
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
