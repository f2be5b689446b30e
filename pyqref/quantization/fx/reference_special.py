"""Pass: custom and standalone modules.

A custom module takes and gives quantized tensors::

    quantize -> dequantize -> observed -> quantize -> dequantize          before
    quantize -> quantized -> dequantize                                   after

A standalone module is converted by itself; where its custom config says that it takes or
gives quantized tensors, the nodes around it do, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.quantization.quant_type import QuantType

from .custom_config import ConvertCustomConfig
from .observed import Preparation
from .paths import replace_module

__all__ = ["SpecialConversion"]


class SpecialConversion:
    """What convert does with custom and standalone modules.

    Parameters
    ----------
    model
        The prepared model.
    preparation
        Knows which nodes were observed.
    custom
        From observed to quantized classes.
    convert_inner
        Converts a standalone module.
    """

    def __init__(
        self,
        model: GraphModule,
        preparation: Preparation,
        custom: ConvertCustomConfig,
        convert_inner: Callable[[GraphModule], GraphModule],
    ) -> None:
        self._model = model
        self._observed = preparation.observed
        self._convert_inner = convert_inner
        self._quantized = {
            observed: each
            for kind in QuantType
            for observed, each in custom.observed_to_quantized_mapping.get(kind, {}).items()
        }
        self._waiting: list[Node] = []

    def convert(self, node: Node, module: Any) -> None:
        """Convert the module that a node calls, if it is such a one."""
        if type(module) in self._quantized and node.name in self._observed:
            # Its output is quantized by a node that is not there yet.
            self._waiting.append(node)
        elif isinstance(module, GraphModule) and "quantization" in module.meta:
            inner = module.meta["quantization"].custom
            replace_module(self._model, node.target, self._convert_inner(module))
            if inner.input_quantized_indexes:
                _take_quantized(self._model, node)
            if inner.output_quantized_indexes:
                _dequantize_behind(self._model, node)

    def finish(self) -> None:
        """Convert the custom modules."""
        for node in self._waiting:
            module = self._model.get_submodule(node.target)
            _convert_custom(self._model, node, module, self._quantized[type(module)])


def _convert_custom(model: GraphModule, node: Node, module: Any, quantized: Any) -> None:
    _take_quantized(model, node)
    for user in list(node.users):
        if user.op == "call_function" and user.target.__name__ == "quantize_per_tensor":
            _, scale, zero_point, _ = user.args
            module.scale = float(getattr(model, scale.target))
            module.zero_point = int(getattr(model, zero_point.target))
            user.replace_all_uses_with(node)
            model.graph.erase_node(user)
    replace_module(model, node.target, quantized.from_observed(module))


def _take_quantized(model: GraphModule, node: Node) -> None:
    """Take the first argument before it is dequantized."""
    first = node.args[0]
    if isinstance(first, Node) and first.op == "call_method" and first.target == "dequantize":
        node.args = (first.args[0], *node.args[1:])
        if not first.users:
            model.graph.erase_node(first)


def _dequantize_behind(model: GraphModule, node: Node) -> None:
    users = list(node.users)
    with model.graph.inserting_after(node):
        float_node = model.graph.call_method("dequantize", (node,))
    for user in users:
        user.replace_input_with(node, float_node)
