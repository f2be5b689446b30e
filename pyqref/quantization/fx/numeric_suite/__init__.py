"""Compare two forms of a model in graph mode: weights, outputs, and each layer by itself.

The names of ``torch.ao.ns._numeric_suite_fx``. :mod:`pyqref.measure` gives the same answers in
fewer lines.

Read :mod:`.related` and :mod:`.subgraphs`, which find what is the same in two models; then
:mod:`.weights`, :mod:`.outputs` and :mod:`.shadows`, the three comparisons; then
:mod:`.n_shadows`, which tries several qconfigs in one run.

Examples
--------
>>> import copy
>>> import pyqref
>>> from pyqref.quantization import default_qconfig, quantize_fx
>>> from pyqref.quantization.fx import numeric_suite as ns
>>> _ = pyqref.manual_seed(0)
>>> batch = pyqref.rand(8, 3)
>>> model = pyqref.nn.Sequential(pyqref.nn.Linear(3, 4), pyqref.nn.ReLU()).eval()
>>> prepared = quantize_fx.prepare_fx(model, {"": default_qconfig}, (batch,))
>>> _ = prepared(batch)
>>> quantized = quantize_fx.convert_fx(copy.deepcopy(prepared))

The outputs of both models, each running by itself:

>>> a, b = ns.add_loggers("float", prepared, "int8", quantized, ns.OutputLogger)
>>> _ = a(batch), b(batch)
>>> results = ns.extract_logger_info(a, b, ns.OutputLogger, "int8")
>>> ns.extend_logger_results_with_comparison(results, "float", "int8", ns.compute_sqnr, "sqnr")
>>> float(results["_0"]["node_output"]["int8"][0]["sqnr"][0]) > 30
True

The float layers on the inputs of the quantized ones:

>>> both = ns.add_shadow_loggers("float", prepared, "int8", quantized, ns.OutputLogger)
>>> _ = both(batch)
>>> list(ns.extract_shadow_logger_info(both, ns.OutputLogger, "int8"))
['_0']
"""

from __future__ import annotations

from .errors import compute_cosine_similarity as compute_cosine_similarity
from .errors import compute_normalized_l2_error as compute_normalized_l2_error
from .errors import compute_sqnr as compute_sqnr
from .loggers import OutputComparisonLogger as OutputComparisonLogger
from .loggers import OutputLogger as OutputLogger
from .loggers import loggers_set_enabled as loggers_set_enabled
from .loggers import loggers_set_save_activations as loggers_set_save_activations
from .multi_mapping import QConfigMultiMapping as QConfigMultiMapping
from .n_shadows import convert_n_shadows_model as convert_n_shadows_model
from .n_shadows import prepare_n_shadows_model as prepare_n_shadows_model
from .n_shadows_results import extract_results_n_shadows_model as extract_results_n_shadows_model
from .n_shadows_results import (
    print_comparisons_n_shadows_model as print_comparisons_n_shadows_model,
)
from .outputs import add_loggers as add_loggers
from .outputs import extract_logger_info as extract_logger_info
from .related import add_op_to_sets_of_related_ops as add_op_to_sets_of_related_ops
from .related import get_base_name_to_sets_of_related_ops as get_base_name_to_sets_of_related_ops
from .related import get_unmatchable_types_map as get_unmatchable_types_map
from .results import extend_logger_results_with_comparison as extend_logger_results_with_comparison
from .shadows import add_shadow_loggers as add_shadow_loggers
from .shadows import extract_shadow_logger_info as extract_shadow_logger_info
from .subgraphs import GraphMatchingException as GraphMatchingException
from .subgraphs import NSSubgraph as NSSubgraph
from .subgraphs import NSTracer as NSTracer
from .subgraphs import get_matching_subgraph_pairs as get_matching_subgraph_pairs
from .weights import extract_weights as extract_weights

__all__ = [
    "GraphMatchingException",
    "NSSubgraph",
    "NSTracer",
    "OutputComparisonLogger",
    "OutputLogger",
    "QConfigMultiMapping",
    "add_loggers",
    "add_op_to_sets_of_related_ops",
    "add_shadow_loggers",
    "compute_cosine_similarity",
    "compute_normalized_l2_error",
    "compute_sqnr",
    "convert_n_shadows_model",
    "extend_logger_results_with_comparison",
    "extract_logger_info",
    "extract_results_n_shadows_model",
    "extract_shadow_logger_info",
    "extract_weights",
    "get_base_name_to_sets_of_related_ops",
    "get_matching_subgraph_pairs",
    "get_unmatchable_types_map",
    "loggers_set_enabled",
    "loggers_set_save_activations",
    "prepare_n_shadows_model",
    "print_comparisons_n_shadows_model",
]
