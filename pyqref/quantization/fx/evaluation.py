"""The value of a node that depends on no input: a weight, and what is computed from it."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Tensor
from pyqref.fx import GraphModule, Node, map_arg
from pyqref.tape.grad_mode import no_grad

from .failures import telling
from .paths import get_attribute

__all__ = ["depends_on_input", "value_of"]


def depends_on_input(node: Node) -> bool:
    """Return True if a node depends on an input of the model.

    Examples
    --------
    >>> import pyqref
    >>> graph = pyqref.fx.symbolic_trace(lambda x: x + 1).graph
    >>> [depends_on_input(node) for node in graph.nodes]
    [True, True, True]
    """
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.op == "placeholder":
            return True
        new = [other for other in each.all_input_nodes if other not in seen]
        seen.update(new)
        waiting += new
    return False


def value_of(model: GraphModule, node: Node) -> Tensor:
    """Compute a node that depends on no input.

    Parameters
    ----------
    model
        Where attributes and modules come from.
    node
        The node.
    """
    known: dict[Node, Any] = {}

    def value(each: Node) -> Any:
        if each not in known:
            args, kwargs = map_arg(each.args, value), map_arg(each.kwargs, value)
            with telling(model, each):
                known[each] = _run(model, each, args, kwargs)
        return known[each]

    with no_grad():
        return value(node)


def _run(model: GraphModule, node: Node, args: Any, kwargs: Any) -> Any:
    if node.op == "get_attr":
        return get_attribute(model, node.target)
    if node.op == "call_function":
        return node.target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    if node.op == "call_module":
        return model.get_submodule(node.target)(*args, **kwargs)
    raise ValueError(f"node {node.name!r} ({node.op}) depends on an input of the model")
