"""Passes: operations that are given a grid, those that keep one, and questions of shape.

::

    dequantize -> F.hardswish -> quantize(s, z)           before
    ops.quantized.hardswish(x, output_scale=s, ...)       after

    dequantize -> max_pool2d -> quantize(s, z)            before
    max_pool2d                                            after

    dequantize -> size                                    before
    size                                                  after
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node

from .failures import telling
from .lowering_tables import (
    ARGUMENTS_TO_SKIP,
    KEEPS_GRID,
    WITH_GRID_FUNCTIONS,
    WITH_GRID_MODULES,
)
from .paths import replace_module
from .reference_pattern import Reference, is_dequantize, reference_at, take_quantized

__all__ = ["keeps_grid", "lower_others", "lower_shape_questions"]


def lower_shape_questions(model: GraphModule) -> None:
    """Ask a quantized tensor for its shape, not the dequantized one.

    Parameters
    ----------
    model
        The reference model.
    """
    for node in model.graph.nodes:
        asks = node.op == "call_method" and node.target == "size"
        asks |= node.target is getattr and node.args[1] == "shape"
        if asks and is_dequantize(node.args[0]):
            take_quantized(node)


def lower_others(model: GraphModule, qconfigs: dict[str, Any]) -> None:
    """Lower what has no weight on a grid.

    Parameters
    ----------
    model
        The reference model.
    qconfigs
        Of nodes by name.
    """
    for node in list(model.graph.nodes):
        reference = reference_at(model, node, qconfigs, with_relu=False)
        if reference is None or not _has_quantized_input(reference.operation):
            continue
        operation = reference.operation
        what = _operation(model, operation)
        if what in WITH_GRID_FUNCTIONS:
            _give_grid(model, reference, WITH_GRID_FUNCTIONS[what])
            continue
        if what in WITH_GRID_MODULES:
            scale, zero_point = reference.grid(model)
            module = model.get_submodule(operation.target)
            kind = WITH_GRID_MODULES[what]
            with telling(model, operation):
                quantized = kind.from_reference(module, float(scale), int(zero_point))
            replace_module(model, operation.target, quantized)
        elif what not in KEEPS_GRID and what not in WITH_GRID_MODULES.values():
            continue
        take_quantized(operation)
        reference.erase_grid(model)


def keeps_grid(model: GraphModule, node: Node) -> bool:
    """Return True if a node of a reference model only moves integers and keeps their grid."""
    return _operation(model, node) in KEEPS_GRID and _has_quantized_input(node)


def _operation(model: GraphModule, node: Node) -> Any:
    """Return the operation of a node: a module class, a function or a method's name."""
    if node.op == "call_module":
        return type(model.get_submodule(node.target))
    return node.target if node.op in ("call_function", "call_method") else None


def _has_quantized_input(node: Node) -> bool:
    if not node.args and not node.kwargs:
        return False
    first = node.args[0] if node.args else next(iter(node.kwargs.values()))
    listed = first if isinstance(first, list | tuple) else [first]
    return len(listed) > 0 and all(map(is_dequantize, listed))


def _give_grid(model: GraphModule, reference: Reference, quantized: Any) -> None:
    """Replace a function by the quantized one, behind the nodes of its grid."""
    graph, operation = model.graph, reference.operation
    take_quantized(operation)
    scale, zero_point = reference.quantize.args[1:3]
    skipped = ARGUMENTS_TO_SKIP.get(quantized, ())
    kwargs = {name: each for name, each in operation.kwargs.items() if name not in skipped}
    kwargs.update(output_scale=scale, output_zero_point=zero_point)
    reference.quantize.replace_all_uses_with(operation)
    graph.erase_node(reference.quantize)
    with graph.inserting_after(zero_point):
        made = graph.call_function(quantized, operation.args, kwargs)
    made.meta.update(operation.meta)
    operation.replace_all_uses_with(made)
    graph.erase_node(operation)
