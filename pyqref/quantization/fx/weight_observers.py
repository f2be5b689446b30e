"""Pass: let observers of functional weights see the weights.

A weight passes its observer in each calibration run; a model that was never run is
converted, too::

    w -> observer -> F.linear
"""

from __future__ import annotations

from collections.abc import Iterable

from pyqref.fx import GraphModule, Node
from pyqref.quantization.backend_config import BackendConfig

from .evaluation import depends_on_input, value_of
from .observed import is_observer_node

__all__ = ["observe_weights", "weight_observers"]


def weight_observers(model: GraphModule, backend_config: BackendConfig) -> set[Node]:
    """The nodes of the observers in front of weight arguments of functions.

    Parameters
    ----------
    model
        The prepared model.
    backend_config
        Says which arguments are weights.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    places = {
        each.pattern: each._input_type_to_index["weight"]
        for each in backend_config.configs
        if "weight" in each._input_type_to_index
    }
    found = set()
    for node in model.graph.nodes:
        if node.op != "call_function" or node.target not in places:
            continue
        index = places[node.target]
        weight = node.args[index] if index < len(node.args) else node.kwargs.get("weight")
        if isinstance(weight, Node) and is_observer_node(weight, modules):
            found.add(weight)
    return found


def observe_weights(model: GraphModule, observers: Iterable[Node]) -> None:
    """Run the observers of weights once.

    Parameters
    ----------
    model
        The prepared model.
    observers
        Their nodes.
    """
    for node in observers:
        if not depends_on_input(node):
            value_of(model, node)
