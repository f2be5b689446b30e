"""The results of the suite: what was remembered, by layer, kind and model.

::

    {"conv1": {"node_output": {"float": [{"values": [...], ...}], "int8": [{...}]}}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from pyqref.nn import Module

from .loggers import OutputLogger

__all__ = ["Results", "collect", "entry", "extend_logger_results_with_comparison", "rekeyed"]

#: By layer, by kind (``"weight"``, ``"node_output"``, ``"node_input"``), by model.
Results: TypeAlias = dict[str, dict[str, dict[str, list[dict[str, Any]]]]]


def entry(logger: Module) -> dict[str, Any]:
    """Return the entry of one logger."""
    return {
        "type": logger.results_type,
        "values": logger.stats_rnn or logger.stats,
        "ref_node_name": logger.ref_node_name,
        "ref_node_target_type": logger.ref_node_target_type,
        "prev_node_name": logger.prev_node_name,
        "prev_node_target_type": logger.prev_node_target_type,
        "index_within_arg": logger.index_within_arg,
        "index_of_arg": logger.index_of_arg,
        "fqn": logger.fqn,
        "qconfig_str": logger.qconfig_str,
        "comparisons": getattr(logger, "comparisons", []),
        "comparison_fn_name": getattr(logger, "comparison_fn_name", ""),
    }


def collect(models: Iterable[Module], logger_cls: type[Any]) -> Results:
    """The entries of all loggers of models, by the name of their pair of operations."""
    found: Results = {}
    for model in models:
        for each in model.modules():
            if isinstance(each, (logger_cls, OutputLogger)):
                of_pair = found.setdefault(each.ref_name, {})
                by_model = of_pair.setdefault(each.results_type, {})
                by_model.setdefault(each.model_name, []).append(entry(each))
    for of_pair in found.values():
        for by_model in of_pair.values():
            for entries in by_model.values():
                entries.sort(key=lambda each: (each["index_of_arg"], each["index_within_arg"]))
    return found


def rekeyed(results: Results, model_name: str) -> Results:
    """The results by the names that the layers have in one model.

    Raises
    ------
    ValueError
        If the results have no such model.
    """
    found: Results = {}
    for of_pair in results.values():
        kind = "node_output" if "node_output" in of_pair else next(iter(of_pair))
        _require(of_pair[kind], model_name, "model_name_to_use_for_layer_names")
        found[of_pair[kind][model_name][0]["ref_node_name"]] = of_pair
    return found


def _require(by_model: dict[str, Any], model_name: str, argument: str) -> None:
    if model_name not in by_model:
        raise ValueError(
            f"{argument} must be one of the names of the models, {sorted(by_model)}, "
            f"got {model_name!r}"
        )


def extend_logger_results_with_comparison(
    results: Results,
    model_name_1: str,
    model_name_2: str,
    comparison_fn: Callable[[Any, Any], Any],
    comparison_name: str,
) -> None:
    """Compare the values of two models, in place.

    Parameters
    ----------
    results
        Of :func:`extract_weights`, :func:`extract_logger_info` or
        :func:`extract_shadow_logger_info`.
    model_name_1, model_name_2
        Names of the two models in them.
    comparison_fn
        Gives a number for two tensors, such as :func:`compute_sqnr`.
    comparison_name
        The key of the list of numbers in the entries of ``model_name_2``.

    Raises
    ------
    ValueError
        If the results have no such model, or the two have unlike numbers of values, because one
        ran more often.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization.fx import numeric_suite as ns
    >>> one, two = (pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.ReLU())) for _ in "ab")
    >>> a, b = ns.add_loggers("a", one, "b", two, ns.OutputLogger)
    >>> _ = a(pyqref.ones(1)), b(pyqref.ones(1))
    >>> results = ns.extract_logger_info(a, b, ns.OutputLogger, "b")
    >>> ns.extend_logger_results_with_comparison(results, "a", "b", ns.compute_sqnr, "sqnr")
    >>> results["_0"]["node_output"]["b"][0]["sqnr"]
    [tensor(inf)]
    """
    for layer, of_pair in results.items():
        for by_model in of_pair.values():
            _require(by_model, model_name_1, "model_name_1")
            _require(by_model, model_name_2, "model_name_2")
            for one, other in zip(by_model[model_name_1], by_model[model_name_2], strict=False):
                if len(one["values"]) != len(other["values"]):
                    raise ValueError(
                        f"{layer}: {model_name_1} has {len(one['values'])} values and "
                        f"{model_name_2} {len(other['values'])}; run both models on the "
                        "same batches"
                    )
                other[comparison_name] = [
                    comparison_fn(first, second)
                    for first, second in zip(one["values"], other["values"], strict=True)
                ]
