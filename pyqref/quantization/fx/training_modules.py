"""Pass: for quantization-aware training, replace layers by those with fake quantization.

Looks for modules with a qconfig whose class has a ``qat_module`` in the back end::

    x -> linear (Linear) -> y                before
    x -> linear (qat.Linear) -> y            after
"""

from __future__ import annotations

from pyqref.fx import GraphModule
from pyqref.quantization.backend_config import BackendConfig

from .failures import telling
from .paths import replace_module

__all__ = ["swap_for_training"]


def swap_for_training(model: GraphModule, backend_config: BackendConfig) -> None:
    """Swap the called modules of a model, in place.

    Parameters
    ----------
    model
        The fused model, whose modules have qconfigs.
    backend_config
        Says what takes the place of what.
    """
    table = {each.pattern: each.qat_module for each in backend_config.configs if each.qat_module}
    for node in model.graph.nodes:
        if node.op != "call_module":
            continue
        module = model.get_submodule(node.target)
        if type(module) in table and getattr(module, "qconfig", None) is not None:
            with telling(model, node):
                trained = table[type(module)].from_float(module)
            trained.train(module.training)
            replace_module(model, node.target, trained)
