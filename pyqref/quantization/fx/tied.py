"""Parameters that the model reads from layers that are replaced meanwhile.

``F.linear(x, self.embedding.weight)`` ties a product to the weight of an embedding, and
``self.conv.weight.mean()`` looks into a convolution. Both layers may be fused or quantized; the
code goes on with the float parameter that it read, which the graph then keeps itself::

    embedding.weight -> linear                                              before
    embedding_weight_0 -> linear, embedding (quantized.Embedding)           after
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyqref.fx import GraphModule
from pyqref.tensor.base import TensorBase
from pyqref.tensor.parameter import Parameter

from .paths import free_name, get_attribute

__all__ = ["keeping_what_is_read"]


@contextmanager
def keeping_what_is_read(model: GraphModule) -> Iterator[None]:
    """Let nodes that read a layer's parameters or buffers read the same ones after a change.

    Inside, the model has each under a name of its own; afterwards it is read from its layer
    again, where this still has it.

    Parameters
    ----------
    model
        The graph, whose layers are replaced inside.
    """
    held: dict[str, tuple[str, Any]] = {}
    called = {node.target for node in model.graph.nodes if node.op == "call_module"}
    reading = [node for node in model.graph.nodes if node.op == "get_attr"]
    for node in reading:
        path = node.target
        if path not in held and any(path.startswith(f"{each}.") for each in called):
            name, value = free_name(model, f"{path}_"), get_attribute(model, path)
            _set(model, name, value)
            held[path] = name, value
        if path in held:
            node.target = held[path][0]
    yield
    for path, (name, value) in held.items():
        nodes = [node for node in model.graph.nodes if node.target == name]
        if _has(model, path, value):
            for node in nodes:
                node.target = path
            nodes = []
        if not nodes:
            delattr(model, name)
    if held:
        model.recompile()


def _set(model: GraphModule, name: str, value: Any) -> None:
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        model.register_buffer(name, value)
    else:
        setattr(model, name, value)


def _has(model: GraphModule, path: str, value: Any) -> bool:
    try:
        return get_attribute(model, path) is value
    except AttributeError:
        return False
