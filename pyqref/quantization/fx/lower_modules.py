"""Passes: reference layers become quantized layers.

Static, with the grid of the output::

    dequantize -> conv (reference.Conv2d) -> quantize(scale, zero_point)        before
    conv (quantized.Conv2d)                                                     after

dynamic::

    quantize_per_tensor_dynamic -> dequantize -> lstm (reference.LSTM)          before
    lstm (quantized.dynamic.LSTM)                                               after

and with a quantized weight only.
"""

from __future__ import annotations

from typing import Any

from pyqref.dtypes import float16, qint8, quint8
from pyqref.fx import GraphModule, Node
from pyqref.nn.intrinsic.modules.fused import _FusedModule

from .lowering_tables import DYNAMIC_MODULES, STATIC_MODULES, WEIGHT_ONLY_MODULES
from .paths import replace_module
from .reference_pattern import (
    is_dequantize,
    is_dynamic_quantize,
    reference_at,
    take_quantized,
)

__all__ = ["lower_dynamic_modules", "lower_static_modules", "lower_weight_only_modules"]


def _quantized_class(model: GraphModule, node: Node, table: dict[Any, Any]) -> Any:
    """What the table has for the module that a node calls; None if nothing."""
    if node.op != "call_module":
        return None
    module = model.get_submodule(node.target)
    if isinstance(module, _FusedModule):
        return table.get((type(module), type(module[0])))
    return table.get(type(module))


def lower_static_modules(model: GraphModule, qconfigs: dict[str, Any]) -> None:
    """Lower reference layers between dequantize and quantize nodes.

    Parameters
    ----------
    model
        The reference model.
    qconfigs
        Of nodes by name.
    """
    done: set[str] = set()
    for node in list(model.graph.nodes):
        reference = reference_at(model, node, qconfigs, with_relu=False)
        if reference is None:
            continue
        operation = reference.operation
        made = operation.op == "call_module" and operation.target in done
        quantized = _quantized_class(model, operation, STATIC_MODULES)
        inputs = [each for each in operation.args if isinstance(each, Node)]
        if not (made or quantized) or not inputs or not all(map(is_dequantize, inputs)):
            continue
        if not made:
            module = model.get_submodule(operation.target)
            scale, zero_point = reference.grid(model)
            made_now = quantized.from_reference(module, float(scale), int(zero_point))
            replace_module(model, operation.target, made_now)
            done.add(operation.target)
        take_quantized(operation)
        reference.erase_grid(model)


def lower_dynamic_modules(model: GraphModule) -> None:
    """Lower reference layers behind dynamic quantization.

    Parameters
    ----------
    model
        The reference model.
    """
    done: set[str] = set()
    for node in list(model.graph.nodes):
        made = node.op == "call_module" and node.target in done
        quantized = _quantized_class(model, node, DYNAMIC_MODULES)
        if not (made or quantized) or not is_dequantize(node.args[0]):
            continue
        quantize = node.args[0].args[0]
        if not is_dynamic_quantize(quantize) or quantize.args[1] not in (quint8, qint8, float16):
            continue
        if not made:
            module = quantized.from_reference(model.get_submodule(node.target))
            replace_module(model, node.target, module)
            done.add(node.target)
        node.replace_input_with(node.args[0], quantize.args[0])


def lower_weight_only_modules(model: GraphModule) -> None:
    """Lower reference layers of which only the weight is quantized.

    Parameters
    ----------
    model
        The reference model.
    """
    for node in model.graph.nodes:
        quantized = _quantized_class(model, node, WEIGHT_ONLY_MODULES)
        if quantized is not None:
            module = quantized.from_reference(model.get_submodule(node.target))
            replace_module(model, node.target, module)
