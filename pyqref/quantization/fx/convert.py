"""``convert``: from an observed graph to a reference model, and on to quantized operations.

1. :mod:`.convert_qconfigs`: leave out what the mapping given now sets to None;
   :mod:`.equalizing`: scale inputs and weights, if they were prepared for it;
2. :mod:`.weight_observers`: let the observers of functional weights see them;
3. :mod:`.interface`: inputs and outputs that are quantized tensors;
4. :mod:`.quantize_nodes`: observers become ``quantize_per_tensor`` and ``dequantize``;
5. :mod:`.reference_special`: custom and standalone modules;
6. :mod:`.reference_modules`: layers with weights become reference layers;

then, unless a reference model is wanted,

7. :mod:`.lowering`;

and in the end

8. :mod:`.integer_ranges`: keep ranges that observers were made for, or warn.
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.constant_activations import warn_of_constant_activations
from pyqref.quantization.constant_channels import QuantizedWeight, warn_of_constant_channels
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .convert_qconfigs import convert_qconfigs
from .converted import QUANTIZED_INPUTS, ConvertedGraphModule
from .custom_config import ConvertCustomConfig
from .equalizing import equalize
from .failures import telling
from .integer_ranges import IntegerRanges
from .interface import dequantize_inputs, keep_outputs_quantized
from .lowering import lower
from .observed import Preparation, forget, is_observer_node, preparation_of
from .places import place
from .quantize_nodes import replace_observer
from .quantized_weights import function_weight, slopes_before, slopes_of
from .reference_modules import make_reference_modules
from .reference_special import SpecialConversion
from .remembering import layers_before, remember_layers
from .tied import keeping_what_is_read
from .uncalibrated import warn_once_of_uncalibrated
from .unmatched import present, warn_of_unmatched_at_convert
from .watching import passed
from .weight_observers import observe_weights, weight_observers
from .working_copy import working_copy

__all__ = ["convert"]


def convert(
    asks: str,
    model: GraphModule,
    custom: ConvertCustomConfig,
    *,
    is_reference: bool,
    remove_qconfig: bool = True,
    mapping: QConfigMapping | None = None,
    backend_config: BackendConfig | None = None,
    keep_original_weights: bool = False,
) -> GraphModule:
    """All passes.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model
        The prepared model; only the observers of weights see their weights once more.
    custom
        What else the user says.
    is_reference
        Whether to stop at the reference model.
    remove_qconfig
        Whether to take out qconfigs.
    mapping
        None, or a mapping that leaves out some operations.
    backend_config
        None, or the one given to prepare.
    keep_original_weights
        Whether to keep the float form of packed weights.
    """
    preparation = preparation_of(asks, model)
    given, model = model, working_copy(model)
    backend = preparation.backend_config if backend_config is None else backend_config
    names = present(asks, given, custom.preserved_attributes)
    preserved = {name: getattr(given, name) for name in names}
    warn_of_unmatched_at_convert(asks, given, custom)
    qconfigs = convert_qconfigs(asks, model, preparation, mapping)
    before = layers_before(model, qconfigs)

    def convert_inner(inner: GraphModule) -> GraphModule:
        return convert(
            asks,
            inner,
            ConvertCustomConfig(),
            is_reference=is_reference,
            remove_qconfig=remove_qconfig,
            keep_original_weights=keep_original_weights,
        )

    kept: dict[str, Any] = {}
    with keeping_what_is_read(model):
        special = SpecialConversion(asks, model, preparation, custom, convert_inner)
        ranges = _make_reference(asks, model, preparation, special, qconfigs, backend)
        if not is_reference:
            slopes = slopes_before(model)
            kept = lower(model, qconfigs, preparation.scopes, keep_original_weights)
            warn_of_constant_channels(asks, slopes_of(model, slopes))
        if ranges.keep(asks):
            passed("keep_ranges", model)
    model.graph.lint()
    forget(model)
    converted = ConvertedGraphModule(model, model.graph)
    for name, value in {**preserved, **kept}.items():
        if not hasattr(converted, name):
            setattr(converted, name, value)
    converted.meta[QUANTIZED_INPUTS] = tuple(preparation.custom.input_quantized_indexes)
    remember_layers(converted, before)
    if remove_qconfig:
        for module in converted.modules():
            module.__dict__.pop("qconfig", None)
    return converted


def _make_reference(
    asks: str,
    model: GraphModule,
    preparation: Preparation,
    special: SpecialConversion,
    qconfigs: dict[str, Any],
    backend: BackendConfig,
) -> IntegerRanges:
    """The passes up to the reference model, in place; the ranges that observers were made for."""
    if preparation.equalized:
        equalize(model, preparation)
        passed("equalize", model)
    of_weights = weight_observers(model, backend)
    observe_weights(model, of_weights)
    ranges = IntegerRanges(model, preparation, of_weights)
    weights: list[QuantizedWeight] = []
    activations: list[tuple[str, Any]] = []
    passed("observe_weights", model)
    dequantize_inputs(model, preparation.custom.input_quantized_indexes)
    passed("dequantize_inputs", model)
    modules = dict(model.named_modules(remove_duplicate=False))
    with warn_once_of_uncalibrated(asks, model):
        for node in list(model.graph.nodes):
            if node in special.erased:
                continue
            with telling(model, node):
                if is_observer_node(node, modules):
                    source, observer = node.args[0], modules[node.target]
                    if node not in of_weights:
                        activations.append((place(source, modules), observer))
                    quantized = replace_observer(
                        model, node, observer, qconfigs, preparation.scopes, ranges
                    )
                    if node in of_weights and quantized is not None:
                        weights += function_weight(model, source, quantized, observer)
                elif node.op == "call_module":
                    special.convert(node, modules[node.target])
    warn_of_constant_activations(asks, activations)
    passed("replace_observers", model)
    weights += make_reference_modules(model, backend, qconfigs, preparation.observed)
    warn_of_constant_channels(asks, weights)
    passed("make_reference_modules", model)
    keep_outputs_quantized(model, preparation.custom.output_quantized_indexes)
    model.graph.eliminate_dead_code()
    passed("keep_outputs_quantized", model)
    return ranges
