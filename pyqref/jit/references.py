"""Classes and functions by name: what a file may name, and where loading looks for it.

A class of modules is named as ``"package.module:Class"``. Loading takes it from what the caller
passed, from pyqref's own layers, or from a module that the program has imported; it imports no
other. Functions are those of a fixed table, operations registered with :mod:`pyqref.library`,
and what the caller passed: a file cannot name any other, such as one that removes folders.
"""

from __future__ import annotations

import builtins
import importlib
import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from ..fx.arguments import check_specialized
from ..library import Operator, namespace
from ..nn import functional
from ..nn.modules.module import Module
from ..ops import quantized
from ..quantization.eager.observe import observe_input, observe_output
from ..quantization.fx.notes import notes
from ..tensor import fake_quantize, fused_fake_quantize, learnable_fake_quantize

__all__ = ["find_class", "find_function", "name_of", "name_of_function", "passed"]

#: Packages of pyqref that loading may import, since a model's classes stand there.
_OWN = ("pyqref.nn.", "pyqref.quantization.", "pyqref.fx.")
_BUILTINS = (
    *("abs", "bool", "dict", "divmod", "enumerate", "float", "getattr", "int", "isinstance"),
    *("len", "list", "max", "min", "pow", "print", "range", "reversed", "round", "slice"),
    *("sorted", "str", "sum", "tuple", "zip"),
)
#: Of the module operator: these call something else, or any method by name.
_NOT_OPERATORS = ("attrgetter", "call", "itemgetter", "methodcaller")
_NOT_OPERATIONS = ("manual_seed", "seed")


def name_of(thing: Any) -> str:
    """``"module:qualified name"`` of a class or function.

    Examples
    --------
    >>> from pyqref import nn
    >>> name_of(nn.Linear)
    'pyqref.nn.modules.linear:Linear'
    """
    return f"{thing.__module__}:{thing.__qualname__}"


def passed(things: Iterable[Any]) -> dict[str, Any]:
    """Classes and functions that the caller passed, by full and by plain name.

    Raises
    ------
    TypeError
        One of them is no class of modules and no function.
    """
    if isinstance(things, Mapping):
        return dict(things)
    found: dict[str, Any] = {}
    for each in things:
        if not callable(each) or not hasattr(each, "__qualname__"):
            raise TypeError(
                "jit.load: classes must hold classes of modules and functions, "
                f"got {type(each).__name__}"
            )
        found[each.__qualname__] = found[each.__qualname__.rpartition(".")[2]] = each
        found[name_of(each)] = each
    return found


def find_class(name: str, given: Mapping[str, Any]) -> type[Module] | str:
    """The class of modules that a file names, or why there is none.

    Parameters
    ----------
    name
        As :func:`name_of` gives it.
    given
        What the caller passed.
    """
    home, _, path = name.partition(":")
    plain = path.rpartition(".")[2]
    found = given.get(name, given.get(path, given.get(plain)))
    if found is None:
        found = _attribute(_module(home), path)
    if found is None:
        remedy = f"pass it: pyqref.jit.load(f, classes=[{plain}])"
        if home != "__main__" and "<locals>" not in path:
            remedy = f"run 'import {home}' before, or {remedy}"
        return f"the class {plain} of the model was made in {home!r}, where there is none; {remedy}"
    if not isinstance(found, type) or not issubclass(found, Module):
        return f"{name!r} must name a subclass of pyqref.nn.Module, found {found!r}"
    return found


def _module(name: str) -> ModuleType | None:
    if name not in sys.modules and f"{name}.".startswith(_OWN):
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    return sys.modules.get(name)


def _attribute(module: ModuleType | None, path: str) -> Any:
    found: Any = module
    for step in path.split("."):
        found = vars(found).get(step) if isinstance(found, (ModuleType, type)) else None
    return found


@cache
def _functions() -> dict[str, Any]:
    """Every function that a file may name."""
    found: dict[str, Any] = {f"builtins.{name}": getattr(builtins, name) for name in _BUILTINS}
    tensors = importlib.import_module("pyqref.tensor")  # the name is the function's, too
    for module in (operator, math):
        for name in dir(module):
            if not name.startswith("__") and name not in _NOT_OPERATORS:
                found[f"{module.__name__}.{name}"] = getattr(module, name)
    spaces = (
        (tensors, "pyqref"),
        (fake_quantize, "pyqref"),
        (learnable_fake_quantize, "pyqref"),
        (fused_fake_quantize, "pyqref"),
        (functional, "pyqref.nn.functional"),
        (quantized, "pyqref.ops.quantized"),
        (tensors.Tensor, "pyqref.Tensor"),
    )
    for space, prefix in spaces:
        for name in getattr(space, "__all__", dir(space)):
            if not name.startswith("__") and not name.startswith("set_"):
                found.setdefault(f"{prefix}.{name}", getattr(space, name))
    for each in (check_specialized, observe_input, observe_output, notes):
        found[name_of(each)] = each
    return {
        name: each
        for name, each in found.items()
        if callable(each) and name.rpartition(".")[2] not in _NOT_OPERATIONS
    }


@cache
def _names() -> dict[int, str]:
    names: dict[int, str] = {}
    for name, each in _functions().items():
        names.setdefault(id(each), name)
    return names


def name_of_function(function: Callable[..., Any]) -> str | None:
    """Under which name a file has a function; None for one that it cannot have."""
    if isinstance(function, Operator):
        return f"operation {function.name}"
    known = _names().get(id(function))
    if known is not None:
        return known
    path = getattr(function, "__qualname__", "")
    if not isinstance(getattr(function, "__module__", None), str) or "<lambda>" in path:
        return None
    return name_of(function) if path else None


def find_function(name: str, given: Mapping[str, Any]) -> str | Callable[..., Any]:
    """The function that a file names, or a text that says why there is none."""
    if name.startswith("operation "):
        space, _, own = name.removeprefix("operation ").partition("::")
        try:
            return getattr(namespace(space), own)
        except AttributeError as error:
            return str(error)
    found = _functions().get(name)
    if found is None:
        path = name.partition(":")[2]
        plain = path.rpartition(".")[2]
        found = given.get(name, given.get(path, given.get(plain)))
        if found is None or not callable(found):
            return (
                f"the model calls the function {name!r}; pass it, if it is yours: "
                f"pyqref.jit.load(f, classes=[{plain or '...'}])"
            )
    return found
