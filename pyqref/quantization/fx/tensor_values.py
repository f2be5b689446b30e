"""Tell which nodes of a graph have tensors as values, and which have sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref.fx import Node

from .observed import is_observer_node

__all__ = ["has_tensor"]


def has_tensor(node: Node, known: Mapping[Node, bool], modules: Mapping[str, Any]) -> bool:
    """Return True if a node's value is, or comes from, a tensor; False for sizes.

    Parameters
    ----------
    node
        The node.
    known
        The answer for the nodes before it.
    modules
        The model's modules by path.
    """
    if node.op in ("placeholder", "get_attr"):
        return True
    if node.op == "call_module":
        if is_observer_node(node, dict(modules)):
            return known[node.args[0]]
        return True
    if node.op == "call_function" and node.target is getattr:
        return node.args[1] not in ("ndim", "shape")
    if node.op == "call_method" and node.target in ("size", "dim"):
        return False
    return any(known[each] for each in node.all_input_nodes)
