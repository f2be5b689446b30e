"""Following the messages of the numeric suite for graph mode works."""

from __future__ import annotations

import copy

from messages.following import says

import pyqref
from pyqref import nn
from pyqref.quantization import default_qconfig
from pyqref.quantization.fx import numeric_suite as ns

X = pyqref.ones(1, 2)


def network(last: type[nn.Module] = nn.SELU) -> nn.Module:
    return nn.Sequential(nn.Linear(2, 2), last()).eval()


def test_two_models() -> None:
    """Two forms of one model, with two names; or sets that say what is a form of what."""
    with says("pass two forms of one model, both fused or both not"):
        ns.add_loggers("a", network(), "b", nn.Sequential(nn.Linear(2, 2)), ns.OutputLogger)
    with says(
        "of the second are not related",
        "pass two forms of one model, or say with add_op_to_sets_of_related_ops that one is a form "
        "of the other",
    ):
        ns.extract_weights("a", network(), "b", network(nn.GELU))
    sets = ns.get_base_name_to_sets_of_related_ops()
    with says("pass None to begin a new set"):
        ns.add_op_to_sets_of_related_ops(sets, nn.GELU, nn.SELU)
    ns.add_op_to_sets_of_related_ops(sets, nn.SELU, None)
    ns.add_op_to_sets_of_related_ops(sets, nn.GELU, nn.SELU)
    assert ["_0"] == list(ns.extract_weights("a", network(), "b", network(nn.GELU), sets))
    with says("the two models must have different names"):
        ns.extract_weights("a", network(), "a", network())
    ns.add_loggers("a", network(), "b", network(), ns.OutputLogger)


def test_results() -> None:
    """Names of the two models, which ran on the same batches."""
    a, b = ns.add_loggers("a", network(), "b", network(), ns.OutputLogger)
    a(X)
    with says("must be one of the names of the models"):
        ns.extract_logger_info(a, b, ns.OutputLogger, "c")
    results = ns.extract_logger_info(a, b, ns.OutputLogger, "a")
    with says("run both models on the same batches"):
        ns.extend_logger_results_with_comparison(results, "a", "b", ns.compute_sqnr, "sqnr")
    b(X)
    ns.extend_logger_results_with_comparison(results, "a", "b", ns.compute_sqnr, "sqnr")
    with says("must be one of the names of the models"):
        ns.extend_logger_results_with_comparison(results, "c", "b", ns.compute_sqnr, "sqnr")
    with says("compare the same layer of two forms of one model"):
        ns.compute_sqnr(pyqref.ones(2), pyqref.ones(3))


def test_shadows() -> None:
    """Types of values need not be told; without a counterpart for each input there is none."""
    one, two = pyqref.fx.symbolic_trace(network()), pyqref.fx.symbolic_trace(network())
    types = {"funs_io_type_fp32": {pyqref.add}}
    with says("node_type_to_io_type_map must be None"):
        ns.add_shadow_loggers("a", one, "b", two, ns.OutputLogger, False, None, types)
    sums = [pyqref.fx.symbolic_trace(f) for f in (lambda x: x + x, lambda x: x + 1)]
    with says("compare it with add_loggers"):
        ns.add_shadow_loggers("a", sums[0], "b", sums[1], ns.OutputLogger)
    a, b = ns.add_loggers("a", sums[0], "b", sums[1], ns.OutputLogger)
    a(X), b(X)
    assert ["add"] == list(ns.extract_logger_info(a, b, ns.OutputLogger, "a"))


def test_a_list_of_qconfigs() -> None:
    """One qconfig is a list, too."""
    with says("write [qconfig] for one"):
        ns.QConfigMultiMapping().set_global(default_qconfig)
    made = copy.copy(ns.QConfigMultiMapping().set_global([default_qconfig]))
    assert default_qconfig == made.qconfig_mappings_list[0].global_qconfig
