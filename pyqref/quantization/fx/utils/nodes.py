"""Questions about a node and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pyqref.fx import Graph, Node
from pyqref.nn import Module
from pyqref.quantization.backend_config import get_native_backend_config

__all__ = [
    "NodeInfo",
    "all_node_args_except_first",
    "create_node_from_old_node_preserve_meta",
    "maybe_get_next_module",
    "node_arg_is_bias",
    "node_arg_is_weight",
    "return_arg_list",
]


class NodeInfo(NamedTuple):
    """Opcode and target of a node.

    Attributes
    ----------
    op, target
        As of :class:`~pyqref.fx.Node`.

    Examples
    --------
    >>> NodeInfo("call_method", "relu")
    NodeInfo(op='call_method', target='relu')
    """

    op: str
    target: Any


def all_node_args_except_first(node: Node) -> list[int]:
    """The indexes of the arguments of a node, without 0.

    Examples
    --------
    >>> import pyqref
    >>> graph = pyqref.fx.symbolic_trace(lambda x, y: pyqref.add(x, y)).graph
    >>> all_node_args_except_first(graph.find_nodes(op="call_function", target=pyqref.add)[0])
    [1]
    """
    return list(range(1, len(node.args)))


def return_arg_list(arg_indices: list[int]) -> Callable[[Node], list[int]]:
    """A function that gives those of some indexes for which a node has an argument.

    Examples
    --------
    >>> import pyqref
    >>> graph = pyqref.fx.symbolic_trace(lambda x: x.relu()).graph
    >>> return_arg_list([0, 1])(graph.find_nodes(op="call_method", target="relu")[0])
    [0]
    """

    def indexes(node: Node) -> list[int]:
        return [index for index in arg_indices if index < len(node.args)]

    return indexes


def _is_role(node: Node, arg: Any, role: str) -> bool:
    """Return True if an argument of a function has a role, such as ``"weight"``."""
    for config in get_native_backend_config().configs:
        if config.pattern == node.target and role in config._input_type_to_index:
            index = config._input_type_to_index[role]
            given = node.args[index] if index < len(node.args) else node.kwargs.get(role)
            return given is arg
    return False


def node_arg_is_weight(node: Node, arg: Node) -> bool:
    """Return True if an argument of a function is its weight.

    Examples
    --------
    >>> import pyqref
    >>> linear = pyqref.nn.functional.linear
    >>> graph = pyqref.fx.symbolic_trace(lambda x, w: linear(x, w)).graph
    >>> [node_arg_is_weight(node, node.args[1]) for node in graph.nodes if node.target is linear]
    [True]
    """
    return _is_role(node, arg, "weight")


def node_arg_is_bias(node: Node, arg: Node) -> bool:
    """Return True if an argument of a function is its bias.

    Examples
    --------
    >>> import pyqref
    >>> linear = pyqref.nn.functional.linear
    >>> graph = pyqref.fx.symbolic_trace(lambda x, w, b: linear(x, w, b)).graph
    >>> [node_arg_is_bias(node, node.args[2]) for node in graph.nodes if node.target is linear]
    [True]
    """
    return _is_role(node, arg, "bias")


def maybe_get_next_module(
    node: Node,
    modules: Mapping[str, Module],
    target_module_type: type[Module] | None = None,
    target_functional_type: Callable[..., Any] | None = None,
) -> Node | None:
    """The first use of the value of a node by a module of a class, or by a function.

    Parameters
    ----------
    node
        The node.
    modules
        The modules of the model by path.
    target_module_type, target_functional_type
        The class and the function.

    Examples
    --------
    >>> from pyqref import fx, nn
    >>> model = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1), nn.ReLU()))
    >>> linear = model.graph.find_nodes(op="call_module", target="0")[0]
    >>> maybe_get_next_module(linear, dict(model.named_modules()), nn.ReLU)
    _1
    """
    for user in node.users:
        if user.op == "call_module" and target_module_type is not None:
            if isinstance(modules[user.target], target_module_type):
                return user
        elif target_functional_type is not None and user.target == target_functional_type:
            return user
    return None


def create_node_from_old_node_preserve_meta(
    quantized_graph: Graph, create_node_args: tuple[Any, ...], old_node: Node
) -> Node:
    """Make a node that has the notes of another.

    Parameters
    ----------
    quantized_graph
        The graph.
    create_node_args
        Arguments for ``create_node``.
    old_node
        Whose ``meta`` it gets.

    Examples
    --------
    >>> import pyqref
    >>> graph = pyqref.fx.symbolic_trace(pyqref.nn.ReLU()).graph
    >>> old = next(iter(graph.nodes))
    >>> old.meta["mine"] = 1
    >>> made = ("call_method", "relu", (old,), {})
    >>> with graph.inserting_after(old):
    ...     create_node_from_old_node_preserve_meta(graph, made, old).meta["mine"]
    1
    """
    made = quantized_graph.create_node(*create_node_args)
    made.meta = dict(old_node.meta)
    return made
