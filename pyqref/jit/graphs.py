"""Graphs as plain values, and back.

A graph module writes Python from its graph, so what a file says is looked at first: names are
identifiers, functions are of the table of :mod:`.references`, methods are those of tensors.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from typing import Any

from ..fx.graph import Graph
from ..fx.node import Node
from ..nn.modules.module import Module
from ..tensor import QuantizedTensor, Size, Tensor
from .references import find_function, name_of_function

__all__ = ["describe_graph", "graph_from"]

_METHODS = frozenset(
    name
    for kind in (Tensor, QuantizedTensor, Size, dict, list, tuple)
    for name in dir(kind)
    if not name.startswith("_")
)


def describe_graph(graph: Graph, flatten: Callable[[Any, tuple[Any, ...]], Any]) -> list[Any]:
    """A list of nodes.

    Parameters
    ----------
    graph
        What to describe.
    flatten
        Gives the plain form of a constant, whose place is given too.

    Raises
    ------
    TypeError
        A node calls a function that a file cannot name.
    """
    nodes = []
    for node in graph.nodes:
        target = node.target
        if node.op == "call_function":
            name = name_of_function(target)
            if name is None:
                raise TypeError(
                    f"jit.save: the graph calls {target!r} at node {node.name!r}, which has no "
                    "name under which loading could find it; define it with def in a module"
                )
            target = name
        args = _described(node.args, (node.name, "args"), flatten)
        kwargs = _described(node.kwargs, (node.name, "kwargs"), flatten)
        nodes.append([node.op, node.name, target, args, kwargs])
    return nodes


def _described(value: Any, path: tuple[Any, ...], flatten: Callable[..., Any]) -> Any:
    if isinstance(value, Node):
        return ["node", value.name]
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return ["slice", [_described(each, path, flatten) for each in ends]]
    if value is Ellipsis:
        return ["ellipsis", 0]
    if isinstance(value, (list, tuple)) and not isinstance(value, Size):
        members = [_described(each, (*path, at), flatten) for at, each in enumerate(value)]
        return ["tuple" if isinstance(value, tuple) else "list", members]
    if isinstance(value, dict):
        pairs = [[key, _described(each, (*path, key), flatten)] for key, each in value.items()]
        return ["dict", pairs]
    return ["constant", flatten(value, path)]


def graph_from(
    nodes: object, build: Callable[[Any], Any], given: Mapping[str, Any], root: Module
) -> Graph:
    """The graph that :func:`describe_graph` described.

    Parameters
    ----------
    nodes
        What the file has.
    build
        Gives a constant from its plain form.
    given
        What the caller passed.
    root
        The module that has the submodules and attributes that the graph names.

    Raises
    ------
    ValueError
        A node is not what it must be.
    """
    graph = Graph()
    known: dict[str, Node] = {}

    def value_of(found: Any) -> Any:
        if not isinstance(found, list) or len(found) != 2:
            raise ValueError(f"an argument is {found!r}")
        tag, content = found
        if tag == "constant":
            return build(content)
        if tag == "ellipsis":
            return Ellipsis
        if tag == "node" and isinstance(content, str) and content in known:
            return known[content]
        if tag in ("tuple", "list", "slice") and isinstance(content, list):
            values = [value_of(each) for each in content]
            if tag == "slice" and len(values) == 3:
                return slice(*values)
            return tuple(values) if tag == "tuple" else values
        if tag == "dict" and isinstance(content, list):
            return {_key(each): value_of(each[1]) for each in content}
        raise ValueError(f"an argument is of kind {tag!r}")

    if not isinstance(nodes, list):
        raise ValueError("the nodes of a graph must be a list")
    for found in nodes:
        if not isinstance(found, list) or len(found) != 5:
            raise ValueError(f"a node is {found!r}")
        op, name, target, args, kwargs = found
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(target, str):
            raise ValueError(f"a node is named {name!r} and has the target {target!r}")
        positional, named = value_of(args), value_of(kwargs)
        if not isinstance(positional, tuple) or not isinstance(named, dict):
            raise ValueError(f"the arguments of node {name!r} are not a tuple and a dict")
        if not all(isinstance(each, str) and _is_name(each) for each in named):
            raise ValueError(f"node {name!r} has the keywords {list(named)}")
        if named and target.startswith("builtins."):
            raise ValueError(f"node {name!r} calls {target} with keywords")
        goal = _target(op, target, positional, given, root)
        known[name] = graph.create_node(op, goal, positional, named, name)
    return graph


def _key(pair: Any) -> Any:
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], (str, int)):
        raise ValueError(f"an entry of a dict is {pair!r}")
    return pair[0]


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("__")


def _target(
    op: Any, target: str, args: tuple[Any, ...], given: Mapping[str, Any], root: Module
) -> Any:
    """The target of a node, after a look at it."""
    if op == "output" and target == "output":
        return target
    if op == "placeholder" and _is_name(target.removeprefix("*").removeprefix("*")):
        return target
    if op == "call_function":
        function = find_function(target, given)
        if isinstance(function, str):
            raise ValueError(function)
        if function is getattr and not _is_public(args):
            raise ValueError(f"the graph takes the attribute {args[1:2]} of a value")
        return function
    if op == "call_method" and target in _METHODS:
        return target
    if op in ("get_attr", "call_module"):
        _look_up(root, target, op)
        return target
    raise ValueError(f"a node is {op!r} of {target!r}")


def _is_public(args: tuple[Any, ...]) -> bool:
    return len(args) > 1 and isinstance(args[1], str) and _is_name(args[1]) and args[1][0] != "_"


def _look_up(root: Module, path: str, op: str) -> None:
    """Raise unless the path is that of a submodule, or of an attribute that it has itself."""
    *steps, last = path.split(".")
    place: Any = root
    for step in steps:
        place = place._modules.get(step) if isinstance(place, Module) else None
    if isinstance(place, Module):
        if last in place._modules:
            return
        own = (place._parameters, place._buffers, vars(place))
        if op == "get_attr" and not last.startswith("__") and any(last in each for each in own):
            return
    raise ValueError(f"the graph names {path!r}, which the model does not have")
