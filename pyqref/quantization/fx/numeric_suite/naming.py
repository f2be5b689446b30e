"""Names of nodes, their types and their modules in results."""

from __future__ import annotations

from pyqref.fx import GraphModule, Node

from .subgraphs import operation_of

__all__ = ["free", "path_of", "type_text"]


def type_text(model: GraphModule, node: Node) -> str:
    """The full name of the class or function of a node, or the name of its method."""
    operation = operation_of(model, node)
    if isinstance(operation, str):
        return operation
    return f"{operation.__module__}.{operation.__qualname__}"


def path_of(model: GraphModule, node: Node) -> str:
    """Path of the module of a node, or of the one around a function."""
    if node.op == "call_module":
        return str(node.target)
    path, _ = model.meta.get("scopes", {}).get(node.name, ("", None))
    return str(path)


def free(model: GraphModule, name: str) -> str:
    """A name that no attribute has, made of one by a number behind it."""
    number = 0
    while hasattr(model, f"{name}_{number}"):
        number += 1
    return f"{name}_{number}"
