"""Pass: inputs and outputs of the model that are quantized tensors.

::

    x -> dequantize -> linear ...           an input that is quantized already
    ... linear -> quantize -> output        an output that stays quantized
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node

__all__ = ["dequantize_inputs", "keep_outputs_quantized"]


def dequantize_inputs(model: GraphModule, indexes: list[int]) -> None:
    """Dequantize inputs that are given as quantized tensors.

    Parameters
    ----------
    model
        The model.
    indexes
        Which inputs, from 0.
    """
    inputs = [node for node in model.graph.nodes if node.op == "placeholder"]
    for index, node in enumerate(inputs):
        if index not in indexes:
            continue
        users = list(node.users)
        with model.graph.inserting_after(node):
            float_node = model.graph.call_method("dequantize", (node,))
        for user in users:
            user.replace_input_with(node, float_node)


def keep_outputs_quantized(model: GraphModule, indexes: list[int]) -> None:
    """Return tensors before they are dequantized.

    Parameters
    ----------
    model
        The model.
    indexes
        Which outputs, from 0; a single result is output 0.
    """
    node = model.graph.output_node()
    results = node.args[0]
    if isinstance(results, tuple | list):
        kept = [_kept(each) if i in indexes else each for i, each in enumerate(results)]
        node.args = (type(results)(kept),)
    elif 0 in indexes:
        node.args = (_kept(results),)


def _kept(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)([_kept(each) for each in value])
    if isinstance(value, dict):
        return {key: _kept(each) for key, each in value.items()}
    if isinstance(value, Node) and value.op == "call_method" and value.target == "dequantize":
        return value.args[0]
    return value
