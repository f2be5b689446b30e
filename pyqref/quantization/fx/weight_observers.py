"""Pass: let observers of functional weights see the weights.

A weight passes its observer in each calibration run; a model that was never run is
converted, too::

    w -> observer -> F.linear
"""

from __future__ import annotations

from pyqref.fx import GraphModule, Node
from pyqref.quantization.backend_config import BackendConfig

from .evaluation import depends_on_input, value_of
from .observed import is_observer_node

__all__ = ["observe_weights"]


def observe_weights(model: GraphModule, backend_config: BackendConfig) -> None:
    """Run the observers in front of weight arguments once.

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
    for node in model.graph.nodes:
        if node.op != "call_function" or node.target not in places:
            continue
        index = places[node.target]
        weight = node.args[index] if index < len(node.args) else node.kwargs.get("weight")
        if not isinstance(weight, Node) or not is_observer_node(weight, modules):
            continue
        if not depends_on_input(weight):
            value_of(model, weight)
