r"""Passes: functions with quantized weights become quantized functions.

Static::

    x -> dequantize ---------------------\
                                          F.conv2d -> relu -> quantize(s, z)     before
    w -> quantize_per_channel -> dequantize /

    ops.quantized.conv2d_relu(x, packed weight, s, z)                            after

dynamic::

    ops.quantized.linear_dynamic(x, packed weight, reduce_range)

The packing node is computed once, by :mod:`.fold_weights`.
"""

from __future__ import annotations

from typing import Any

from pyqref.dtypes import float16
from pyqref.fx import GraphModule, Node

from .lowering_tables import DYNAMIC_FUNCTIONS, PREPACK, PREPACK_HALF, STATIC_FUNCTIONS
from .reference_pattern import (
    is_dequantize,
    is_dynamic_quantize,
    is_relu,
    reference_at,
)

__all__ = ["lower_dynamic_functions", "lower_static_functions"]


def _argument(node: Node, index: int, name: str, default: Any = None) -> Any:
    return node.args[index] if index < len(node.args) else node.kwargs.get(name, default)


def _packing_arguments(node: Node, weight: Node) -> tuple[Any, ...]:
    """Weight, bias and options, complete and in the order of the packing function."""
    _, options, order = PREPACK[node.target]
    bias = _argument(node, 2, "bias")
    given = {
        name: _argument(node, 3 + index, name, default)
        for index, (name, default) in enumerate(options.items())
    }
    dimensions = int(getattr(node.target, "__name__", "")[-2]) if options else 0
    for name, value in given.items():
        if name != "groups" and isinstance(value, int):
            given[name] = (value,) * dimensions
    return (weight, bias, *(given[name] for name in order))


def lower_static_functions(model: GraphModule, qconfigs: dict[str, Any]) -> None:
    """Lower functions between dequantize and quantize nodes.

    Parameters
    ----------
    model
        The reference model.
    qconfigs
        Of nodes by name.
    """
    graph = model.graph
    for node in list(graph.nodes):
        reference = reference_at(model, node, qconfigs)
        if reference is None or reference.operation.target not in STATIC_FUNCTIONS:
            continue
        operation, relu = reference.operation, reference.relu
        plain, with_relu = STATIC_FUNCTIONS[operation.target]
        x, weight = operation.args[0], _argument(operation, 1, "weight")
        quantized = plain if relu is None else with_relu
        if quantized is None or not (is_dequantize(x) and is_dequantize(weight)):
            continue
        scale, zero_point = reference.quantize.args[1:3]
        with graph.inserting_before(scale):
            packed = graph.call_function(
                PREPACK[operation.target][0], _packing_arguments(operation, weight.args[0])
            )
        packed.meta.update(operation.meta)
        operation.target = quantized
        operation.args = (x.args[0], packed, scale, zero_point)
        operation.kwargs = {}
        reference.quantize.replace_all_uses_with(operation)
        zero_point.append(operation)
        graph.erase_node(reference.quantize)
        if relu is not None:
            graph.erase_node(relu)


def lower_dynamic_functions(model: GraphModule) -> None:
    """Lower functions behind dynamic quantization.

    Parameters
    ----------
    model
        The reference model.
    """
    graph = model.graph
    for operation in list(graph.nodes):
        if operation.op != "call_function" or operation.target not in PREPACK:
            continue
        x, weight = operation.args[0], _argument(operation, 1, "weight")
        if not (is_dequantize(x) and is_dequantize(weight)):
            continue
        quantize = x.args[0]
        if not is_dynamic_quantize(quantize):
            continue
        dtype, reduce_range = quantize.args[1:]
        found = DYNAMIC_FUNCTIONS.get((operation.target, dtype))
        if found is None:
            continue
        users = list(operation.users)
        relu = users[0] if len(users) == 1 and is_relu(model, users[0]) else None
        quantized = found[0] if relu is None or found[1] is None else found[1]
        half = dtype is float16
        prepack = PREPACK_HALF[operation.target] if half else PREPACK[operation.target][0]
        with graph.inserting_before(operation):
            source = _half_source(weight) if half else weight.args[0]
            packed = graph.call_function(prepack, _packing_arguments(operation, source))
        packed.meta.update(operation.meta)
        operation.target = quantized
        value = quantize.args[0]
        operation.args = (value, packed) if half else (value, packed, reduce_range)
        operation.kwargs = {}
        if relu is not None and found[1] is not None:
            relu.replace_all_uses_with(operation)
            graph.erase_node(relu)


def _half_source(weight: Node) -> Node:
    """The float weight itself: packing rounds it to float16."""
    rounded = weight.args[0]
    source: Node = rounded.args[0] if rounded.target == "to" else rounded
    return source
