"""Place of a node in the user's model: module, operation and line, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyqref.fx import GraphModule, Node

from .observed import is_observer_node

__all__ = ["listed", "place", "remember_scopes", "source_line"]

_SCOPE = "_quantization_scope"
#: How many places one message names.
_MOST = 6


def remember_scopes(model: GraphModule, scopes: dict[str, tuple[str, Any]]) -> None:
    """Let each node know in whose ``forward`` it was made.

    Parameters
    ----------
    model
        The traced model.
    scopes
        Path and class of a module, by the name of the node.
    """
    for node in model.graph.nodes:
        if node.name in scopes:
            node.meta[_SCOPE] = scopes[node.name][0]


def place(node: Node, modules: dict[str, Any]) -> str:
    """Describe a node in the words of its user.

    Parameters
    ----------
    node
        The node.
    modules
        The model's modules by path.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import fx, nn
    >>> graph = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1), nn.Flatten()))
    >>> [place(node, dict(graph.named_modules())) for node in graph.graph.nodes]
    ["the input 'input'", "'0' (Linear)", "'1' (Flatten)", 'the output']
    """
    if is_observer_node(node, modules):
        return _observer(node, modules)
    if node.op == "call_module":
        return f"{node.target!r} ({type(modules[node.target]).__name__})"
    if node.op == "placeholder":
        return f"the input {node.target!r}"
    if node.op == "get_attr":
        return f"the attribute {node.target!r}"
    if node.op == "output":
        return "the output"
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    inside = node.meta.get(_SCOPE)
    return f"{name}() (node {node.name!r}" + (f", in {inside!r})" if inside else ")")


def _observer(node: Node, modules: dict[str, Any]) -> str:
    observed = node.args[0]
    kind = type(modules[node.target]).__name__
    if not isinstance(observed, Node):
        return f"an observer ({kind})"
    what = place(observed, modules)
    if observed.op not in ("placeholder", "get_attr"):
        what = f"the output of {what}"
    return f"the observer of {what} ({kind})"


def source_line(node: Node) -> str | None:
    """Return the user's line that made a node; for an observer, that of the observed node."""
    found = node.meta.get("source")
    while found is None and node.args and isinstance(node.args[0], Node):
        node = node.args[0]
        found = node.meta.get("source")
    return found


def listed(places: Iterable[str]) -> str:
    """Names of places for one message, the first of many.

    Examples
    --------
    >>> listed(["a", "b", "a"])
    'a, b'
    >>> listed(str(number) for number in range(9))
    '0, 1, 2, 3, 4, 5 and 3 more'
    """
    names = list(dict.fromkeys(places))
    rest = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {rest} more" if rest > 0 else "")
