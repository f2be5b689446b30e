"""Nodes that do something beside computing a value, and so must stay."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .._typing import Node
from ..tensor.assertions import _assert, _check

__all__ = ["IN_PLACE_OPERATORS", "has_side_effect", "is_impure"]

IN_PLACE_OPERATORS = frozenset(
    {
        "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior",
        "ipow", "irshift", "isub", "itruediv", "ixor", "setitem", "delitem",
    }
)  # fmt: skip

_SIDE_EFFECTS: set[Callable[..., Any]] = {
    *(print, operator.setitem, operator.delitem),
    *(_assert, _check),
}


def has_side_effect(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function whose calls must stay in a graph even if their results are not used.

    Examples
    --------
    >>> @has_side_effect
    ... def log(x):
    ...     print(x)
    """
    _SIDE_EFFECTS.add(function)
    return function


def is_impure(node: Node) -> bool:
    """Return True if a node has a side effect; see :meth:`pyqref.fx.Node.is_impure`."""
    if node.op in ("placeholder", "output"):
        return True
    if node.op == "get_attr":
        return False
    if node.op == "call_module":
        owner = node.graph.owning_module
        module = owner.get_submodule(node.target) if owner is not None else None
        return bool(getattr(module, "_is_impure", False) or getattr(module, "inplace", False))
    if node.op == "call_function" and node.target in _SIDE_EFFECTS:
        return True
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    if getattr(node.target, "__module__", None) == "_operator":
        in_place = name in IN_PLACE_OPERATORS
    return in_place or node.kwargs.get("inplace") is True or "out" in node.kwargs
