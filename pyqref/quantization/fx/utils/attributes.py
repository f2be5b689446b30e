"""Values that a graph fetches, and what they are computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref.devices import device as Device
from pyqref.fx import Graph, GraphModule, Node
from pyqref.nn import Module
from pyqref.tensor import Tensor, tensor

from ..paths import free_name

__all__ = [
    "assert_and_get_unique_device",
    "collect_producer_nodes",
    "create_getattr_from_value",
    "get_new_attr_name_with_prefix",
    "graph_module_from_producer_nodes",
]


def get_new_attr_name_with_prefix(prefix: str) -> Callable[[Module], str]:
    """A function that gives the first name of a kind that a module does not have.

    Examples
    --------
    >>> import pyqref
    >>> get_new_attr_name_with_prefix("scale_")(pyqref.nn.Linear(1, 1))
    'scale_0'
    """

    def name(module: Any) -> str:
        return free_name(module, prefix)

    return name


def create_getattr_from_value(
    module: GraphModule, graph: Graph, prefix: str, value: float, device: Device | None = None
) -> Node:
    """Keep a value in a module as a buffer, and the node that fetches it.

    Parameters
    ----------
    module, graph
        A module and its graph.
    prefix
        How the name of the buffer begins.
    value
        A tensor, which is copied, or numbers.
    device
        Where it is to be: the CPU.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.fx.symbolic_trace(pyqref.nn.ReLU())
    >>> create_getattr_from_value(model, model.graph, "scale_", 0.5), model.scale_0
    (scale_0, tensor(0.5000))
    """
    name = free_name(module, prefix)
    kept = value.detach().clone() if isinstance(value, Tensor) else tensor(value)
    module.register_buffer(name, kept if device is None else kept.to(device))
    return graph.create_node("get_attr", name)


def collect_producer_nodes(node: Node) -> list[Node] | None:
    """A node and all that it is computed from, the node first.

    Returns
    -------
    list of Node or None
        None if an input of the model is among them.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.fx.symbolic_trace(pyqref.nn.Linear(1, 1))
    >>> collect_producer_nodes(next(iter(model.graph.nodes)))  # an input
    """
    found, left = [node], [node]
    while left:
        for each in left.pop().all_input_nodes:
            if each.op == "placeholder":
                return None
            if each not in found:
                found.append(each)
                left.append(each)
    return None if node.op == "placeholder" else found


def graph_module_from_producer_nodes(root: Module, producer_nodes: list[Node]) -> GraphModule:
    """A model without inputs, of the nodes of :func:`collect_producer_nodes`.

    Parameters
    ----------
    root
        The model of the nodes.
    producer_nodes
        The nodes, the one that is the result first.

    Raises
    ------
    ValueError
        If there are none.

    Examples
    --------
    >>> import pyqref
    >>> class Scaled(pyqref.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = pyqref.nn.Parameter(pyqref.ones(1))
    ...     def forward(self, x):
    ...         return x * (self.weight + 1)
    >>> model = pyqref.fx.symbolic_trace(Scaled())
    >>> nodes = collect_producer_nodes(model.graph.find_nodes(op="call_function")[0])
    >>> graph_module_from_producer_nodes(model, nodes)().tolist()
    [2.0]
    """
    if not producer_nodes:
        raise ValueError("producer_nodes must hold the node of the result, got an empty list")
    graph = Graph()
    copied: dict[Node, Node] = {}

    def copy(node: Node) -> Node:
        if node not in copied:
            for each in node.all_input_nodes:
                copy(each)
            copied[node] = graph.node_copy(node, copied.__getitem__)
        return copied[node]

    graph.output(copy(producer_nodes[0]))
    return GraphModule(root, graph)


def assert_and_get_unique_device(module: Module) -> Device | None:
    """The device of the parameters and buffers of a module; None if it has none.

    Raises
    ------
    AssertionError
        If there are several.

    Examples
    --------
    >>> import pyqref
    >>> assert_and_get_unique_device(pyqref.nn.Linear(1, 1))
    device(type='cpu')
    """
    devices = {each.device for each in (*module.parameters(), *module.buffers())}
    if len(devices) > 1:
        raise AssertionError(f"the module must be on one device, got {sorted(map(str, devices))}")
    return devices.pop() if devices else None
