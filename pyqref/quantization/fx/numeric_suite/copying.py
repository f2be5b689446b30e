"""A copy of an operation in another graph."""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.fx.node import map_arg
from pyqref.tensor.base import TensorBase
from pyqref.tensor.parameter import Parameter

from .naming import free

__all__ = ["copy_operation"]


def copy_operation(
    source: GraphModule, end: Node, target: GraphModule, values: dict[Node, Node], prefix: str
) -> Node:
    """Write a node, and what it is computed from, into the graph of another model.

    Parameters
    ----------
    source, end
        The model, and the node whose value is wanted.
    target
        The other model; it shares modules and weights.
    values
        Nodes of ``source`` that have a counterpart in ``target``; those that are copied are added.
    prefix
        How the copies are called.
    """
    if end in values:
        return values[end]

    def copied(node: Node) -> Node:
        return copy_operation(source, node, target, values, prefix)

    args, kwargs = map_arg(end.args, copied), map_arg(end.kwargs, copied)
    if end.op in ("call_module", "get_attr"):
        path = free(target, prefix)
        _install(target, path, _attribute(source, end.target))
        made = target.graph.create_node(end.op, path, args, kwargs, name=path)
    else:
        made = target.graph.create_node(end.op, end.target, args, kwargs, name=end.name)
    values[end] = made
    return made


def _install(model: GraphModule, name: str, value: Any) -> None:
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        model.register_buffer(name, value)
    else:
        setattr(model, name, value)


def _attribute(model: Any, path: str) -> Any:
    for step in path.split("."):
        model = getattr(model, step)
    return model
