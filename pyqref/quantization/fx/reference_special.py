"""Pass: custom and standalone modules.

A custom module takes and gives quantized tensors::

    quantize -> dequantize -> observed -> quantize -> dequantize          before
    quantize -> quantized -> dequantize                                   after

A standalone module is converted by itself; where its custom config says that it takes or
gives quantized tensors, the nodes around it do, too::

    x -> observer 0 -> prepared graph -> y                                before
    x -> quantize -> converted graph -> dequantize -> y                   after
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.quantization.eager.inner_warnings import at_path
from pyqref.quantization.quant_type import QuantType
from pyqref.quantization.stubs import DeQuantStub

from ..._typing import Module
from .custom_config import ConvertCustomConfig
from .observed import Preparation, is_observer_node
from .paths import replace_module

__all__ = ["SpecialConversion"]


class SpecialConversion:
    """Conversion of custom and standalone modules.

    Parameters
    ----------
    asks
        Who asks, for messages.
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
        asks: str,
        model: GraphModule,
        preparation: Preparation,
        custom: ConvertCustomConfig,
        convert_inner: Callable[[GraphModule], GraphModule],
    ) -> None:
        self._asks = asks
        self._model = model
        self._observed = preparation.observed
        self._convert_inner = convert_inner
        self._quantized = {
            observed: each
            for kind in QuantType
            for observed, each in custom.observed_to_quantized_mapping.get(kind, {}).items()
        }
        self.erased: set[Node] = set()

    def convert(self, node: Node, module: Module) -> None:
        """Convert the module that a node calls, if it is such a one."""
        if type(module) in self._quantized and node.name in self._observed:
            self._convert_custom(node, module, self._quantized[type(module)])
        elif isinstance(module, GraphModule) and module.meta.get("quantization") is not None:
            inner = module.meta["quantization"].custom
            replace_module(self._model, node.target, self._convert_inner(module))
            if inner.input_quantized_indexes:
                _take_quantized(self._model, node)
            if inner.output_quantized_indexes:
                _dequantize_behind(self._model, node)

    def _convert_custom(self, node: Node, module: Any, quantized: Any) -> None:
        """Take the observer behind it as its own, and dequantize what it gives."""
        _take_quantized(self._model, node)
        modules = dict(self._model.named_modules(remove_duplicate=False))
        for user in list(node.users):
            if is_observer_node(user, modules):
                module.activation_post_process = modules[user.target]
                user.replace_all_uses_with(node)
                self._model.graph.erase_node(user)
                self.erased.add(user)
        results = _results(node)
        with at_path(self._asks, f"{node.target} ({type(module).__name__})"):
            made = quantized.from_observed(module)
        replace_module(self._model, node.target, made)
        for each in results:
            _dequantize_behind(self._model, each)


def _results(node: Node) -> list[Node]:
    """The tensors that a module gives: its value, or the elements of a tuple."""
    elements = [each for each in node.users if each.target is operator.getitem]
    if not elements or len(elements) < len(node.users):
        return [node]
    return [each for element in elements for each in _results(element)]


def _take_quantized(model: GraphModule, node: Node) -> None:
    """Take the arguments before they are dequantized."""
    for each in node.all_input_nodes:
        if each.op == "call_method" and each.target == "dequantize":
            node.replace_input_with(each, each.args[0])
            if not each.users:
                model.graph.erase_node(each)


def _dequantize_behind(model: GraphModule, node: Node) -> None:
    users = list(node.users)
    with model.graph.inserting_after(node):
        float_node = model.graph.call_method("dequantize", (node,))
    for user in users:
        if user.op == "call_module" and type(model.get_submodule(user.target)) is DeQuantStub:
            user.replace_all_uses_with(float_node)
            model.graph.erase_node(user)
        else:
            user.replace_input_with(node, float_node)
