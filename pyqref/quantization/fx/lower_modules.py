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
from pyqref.quantization.diagnostics import SharedObserverWarning, warn

from .failures import telling
from .lowering_tables import DYNAMIC_MODULES, STATIC_MODULES, WEIGHT_ONLY_MODULES
from .noted_ranges import give_range
from .paths import replace_module
from .reference_pattern import (
    Reference,
    is_dequantize,
    is_dynamic_quantize,
    reference_at,
    take_quantized,
)

__all__ = ["lower_dynamic_modules", "lower_static_modules", "lower_weight_only_modules"]


def _quantized_class(model: GraphModule, node: Node, table: dict[Any, Any]) -> Any:
    """Return the table's class for the module that a node calls, or None."""
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
    originals: dict[str, Any] = {}
    classes: dict[str, Any] = {}
    for node in list(model.graph.nodes):
        reference = reference_at(model, node, qconfigs)
        if reference is None or reference.operation.op != "call_module":
            continue
        operation = reference.operation
        path = operation.target
        quantized = classes.get(path) or _quantized_class(model, operation, STATIC_MODULES)
        inputs = [each for each in operation.args if isinstance(each, Node)]
        if quantized is None or not inputs or not all(map(is_dequantize, inputs)):
            continue
        scale, zero_point = (each.item() for each in reference.grid(model))
        if path in classes:
            _warn_of_reuse(model, path, (scale, zero_point))
        else:
            originals[path], classes[path] = model.get_submodule(path), quantized
        # A layer has one grid for its output: if it is called again, that of the last call.
        with telling(model, operation):
            made = quantized.from_reference(originals[path], scale, zero_point)
            give_range(reference.quantize, made)
        replace_module(model, path, made)
        take_quantized(operation)
        _drop_relu(reference, zero_point)
        reference.erase_grid(model)


def _drop_relu(reference: Reference, zero_point: int) -> None:
    """Leave out a ReLU behind a layer if its grid has no numbers below zero anyway."""
    if reference.relu is None:
        return
    if zero_point == reference.quantize.args[3].quant_min:
        reference.relu.replace_all_uses_with(reference.operation)
        reference.relu.graph.erase_node(reference.relu)


def _warn_of_reuse(model: GraphModule, path: str, grid: tuple[float, int]) -> None:
    before: Any = model.get_submodule(path)
    if (float(before.scale), int(before.zero_point)) != grid:
        warn(
            f"convert_fx: {path} is called more than once, with different ranges of its output; "
            f"all calls are given the grid of the last one, scale {grid[0]:g} and zero point "
            f"{grid[1]}; call a copy of the module instead if this loses accuracy",
            SharedObserverWarning,
        )


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
            with telling(model, node):
                module = quantized.from_reference(model.get_submodule(node.target))
            replace_module(model, node.target, module)
            done.add(node.target)
        node.replace_input_with(node.args[0], quantize.args[0])


def lower_weight_only_modules(model: GraphModule) -> None:
    """Lower reference layers with a quantized weight and float activations.

    Parameters
    ----------
    model
        The reference model.
    """
    for node in model.graph.nodes:
        quantized = _quantized_class(model, node, WEIGHT_ONLY_MODULES)
        if quantized is not None:
            with telling(model, node):
                module = quantized.from_reference(model.get_submodule(node.target))
            replace_module(model, node.target, module)
