"""Which function lowers which layer: one table for modules, functions and methods."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias, Union

from .. import ops
from .._typing import AnyModule
from ..nn.modules import Module
from .problems import Unsupported

__all__ = ["Layer", "lowering", "lowering_of", "title"]

#: A module, or the attributes of one for a function that was called with what a module holds.
Layer: TypeAlias = Union[AnyModule, SimpleNamespace]  # noqa: UP007 (AnyModule is Any at run time)

#: Is given the maker and the arguments, for a module the module first; returns names of tensors.
Lowering = Callable[..., Any]

_table: dict[Any, Lowering] = {}


def lowering(*names: type[Module] | str) -> Callable[[Lowering], Lowering]:
    """Enter a lowering under classes of modules and names of functions.

    A function and the method of the same name are one; those of ``ops.quantized`` that have a
    counterpart on real numbers need no entry of their own.
    """

    def enter(function: Lowering) -> Lowering:
        for name in names:
            _table[name] = function
        return function

    return enter


def title(what: object) -> str:
    """What an operation is called: the class of a module, the name of a function."""
    if isinstance(what, Module):
        return type(what).__name__
    name = what if isinstance(what, str) else getattr(what, "__name__", str(what))
    return str(name)


def lowering_of(what: object) -> Lowering:
    """Return the lowering of an operation.

    Raises
    ------
    Unsupported
        It has none.
    """
    if isinstance(what, Module):
        for kind in type(what).__mro__:
            if kind in _table:
                return _table[kind]
        raise Unsupported(_why_not(what))
    name = title(what)
    if not isinstance(what, str) and what.__module__.startswith(ops.__name__):
        found = _table.get(f"quantized.{name}") or _table.get(name)
    else:
        found = _table.get(name) or _table.get(name.rstrip("_"))
    if found is None:
        raise Unsupported("no operator of ONNX is known for it")
    return found


def _why_not(module: Module) -> str:
    home = type(module).__module__
    if ".observer" in home or ".fake_quantize" in home:
        return "the model is prepared, not converted: call convert or convert_fx first"
    if ".qat" in home or type(module).__name__ in ("QuantStub", "DeQuantStub"):
        return "the model is not converted: call convert first"
    return "no operator of ONNX is known for it"
