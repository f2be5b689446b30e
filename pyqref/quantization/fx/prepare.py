"""``prepare``: from a float model to an observed graph, pass by pass.

1. :mod:`.tracer`: record the model as a graph;
2. :mod:`.fusing`: put together what runs as one;
3. :mod:`.node_qconfigs`: find each node's qconfig;
4. :mod:`.training_modules`: for training, replace layers by those with fake quantization;
5. :mod:`.selecting`: match the back end's patterns, and keep those that it can quantize;
6. :mod:`.observing`, :mod:`.sharing`: insert observers;
7. :mod:`.equalizing`: if asked for, insert observers of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqref._typing import Module, Tensor
from pyqref.fx import GraphModule
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.quantization.unused_overrides import warn_of_unused_overrides

from .aliases import follow_aliases
from .arguments import backend_from, config_from, optional_config
from .custom_config import PrepareCustomConfig
from .equalizing import insert_equalizers, require_equalization
from .example_inputs import warn_of_example_inputs
from .fusing import fuse
from .mismatches import (
    require_observers,
    warn_of_mismatches,
    warn_of_nothing_quantized,
    warn_of_observers_only,
)
from .node_qconfigs import find_qconfigs, warn_of_unused_entries
from .notes import annotate
from .observed import Preparation, remember
from .observing import insert_observers
from .places import remember_scopes
from .prepared import PreparedGraphModule
from .selecting import select_matches
from .special_modules import SpecialModules
from .swap_float_functional import float_functional_traced_through
from .tied import keeping_what_is_read
from .tracer import tracer_for
from .training_modules import swap_for_training
from .unmatched import present, warn_of_unmatched
from .watching import passed
from .working_copy import own_layers

__all__ = ["leave_used", "prepare", "prepare_as_asked", "trace"]


def trace(asks: str, model: Module, custom: PrepareCustomConfig) -> tuple[GraphModule, Any]:
    """Record a model, and warn of entries of the custom config that match nothing in it.

    Returns
    -------
    GraphModule, dict
        And the scopes of the nodes.
    """
    tracer = tracer_for(custom)
    with float_functional_traced_through(model):
        traced = PreparedGraphModule(model, tracer.trace(model))
    own_layers(traced)
    follow_aliases(traced)
    annotate(traced)
    scopes = dict(tracer.node_name_to_scope)
    remember_scopes(traced, scopes)
    warn_of_unmatched(asks, model, traced, custom, tracer.called)
    passed("trace", traced)
    return traced, scopes


def leave_used(asks: str, traced: GraphModule, model: Module, preserved: list[str]) -> None:
    """Leave the modules that the graph calls, in its order, and preserved attributes.

    Parameters
    ----------
    asks
        Who asks, for messages.
    traced
        The model as a graph.
    model
        The user's, with the attributes.
    preserved
        Their names.
    """
    traced.delete_all_unused_submodules()
    called = [node.target for node in traced.graph.nodes if node.op in ("call_module", "get_attr")]
    modules = traced._modules
    for name in dict.fromkeys(target.split(".")[0] for target in called):
        if name in modules:
            modules[name] = modules.pop(name)
    for name in present(asks, model, preserved):
        if not hasattr(traced, name):
            setattr(traced, name, getattr(model, name))


def prepare(
    asks: str,
    model: Module,
    mapping: QConfigMapping,
    is_qat: bool,
    custom: PrepareCustomConfig,
    backend_config: BackendConfig,
    is_standalone: bool = False,
    equalization: QConfigMapping | None = None,
) -> GraphModule:
    """All passes.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model
        The float model.
    mapping
        Who is quantized how.
    is_qat
        Whether for training.
    custom
        What else the user says.
    backend_config
        What can be quantized, and how.
    is_standalone
        Whether the model is a standalone module of another.
    equalization
        Whose input and weight are equalized how; None for nobody's.
    """
    traced, scopes = trace(asks, model, custom)
    preparation = Preparation(
        mapping, backend_config, custom, is_qat, {}, scopes, is_standalone=is_standalone
    )
    with keeping_what_is_read(traced):
        _passes(asks, model, traced, preparation, equalization)
    leave_used(asks, traced, model, custom.preserved_attributes)
    remember(traced, preparation)
    traced.train(model.training)
    return traced


def _passes(
    asks: str,
    model: Any,
    traced: GraphModule,
    preparation: Preparation,
    equalization: QConfigMapping | None,
) -> None:
    """Run the passes that follow tracing, in place."""
    mapping, backend_config = preparation.qconfig_mapping, preparation.backend_config
    is_qat = preparation.is_qat
    fuse(traced, is_qat, backend_config)
    passed("fuse", traced)
    columns: dict[str, Any] = {}
    if equalization is not None:
        columns, wanted = find_qconfigs(traced, equalization, preparation.scopes)
        require_equalization(columns, wanted=True)
        warn_of_unused_entries(asks, model, equalization, wanted.used)
    preparation.qconfigs, lookup = find_qconfigs(traced, mapping, preparation.scopes)
    require_equalization(preparation.qconfigs, wanted=False)
    preparation.addressed = lookup.addressed
    require_observers(asks, traced, preparation.qconfigs)
    if not preparation.is_standalone:
        paths = {name: scope[0] for name, scope in preparation.scopes.items()}
        named = ((paths.get(name, ""), each) for name, each in preparation.qconfigs.items())
        warn_of_unused_overrides(asks, named)
    if is_qat:
        swap_for_training(traced, backend_config)
        passed("swap_for_training", traced)

    def prepare_one(path: str, own: Any, inner: Any, backend: Any) -> GraphModule:
        module, inside = traced.get_submodule(path), f"{asks}, in the standalone module {path!r}"
        return prepare(inside, module, own, is_qat, inner, backend, is_standalone=True)

    special = SpecialModules(traced, preparation, prepare_one)
    matches, refused = select_matches(traced, preparation, special.owns)
    passed("select_matches", traced)
    insert_observers(traced, preparation, matches, special.target, special.finish)
    passed("insert_observers", traced)
    if equalization is not None:
        insert_equalizers(asks, traced, preparation, columns)
        passed("insert_equalizers", traced)
    is_told = warn_of_mismatches(asks, traced, preparation, refused)
    if is_qat:
        warn_of_observers_only(asks, traced, preparation, matches)
    if not preparation.is_standalone:
        warn_of_unused_entries(asks, model, mapping, lookup.used)
        warn_of_nothing_quantized(asks, traced, preparation, is_told)


def prepare_as_asked(
    asks: str,
    model: Module,
    mapping: Any,
    is_qat: bool,
    example_inputs: Sequence[Tensor] | Tensor,
    custom: Any,
    backend: object,
    is_standalone: bool = False,
    equalization: object = None,
) -> GraphModule:
    """:func:`prepare` with configs as users give them: themselves, dictionaries or None."""
    custom = config_from("prepare_custom_config", custom, PrepareCustomConfig)
    mapping = config_from("qconfig_mapping", mapping, QConfigMapping)
    columns = optional_config("_equalization_config", equalization, QConfigMapping)
    back_end = backend_from(backend)
    made = prepare(asks, model, mapping, is_qat, custom, back_end, is_standalone, columns)
    warn_of_example_inputs(asks, model, made, example_inputs)
    return made
