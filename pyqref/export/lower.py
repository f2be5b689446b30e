"""Lowering one operation of a model to operators of ONNX."""

from __future__ import annotations

from typing import Any

from ..nn.modules import Module
from .document import renamed
from .lowerings.exact import function_of_one
from .maker import Maker
from .problems import Unsupported
from .table import lowering_of, title
from .wire import Wire, follows, wires_of

__all__ = ["lower"]

#: Operations that may take a length that follows the batch.
FOLLOW = frozenset({"view", "reshape", "flatten", "expand", "unflatten", "getitem", "_assert"})


def lower(maker: Maker, what: Any, path: str, args: Any, kwargs: Any, out: Any) -> None:
    """Let the lowering of an operation add operators, and name the wires of its results.

    Raises
    ------
    Unsupported
        It has no lowering, or none for these arguments.
    """
    maker.path, maker.out = path, out
    make = lowering_of(what)
    if title(what) not in FOLLOW and follows((args, kwargs)):
        raise Unsupported("an argument follows the size of the batch")
    first = len(maker.operators)
    names = function_of_one(maker, what, args, kwargs) if maker.style == "exact" else None
    if names is None:
        names = make(maker, *((what,) if isinstance(what, Module) else ()), *args, **kwargs)
    _name(out, names)
    if isinstance(out, Wire):
        renamed(maker, path, first, out)
    maker.seen += wires_of(out)


def _name(out: Any, names: Any) -> None:
    """Give wires the names of the tensors that a lowering made."""
    if isinstance(out, Wire):
        out.name = names
    elif isinstance(out, tuple):
        for each, name in zip(out, names, strict=True):
            _name(each, name)
