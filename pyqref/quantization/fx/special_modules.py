"""Custom modules, observed and quantized by classes of the user's, and standalone ones.

A *custom* module is replaced by ``observed_class.from_float(module)`` and later by
``quantized_class.from_observed(module)``. A *standalone* module is prepared and converted
by itself, as one module of the graph around it::

    x -> custom (Float) -> standalone -> y                                before
    x -> custom (Observed) -> standalone (its own observed graph) -> y    after
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pyqref.dtypes import quint8
from pyqref.fx import GraphModule, Node
from pyqref.nn import LSTM, quantizable
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.quantization.quant_type import QuantType

from .custom_config import PrepareCustomConfig, StandaloneModuleConfigEntry
from .lstm_outputs import take_outputs_apart
from .observed import Preparation, is_observer_node
from .paths import replace_module
from .targets import FLOAT, Target, Want

__all__ = ["SpecialModules"]


class SpecialModules:
    """Preparation of custom and standalone modules.

    Parameters
    ----------
    model
        The fused model.
    preparation
        Knows the qconfigs and the custom config.
    prepare_one
        Prepares a standalone module: from its path, mapping, custom config, back end.
    """

    def __init__(
        self, model: GraphModule, preparation: Preparation, prepare_one: Callable[..., Any]
    ) -> None:
        self.model = model
        self.preparation = preparation
        self._prepare_one = prepare_one
        self._targets: dict[Node, Target | None] = {}
        custom = preparation.custom
        self._observed: dict[Any, Any] = dict(
            custom.float_to_observed_mapping.get(QuantType.STATIC, {})
        )
        modules = dict(model.named_modules(remove_duplicate=False))
        for node in list(model.graph.nodes):
            if node.op == "call_module":
                entry = self._entry(node.target, modules[node.target])
                if entry is not None:
                    self._targets[node] = self._prepare(node, entry)
                elif type(modules[node.target]) in self._observed:
                    self._targets[node] = self._custom_target(node)

    def owns(self, node: Node) -> bool:
        """Return True if the node is a custom or standalone module."""
        return node in self._targets

    def target(self, node: Node) -> Target | None:
        """Return the target of a special module; None for other or unquantized modules."""
        return self._targets.get(node)

    def finish(self, node: Node) -> tuple[list[Node], set[Node]]:
        """Replace a custom module by its observed form.

        Returns
        -------
        list, set
            Nodes that were added, whose values are quantized, and such as have no use now.
        """
        module = self.model.get_submodule(node.target)
        if type(module) not in self._observed:
            return [], set()
        is_lstm = type(module) is LSTM and issubclass(self._observed[LSTM], quantizable.LSTM)
        observed = self._observed[type(module)].from_float(module)
        observed.qconfig = module.qconfig
        observed.train(module.training)
        replace_module(self.model, node.target, observed)
        return take_outputs_apart(self.model, node) if is_lstm else ([], set())

    def _entry(self, path: str, module: Any) -> StandaloneModuleConfigEntry | None:
        custom = self.preparation.custom
        by_class = custom.standalone_module_classes.get(type(module))
        return custom.standalone_module_names.get(path, by_class)

    def _custom_target(self, node: Node) -> Target | None:
        qconfig = self.preparation.qconfigs[node.name]
        if qconfig is None:
            return None
        activation = Want(qconfig.activation, qconfig.activation().dtype)
        # The elements of a tuple are observed inside the module.
        is_lstm = isinstance(self.model.get_submodule(node.target), LSTM)
        gives_tuple = bool(node.users) and all(u.target is operator.getitem for u in node.users)
        gives_tuple = gives_tuple or is_lstm
        output = FLOAT.output if gives_tuple else activation
        return Target(activation, FLOAT.weight, FLOAT.bias, output)

    def _prepare(self, node: Node, entry: StandaloneModuleConfigEntry) -> Target | None:
        own = entry.qconfig_mapping
        if own is None:
            own = QConfigMapping().set_global(self.preparation.qconfigs[node.name])
        custom = entry.prepare_custom_config or PrepareCustomConfig()
        backend = entry.backend_config or self.preparation.backend_config
        prepared = self._prepare_one(node.target, own, custom, backend)
        replace_module(self.model, node.target, prepared)
        recipe = self.preparation.qconfigs[node.name]
        wanted = FLOAT.input
        if custom.input_quantized_indexes and recipe is not None:
            wanted = Want(recipe.activation, quint8)
        return Target(
            input=wanted,
            weight=FLOAT.weight,
            bias=FLOAT.bias,
            output=_given(prepared, custom.output_quantized_indexes),
        )


def _given(prepared: Any, indexes: list[int]) -> Want:
    """Return the output of a standalone module, on its last observer's grid if quantized."""
    if not indexes:
        return FLOAT.output
    results = prepared.graph.output_node().args[0]
    first = results[indexes[0]] if isinstance(results, tuple | list) else results
    modules = dict(prepared.named_modules(remove_duplicate=False))
    if isinstance(first, Node) and is_observer_node(first, modules):
        return Want(None, modules[first.target].dtype)
    return Want(None, quint8)
