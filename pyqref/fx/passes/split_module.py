"""A graph taken apart into graph modules that are called one after another."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...nn.modules.module import Module
from ...tensor.base import TensorBase
from ...tensor.parameter import Parameter
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = ["Partition", "split_module"]

_OUTSIDE = ("placeholder", "get_attr", "output")


class Partition:
    """The nodes that one graph module gets, what they need, and what others need of them.

    Parameters
    ----------
    name
        As the callback calls it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.nodes: list[Node] = []
        self.inputs: dict[Node, None] = {}
        self.outputs: dict[Node, None] = {}
        self.needs: set[str] = set()

    def __repr__(self) -> str:
        nodes = ", ".join(node.name for node in self.nodes)
        return f"Partition({self.name!r}: {nodes})"


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
) -> GraphModule:
    """Take a graph apart: ``submod_<partition>`` for every partition that the callback names.

    Parameters
    ----------
    m
        The graph module; it stays as it is.
    root_m
        Where the modules and parameters of the parts are found.
    split_callback
        The partition of a node, a number or a text. It is asked for every node but inputs,
        parameters and the output.
    qualname_map
        Filled with the new path of every module and its old one.

    Returns
    -------
    GraphModule
        It calls the parts, each of them after those that it needs.

    Raises
    ------
    RuntimeError
        Two partitions need each other.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.fx.passes.split_module import split_module
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(3, 2), pyqref.nn.ReLU())
    >>> gm = pyqref.fx.symbolic_trace(model)
    >>> parts = split_module(gm, model, lambda node: "first" if node.target == "0" else "rest")
    >>> [name for name, _ in parts.named_children()]
    ['submod_first', 'submod_rest']
    """
    partitions = _partitions(m.graph, split_callback)
    holder = Module()
    base = Graph(holder)
    made: dict[Node, Node] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            made[node] = base.node_copy(node, lambda each: made[each])
            if node.op == "get_attr":
                _set(holder, str(node.target), operator.attrgetter(str(node.target))(root_m))
    for partition in _in_order(partitions):
        part = _part(partition, root_m, qualname_map)
        holder.add_module(partition.submod_name, part)
        call = base.call_module(
            partition.submod_name, tuple(made[each] for each in partition.inputs)
        )
        if len(partition.outputs) == 1:
            made[next(iter(partition.outputs))] = call
            continue
        for index, each in enumerate(partition.outputs):
            made[each] = base.call_function(operator.getitem, (call, index))
    result = next(node for node in m.graph.nodes if node.op == "output")
    base.output(map_arg(result.args[0], lambda each: made[each]))
    return GraphModule(holder, base)


def _partitions(graph: Graph, split_callback: Callable[[Node], Any]) -> dict[str, Partition]:
    """All partitions by name, in the order of their first nodes."""
    partitions: dict[str, Partition] = {}
    place: dict[Node, Partition] = {}
    for node in graph.nodes:
        own = None
        if node.op not in _OUTSIDE:
            name = str(split_callback(node))
            own = place[node] = partitions.setdefault(name, Partition(name))
            own.nodes.append(node)
        for used in node.all_input_nodes:
            home = place.get(used)
            if home is own:
                continue
            if own is not None:
                own.inputs[used] = None
            if home is not None:
                home.outputs[used] = None
                if own is not None:
                    own.needs.add(home.name)
    return partitions


def _in_order(partitions: dict[str, Partition]) -> list[Partition]:
    """Each after those that it needs, otherwise in the order of their first nodes."""
    waiting, done, ordered = list(partitions.values()), set[str](), []
    while waiting:
        ready = next((each for each in waiting if each.needs <= done), None)
        if ready is None:
            names = ", ".join(each.name for each in waiting)
            raise RuntimeError(
                f"cycle exists between partitions: {names} need each other; let split_callback "
                "put the nodes between them into one"
            )
        waiting.remove(ready)
        done.add(ready.name)
        ordered.append(ready)
    return ordered


def _part(partition: Partition, root: Module, names: dict[str, str] | None) -> GraphModule:
    """The graph module of a partition."""
    holder, made = Module(), dict[Node, Node]()
    graph = Graph(holder)
    for each in partition.inputs:
        made[each] = graph.placeholder(each.name)
    for node in partition.nodes:
        made[node] = graph.node_copy(node, lambda each: made[each])
        if node.op == "call_module":
            path = str(node.target)
            _set(holder, path, root.get_submodule(path))
            if names is not None:
                names[f"{partition.submod_name}.{path}"] = path
    outputs = tuple(made[each] for each in partition.outputs)
    graph.output(outputs[0] if len(outputs) == 1 else outputs)
    return GraphModule(holder, graph)


def _set(holder: Any, path: str, value: Any) -> None:
    """Put a module, parameter or buffer where the graph looks for it."""
    *above, name = path.split(".")
    for step in above:
        if not hasattr(holder, step):
            holder.add_module(step, Module())
        holder = getattr(holder, step)
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        holder.register_buffer(name, value)
    else:
        setattr(holder, name, value)
