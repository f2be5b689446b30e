"""Pass: compute packed weights once, and keep them in the model.

::

    w -> quantize_per_channel -> conv2d_prepack -> conv2d           before
    _packed_weight_0 -> conv2d                                      after
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node

from .evaluation import depends_on_input, value_of
from .lowering_tables import PREPACK, PREPACK_HALF
from .paths import free_name

__all__ = ["fold_weights"]

_PACKING = {*(each[0] for each in PREPACK.values()), *PREPACK_HALF.values()}


def fold_weights(
    model: GraphModule, scopes: dict[str, tuple[str, Any]], keep_original_weights: bool
) -> dict[str, Any]:
    """Fold the packing nodes of a model, in place.

    Parameters
    ----------
    model
        The lowered model.
    scopes
        Of nodes by name: attributes are named after the module in which a weight is used.
    keep_original_weights
        Whether to keep the float weight and bias, as ``orig_weight_i`` and ``orig_bias_i``.

    Returns
    -------
    dict
        What is kept, by name.
    """
    kept: dict[str, Any] = {}
    number = 0
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in _PACKING or depends_on_input(node):
            continue
        packed = value_of(model, node)
        user = next(iter(node.users))
        name = free_name(model, f"{scopes.get(user.name, ('', None))[0]}_packed_weight_")
        setattr(model, name, packed)
        if keep_original_weights:
            kept.update(_original(model, node, number))
            number += 1
        with model.graph.inserting_before(node):
            fetched = model.graph.get_attr(name)
        node.replace_all_uses_with(fetched)
        model.graph.erase_node(node)
    model.graph.eliminate_dead_code()
    return kept


def _original(model: GraphModule, node: Node, count: int) -> dict[str, Any]:
    """The float tensors that went into a packed weight."""
    found = {}
    for kind, source in zip(("weight", "bias"), node.args[:2], strict=False):
        while isinstance(source, Node) and source.op != "get_attr" and source.args:
            source = source.args[0]
        if isinstance(source, Node):
            found[f"orig_{kind}_{count}"] = value_of(model, source)
    return found
