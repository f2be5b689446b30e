r"""Pass: sums and products of quantized tensors.

::

    x -> dequantize \
                     + -> relu -> quantize(s, z)          before
    y -> dequantize /

    ops.quantized.add_relu(x, y, s, z)                    after
    ops.quantized.add(x, 3)                               with a number: its own grid
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node

from .lowering_tables import BINARY
from .reference_pattern import is_dequantize, reference_at

__all__ = ["lower_binary"]


def lower_binary(model: GraphModule, qconfigs: dict[str, Any]) -> None:
    """Lower them, in place.

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
        if reference is None or reference.operation.target not in BINARY:
            continue
        operation, relu = reference.operation, reference.relu
        given = _both(operation)
        inputs = [each for each in given if isinstance(each, Node)]
        plain, with_relu = BINARY[operation.target]
        quantized = plain if relu is None else with_relu
        if quantized is None or not inputs or not all(map(is_dequantize, inputs)):
            continue
        arguments = [each.args[0] if isinstance(each, Node) else each for each in given]
        if len(inputs) == 2:
            arguments += reference.quantize.args[1:3]
        with graph.inserting_after(reference.quantize):
            made = graph.call_function(quantized, tuple(arguments))
        made.meta.update(operation.meta)
        reference.quantize.replace_all_uses_with(made)
        graph.erase_node(reference.quantize)
        if relu is not None:
            graph.erase_node(relu)
        graph.erase_node(operation)


def _both(operation: Node) -> tuple[Any, ...]:
    """The two operands; none if there is more to the call, such as a factor ``alpha``."""
    rest = {name: each for name, each in operation.kwargs.items() if name != "other"}
    if rest.pop("alpha", 1) != 1 or rest:
        return ()
    other = (operation.kwargs["other"],) if "other" in operation.kwargs else ()
    return (*operation.args, *other)
