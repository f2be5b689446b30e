"""Finding reference patterns: an operation between dequantize and quantize nodes.

::

    dequantize -> operation (-> relu) -> quantize_per_tensor
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.nn import modules as nn
from pyqref.tensor import quantize_per_tensor, quantize_per_tensor_dynamic

from .lowering_tables import RELU_FUNCTIONS

__all__ = [
    "Reference",
    "is_dequantize",
    "is_dynamic_quantize",
    "is_quantize",
    "is_relu",
    "reference_at",
    "take_quantized",
]


@dataclass(frozen=True)
class Reference:
    """A reference pattern.

    Attributes
    ----------
    quantize
        The node that quantizes the output.
    relu
        The ReLU before it, or None.
    operation
        The node that computes.
    """

    quantize: Node
    relu: Node | None
    operation: Node

    def grid(self, model: GraphModule) -> tuple[Any, Any]:
        """Scale and zero point of the output."""
        scale, zero_point = self.quantize.args[1:3]
        return getattr(model, scale.target), getattr(model, zero_point.target)

    def erase_grid(self, model: GraphModule) -> None:
        """Remove the nodes of scale and zero point once they have no users."""
        nodes = self.quantize.args[1:3]
        self.quantize.replace_all_uses_with(self.quantize.args[0])
        model.graph.erase_node(self.quantize)
        for node in nodes:
            if not node.users:
                model.graph.erase_node(node)


def is_quantize(node: Node) -> bool:
    """Return True if a node quantizes with known parameters."""
    return isinstance(node, Node) and node.target is quantize_per_tensor


def is_dynamic_quantize(node: Node) -> bool:
    """Return True if a node quantizes with parameters that it chooses itself."""
    return isinstance(node, Node) and node.target is quantize_per_tensor_dynamic


def is_dequantize(node: Node) -> bool:
    """Return True if a node dequantizes."""
    return isinstance(node, Node) and node.op == "call_method" and node.target == "dequantize"


def is_relu(model: GraphModule, node: object) -> bool:
    """Return True if a node is a ReLU: function or module."""
    if not isinstance(node, Node):
        return False
    if node.op == "call_module":
        return type(model.get_submodule(node.target)) is nn.ReLU
    return node.op == "call_function" and node.target in RELU_FUNCTIONS


def reference_at(
    model: GraphModule, node: Node, qconfigs: dict[str, Any], with_relu: bool = True
) -> Reference | None:
    """The reference pattern that ends at a node; None if there is none, or it is left out.

    Parameters
    ----------
    model
        The reference model.
    node
        The node.
    qconfigs
        Of nodes by name: None for those that are left out.
    with_relu
        Whether a ReLU may stand before ``node``.
    """
    if not is_quantize(node):
        return None
    operation, relu = node.args[0], None
    if with_relu and is_relu(model, operation) and not is_dequantize(operation.args[0]):
        relu, operation = operation, operation.args[0]
        if not isinstance(operation, Node) or len(operation.users) > 1:
            return None
    if not isinstance(operation, Node):
        return None
    if operation.name in qconfigs and qconfigs[operation.name] is None:
        return None
    return Reference(node, relu, operation)


def take_quantized(node: Node) -> int:
    """Take the arguments of a node before they are dequantized.

    Returns
    -------
    int
        How many there were.
    """
    found = [each for each in node.all_input_nodes if is_dequantize(each)]
    for each in found:
        node.replace_input_with(each, each.args[0])
    return len(found)
