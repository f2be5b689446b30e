"""Pass: compute packed weights once, and keep them in the model.

::

    w -> quantize_per_channel -> conv2d_prepack -> conv2d           before
    _packed_weight_0 -> conv2d                                      after
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.nn.quantized.integer_range import clamp_integers

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
        Whether to keep what went into each packed weight, as ``original_weights_lookup``.

    Returns
    -------
    dict
        What is kept, by name.
    """
    kept: dict[str, list[Any]] = {}
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in _PACKING or depends_on_input(node):
            continue
        packed = value_of(model, node)
        user = next(iter(node.users))
        name = free_name(model, f"{scopes.get(user.name, ('', None))[0]}_packed_weight_")
        setattr(model, name, packed)
        if keep_original_weights:
            kept[name] = _original(model, node)
        with model.graph.inserting_before(node):
            fetched = model.graph.get_attr(name)
        node.replace_all_uses_with(fetched)
        model.graph.erase_node(node)
    model.graph.eliminate_dead_code()
    return {"original_weights_lookup": kept} if keep_original_weights else {}


def _original(model: GraphModule, packing: Node) -> list[Any]:
    """Weight, bias, zero point and scale that went into a packed weight, as torch lists them."""
    weight, *rest = packing.args
    bias = rest[0] if rest else packing.kwargs.get("bias")
    if not isinstance(weight, Node) or weight.op == "get_attr":  # float16 has no grid
        return [_value(model, weight), _value(model, bias)]
    if weight.target is clamp_integers:
        weight = weight.args[0]
    source, scale, zero_point = weight.args[:3]
    biases = [] if bias is None else [bias]
    return [_value(model, each) for each in (source, *biases, zero_point, scale)]


def _value(model: GraphModule, argument: Any) -> Any:
    return value_of(model, argument).detach() if isinstance(argument, Node) else argument
