"""Check that a graph is well formed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._typing import Graph
from ..nn.modules.module import Module
from .node import OPCODES, Node

__all__ = ["check", "reaches"]


def check(nodes: Iterable[Node], graph: Graph, module: Module | None) -> None:
    """Raise unless the nodes are; see :meth:`pyqref.fx.Graph.lint`.

    Parameters
    ----------
    nodes
        The nodes in order.
    graph
        The graph that they should belong to.
    module
        The module whose attributes they name, or None.
    """
    seen: set[Node] = set()
    names: set[str] = set()
    ended = False
    for node in nodes:
        if ended:
            raise RuntimeError(f"Node '{node}' stands after the output")
        if node.op not in OPCODES:
            raise RuntimeError(f"Node '{node}' had unknown opcode {node.op}!")
        _check_arguments(node, graph, seen)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        if node.op in ("get_attr", "call_module") and module is not None:
            _check_target(node, module)
        seen.add(node)
        names.add(node.name)
        ended = node.op == "output"


def _check_arguments(node: Node, graph: Any, seen: set[Node]) -> None:
    for used in node.all_input_nodes:
        if used.graph is not graph:
            raise RuntimeError(
                f"Argument '{used}' of Node '{node}' does not belong to this Graph, "
                "but was used as an argument! Use graph.node_copy to bring it here"
            )
        if used not in seen:
            raise RuntimeError(
                f"Argument '{used}' of Node '{node}' was used before it has been defined! "
                "Please check that Nodes in the graph are topologically ordered"
            )


def _check_target(node: Node, module: Any) -> None:
    names = f"Node '{node}' ({node.op}) names {node.target!r}"
    found = _at(module, node.target)
    if found is _NOTHING:
        raise RuntimeError(f"{names}, but {type(module).__name__} has no such attribute")
    if node.op == "call_module" and not isinstance(found, Module):
        raise RuntimeError(f"{names}, which is not a module but a {type(found).__name__}")


_NOTHING = object()


def _at(module: Any, path: str) -> Any:
    for step in path.split("."):
        if not hasattr(module, step):
            return _NOTHING
        module = getattr(module, step)
    return module


def reaches(module: Module, path: str) -> bool:
    """Return True if a module has an attribute at a path."""
    return _at(module, path) is not _NOTHING
