"""Which function lowers which layer: one table for modules, functions and methods."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias, Union

from .. import ops
from .._typing import AnyModule
from ..nn.modules import Module
from .problems import Unsupported

__all__ = ["Layer", "Table", "lowering", "lowering_of", "title", "why_not"]

#: A module, or the attributes of one for a function that was called with what a module holds.
Layer: TypeAlias = Union[AnyModule, SimpleNamespace]  # noqa: UP007 (AnyModule is Any at run time)

#: Is given the maker and the arguments, for a module the module first; returns names of tensors.
Lowering = Callable[..., Any]


class Table:
    """The lowerings of one format.

    Parameters
    ----------
    missing
        Said of an operation that has none.
    """

    def __init__(self, missing: str) -> None:
        self.missing = missing
        self.entries: dict[Any, Lowering] = {}

    def lowering(self, *names: type[Module] | str) -> Callable[[Lowering], Lowering]:
        """Enter a lowering under classes of modules and names of functions.

        A function and the method of the same name are one; those of ``ops.quantized`` that have a
        counterpart on real numbers need no entry of their own.
        """

        def enter(function: Lowering) -> Lowering:
            for name in names:
                self.entries[name] = function
            return function

        return enter

    def lowering_of(self, what: object) -> Lowering:
        """Return the lowering of an operation.

        Raises
        ------
        Unsupported
            It has none.
        """
        entries = self.entries
        if isinstance(what, Module):
            for kind in type(what).__mro__:
                if kind in entries:
                    return entries[kind]
            raise Unsupported(why_not(what, self.missing))
        name = title(what)
        if not isinstance(what, str) and what.__module__.startswith(ops.__name__):
            found = entries.get(f"quantized.{name}") or entries.get(name)
        else:
            found = entries.get(name) or entries.get(name.rstrip("_"))
        if found is None:
            raise Unsupported(self.missing)
        return found


_onnx = Table("no operator of ONNX is known for it")
lowering, lowering_of = _onnx.lowering, _onnx.lowering_of


def title(what: object) -> str:
    """Return the name of an operation: the class of a module, the name of a function."""
    if isinstance(what, Module):
        return type(what).__name__
    name = what if isinstance(what, str) else getattr(what, "__name__", str(what))
    return str(name)


def why_not(module: Module, missing: str) -> str:
    """Say why a module has no lowering: ``missing``, or something better."""
    home = type(module).__module__
    if ".observer" in home or ".fake_quantize" in home:
        return "the model is prepared, not converted: call convert or convert_fx first"
    if ".qat" in home or type(module).__name__ in ("QuantStub", "DeQuantStub"):
        return "the model is not converted: call convert first"
    return missing
