"""The inputs of a trace: from a function's signature to placeholders."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .._insides.code_objects import all_positional
from .._typing import Proxy
from ..tensor import Tensor
from .interception import find_stand_in, plain
from .side_effects import has_side_effect

__all__ = ["PH", "annotation", "arguments_of_root", "check_specialized"]

_CONSTANTS = (bool, int, float, str, type(None))


class _Placeholder:
    """Marks, within concrete arguments, what stays an input."""

    def __repr__(self) -> str:
        return "PH"


#: Stands in ``concrete_args`` where an input is to stay.
PH = _Placeholder()


@has_side_effect
def check_specialized(value: bool, expected: bool, name: str) -> bool | Proxy | None:
    """Raise unless a graph made for one value of an argument is called with that value.

    If the graph is traced again, the check becomes a node of the new one.

    Raises
    ------
    AssertionError
        It is not.

    Examples
    --------
    >>> import pyqref
    >>> def scaled(x, twice):
    ...     return 2 * x if twice else x
    >>> model = pyqref.fx.symbolic_trace(scaled, concrete_args={"twice": True})
    >>> model(pyqref.ones(1), True).item()
    2.0
    >>> model(pyqref.ones(1), False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: twice has been specialized to have value True but got False; ...
    """
    stand_in = find_stand_in((value,))
    if stand_in is not None:
        return stand_in.record_function(check_specialized, (value, expected, name), {})
    same = isinstance(value, (*_CONSTANTS, np.generic)) and bool(value == expected)
    if not same:
        raise AssertionError(
            f"{name} has been specialized to have value {expected!r} but got {value!r}; give it "
            f"{expected!r}, or trace again for another value"
        )
    return None


def arguments_of_root(
    tracer: Any, function: Callable[..., Any], concrete: dict[str, Any], takes_root: bool
) -> tuple[Callable[..., Any], list[Any]]:
    """Make the placeholders.

    Parameters
    ----------
    tracer
        What makes nodes.
    function
        What is traced.
    concrete
        Arguments that are no inputs.
    takes_root
        Whether the first argument is the root module.

    Returns
    -------
    callable, list
        What to call and its arguments: the root module, if it is one, then proxies.
    """
    own = inspect.unwrap(plain(function))
    parameters = list(_signature(own).parameters.values())
    args: list[Any] = []
    if takes_root:
        if not parameters:
            raise RuntimeError("forward must take the module itself, self, as its first argument")
        parameters = parameters[1:]
        args.append(tracer.root)
    unknown = set(concrete) - {each.name for each in parameters}
    if unknown:
        raise ValueError(
            f"concrete_args names {sorted(unknown)}, but the arguments are "
            f"{[each.name for each in parameters]}"
        )
    special = False
    for each in sorted(parameters, key=lambda p: len(_stars(p))):
        special = special or each.kind not in (each.POSITIONAL_OR_KEYWORD, each.POSITIONAL_ONLY)
        args.append(_argument(tracer, each, concrete, own))
    if not special:
        return function, args
    if not isinstance(own, FunctionType):
        raise TypeError(f"cannot trace *args or keyword-only arguments of {function!r}")
    return all_positional(own, len(args)), args


def annotation(kind: str | type[Any] | None, function: Callable[..., Any]) -> object:
    """An annotation of a function; None where there is none, or where it says nothing.

    Functions of this library name their types for type checkers: a graph is told of tensors.
    """
    if kind in (inspect.Signature.empty, Any, "Any", None):
        return None
    if str(getattr(function, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]:
        return Tensor if kind == "Tensor" else None
    return kind


def _signature(function: Any) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError as error:
        raise TypeError(f"cannot trace {function!r}: it has no Python signature") from error


def _stars(parameter: inspect.Parameter) -> str:
    """Return the prefix of an argument's name: nothing, ``*`` or ``**``."""
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "*"
    return "**" if parameter.kind is parameter.VAR_KEYWORD else ""


def _argument(
    tracer: Any,
    parameter: inspect.Parameter,
    concrete: dict[str, Any],
    function: Callable[..., Any],
) -> Any:
    stars = _stars(parameter)
    kind = annotation(parameter.annotation, function)
    default = () if stars or parameter.default is parameter.empty else (parameter.default,)
    target = f"{stars}{parameter.name}"
    proxy = tracer.create_proxy("placeholder", target, default, {}, type_expr=kind)
    if parameter.kind is parameter.KEYWORD_ONLY:
        proxy.node.meta["keyword_only"] = True
    if parameter.name not in concrete:
        return proxy
    return _specialize(tracer, proxy, concrete[parameter.name], parameter.name)


def _specialize(tracer: Any, proxy: Any, value: Any, name: str) -> Any:
    """The concrete value; parts marked PH are taken out of the input."""
    if value is PH:
        return proxy
    if isinstance(value, dict):
        return {k: _specialize(tracer, proxy[k], v, f"{name}[{k!r}]") for k, v in value.items()}
    if isinstance(value, tuple | list):
        parts = [_specialize(tracer, proxy[i], v, f"{name}[{i}]") for i, v in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, _CONSTANTS):
        tracer.create_proxy("call_function", check_specialized, (proxy, value, name), {})
    return value
