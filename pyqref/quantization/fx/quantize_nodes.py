"""Pass: observers become quantize and dequantize nodes.

Static, with the parameters that the observer found as attributes of the model::

    x -> observer -> y                                                          before
    x -> quantize_per_tensor(scale, zero_point, quint8) -> dequantize -> y      after

dynamic, and float16::

    x -> quantize_per_tensor_dynamic(quint8, reduce_range) -> dequantize -> y
    x -> to(float16) -> dequantize -> y

and for a weight whose observer has a range narrower than its dtype::

    w -> quantize_per_channel -> clamp_integers(-8, 7) -> dequantize -> y
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref import backends
from pyqref._typing import Module
from pyqref.dtypes import float16, int64
from pyqref.fx import GraphModule, Node
from pyqref.nn import functional as F
from pyqref.tensor import (
    quantize_per_channel,
    quantize_per_tensor,
    quantize_per_tensor_dynamic,
    tensor,
)

from .integer_ranges import IntegerRanges
from .paths import free_name

__all__ = ["replace_observer"]

Scopes = dict[str, tuple[str, Any]]


def replace_observer(
    model: GraphModule,
    node: Node,
    observer: Module,
    qconfigs: dict[str, Any],
    scopes: Scopes,
    ranges: IntegerRanges,
) -> Node | None:
    """Replace an observer's node, in place.

    Parameters
    ----------
    model
        The prepared model.
    node, observer
        The node and the module that it calls.
    qconfigs, scopes
        Of the nodes by name.
    ranges
        Keeps weights in the range of their observers, and takes note of those of activations.

    Returns
    -------
    Node, or None
        The quantized value; None if it stays float.
    """
    around = [*node.args, *node.users]
    skipped = all(each.name in qconfigs and qconfigs[each.name] is None for each in around)
    quantize = None if skipped else _quantization_for(observer)
    quantized = None
    if quantize is None:
        node.replace_all_uses_with(node.args[0])
    else:
        with model.graph.inserting_before(node):
            quantized = quantize(model, node, observer, _prefix(node, qconfigs, scopes))
            quantized = ranges.after(quantized, node, observer)
            dequantized = model.graph.call_method("dequantize", (quantized,))
        node.replace_all_uses_with(dequantized)
    model.graph.erase_node(node)
    return quantized


def _quantization_for(observer: Any) -> Callable[..., Node] | None:
    dtype = getattr(observer, "dtype", None)
    if getattr(observer, "is_dynamic", False):
        return _dynamic
    if dtype is float16:
        return _half
    if dtype is None or not dtype.is_quantized:
        return None
    return _per_channel if observer.qscheme.is_per_channel else _per_tensor


def _prefix(node: Node, qconfigs: dict[str, Any], scopes: Scopes) -> str:
    """Return the prefix of attributes: the operation observed, or the one that asks for it."""
    observed = node.args[0]
    if observed.name not in qconfigs or qconfigs[observed.name] is not None:
        return scopes.get(observed.name, ("", None))[0]
    users = list(node.users)
    first = next((each for each in users if each.target is F.linear), users[0] if users else None)
    path = "" if first is None else scopes.get(first.name, ("", None))[0]
    return f"{path}_input"


def _attribute(model: GraphModule, prefix: str, value: Any) -> Node:
    """A node that fetches a value, which is put into a new buffer of the model."""
    name = free_name(model, prefix)
    model.register_buffer(name, value)
    return model.graph.get_attr(name)


def _per_tensor(model: GraphModule, node: Node, observer: Any, prefix: str) -> Node:
    scale, zero_point = observer.calculate_qparams()
    scale_node = _attribute(model, f"{prefix}_scale_", tensor(float(scale)))
    zero_point_node = _attribute(model, f"{prefix}_zero_point_", tensor(int(zero_point)))
    arguments = (node.args[0], scale_node, zero_point_node, observer.dtype)
    return model.graph.call_function(quantize_per_tensor, arguments)


def _per_channel(model: GraphModule, node: Node, observer: Any, prefix: str) -> Node:
    scales, zero_points = observer.calculate_qparams()
    scale_node = _attribute(model, f"{prefix}_scale_", scales.detach().clone())
    kept = zero_points if zero_points.is_floating_point() else zero_points.to(int64)
    zero_point_node = _attribute(model, f"{prefix}_zero_point_", kept.detach().clone())
    axis = int(observer.ch_axis)
    arguments = (node.args[0], scale_node, zero_point_node, axis, observer.dtype)
    return model.graph.call_function(quantize_per_channel, arguments)


def _dynamic(model: GraphModule, node: Node, observer: Any, prefix: str) -> Node:
    reduce_range = backends.quantized.engine in ("fbgemm", "x86")
    arguments = (node.args[0], observer.dtype, reduce_range)
    return model.graph.call_function(quantize_per_tensor_dynamic, arguments)


def _half(model: GraphModule, node: Node, observer: Any, prefix: str) -> Node:
    return model.graph.call_method("to", (node.args[0], float16))
