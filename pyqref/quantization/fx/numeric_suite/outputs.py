"""Outputs of two models side by side, each model running by itself."""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.nn import Module

from .naming import free, path_of, type_text
from .related import RelatedOps
from .results import Results, collect, rekeyed
from .subgraphs import NSSubgraph, activations, get_matching_subgraph_pairs, traced
from .weights import require_two_names

__all__ = ["add_loggers", "extract_logger_info", "insert_logger"]


def add_loggers(
    name_a: str,
    model_a: Module,
    name_b: str,
    model_b: Module,
    logger_cls: type[Any],
    should_log_inputs: bool = False,
    base_name_to_sets_of_related_ops: RelatedOps | None = None,
    unmatchable_types_map: RelatedOps | None = None,
) -> tuple[GraphModule, GraphModule]:
    """Put a logger behind every operation that two forms of a model share.

    Parameters
    ----------
    name_a, name_b
        What the models are called in the results.
    model_a, model_b
        Two forms of one model. The models that come back share their modules.
    logger_cls
        :class:`OutputLogger`, or a subclass of it.
    should_log_inputs
        Whether to remember the inputs of the operations, too.
    base_name_to_sets_of_related_ops, unmatchable_types_map
        See :func:`get_matching_subgraph_pairs`.

    Returns
    -------
    tuple of GraphModule
        Both models with loggers: run them on the same batches, then call
        :func:`extract_logger_info`.

    Raises
    ------
    GraphMatchingException
        If the models are no two forms of one.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization.fx import numeric_suite as ns
    >>> one, two = (pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.ReLU())) for _ in "ab")
    >>> a, b = ns.add_loggers("a", one, "b", two, ns.OutputLogger)
    >>> _ = a(pyqref.ones(1)), b(pyqref.ones(1))
    >>> results = ns.extract_logger_info(a, b, ns.OutputLogger, "b")
    >>> list(results)
    ['_0']
    """
    require_two_names(name_a, name_b)
    models = traced(model_a), traced(model_b)
    pairs = get_matching_subgraph_pairs(
        *models, base_name_to_sets_of_related_ops, unmatchable_types_map
    )
    for number, (name, model) in enumerate(zip((name_a, name_b), models, strict=True)):
        for pair, subgraphs in pairs.items():
            if should_log_inputs:
                _log_inputs(model, subgraphs[number], logger_cls, name, pair)
            _log_output(model, subgraphs[number], logger_cls, name, pair)
        model.graph.lint()
        model.recompile()
    return models


def insert_logger(
    model: GraphModule,
    node: Node,
    subgraph: NSSubgraph,
    logger_cls: type[Any],
    *,
    model_name: str,
    pair: str,
    results_type: str = "node_output",
    index_of_arg: int = 0,
    index_within_arg: int = 0,
    name: str = "ns_logger",
    fqn: str | None = None,
) -> Node:
    """Let a logger remember the value of a node; the node of the logger."""
    is_input = results_type == "node_input"
    logger = logger_cls(
        ref_node_name=(subgraph.start_node if is_input else subgraph.end_node).name,
        prev_node_name=node.name,
        model_name=model_name,
        ref_name=pair,
        prev_node_target_type=type_text(model, node),
        ref_node_target_type=type_text(model, subgraph.base_op_node),
        results_type=results_type,
        index_within_arg=index_within_arg,
        index_of_arg=index_of_arg,
        fqn=path_of(model, subgraph.base_op_node) if fqn is None else fqn,
    )
    path = free(model, f"{node.name}_{name}")
    setattr(model, path, logger)
    with model.graph.inserting_after(node):
        return model.graph.create_node("call_module", path, args=(node,), name=path)


def _log_output(
    model: GraphModule, subgraph: NSSubgraph, logger_cls: Any, name: str, pair: str
) -> None:
    end = subgraph.end_node
    users = list(end.users)
    logger = insert_logger(model, end, subgraph, logger_cls, model_name=name, pair=pair)
    for user in users:
        user.replace_input_with(end, logger)


def _log_inputs(
    model: GraphModule, subgraph: NSSubgraph, logger_cls: Any, name: str, pair: str
) -> None:
    start = subgraph.start_node
    for index, within, value in activations(model, start):
        logger = insert_logger(
            model,
            value,
            subgraph,
            logger_cls,
            model_name=name,
            pair=pair,
            results_type="node_input",
            index_of_arg=index,
            index_within_arg=within,
        )
        start.replace_input_with(value, logger)


def extract_logger_info(
    model_a: Module, model_b: Module, logger_cls: type[Any], model_name_to_use_for_layer_names: str
) -> Results:
    """Return the records of the loggers of two models.

    Parameters
    ----------
    model_a, model_b
        Of :func:`add_loggers`; they have run.
    logger_cls
        The class that :func:`add_loggers` was given.
    model_name_to_use_for_layer_names
        The name of the model whose names the layers have in the results.

    Raises
    ------
    ValueError
        If it is the name of neither.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization.fx import numeric_suite as ns
    >>> one, two = (pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.ReLU())) for _ in "ab")
    >>> a, b = ns.add_loggers("a", one, "b", two, ns.OutputLogger)
    >>> _ = a(pyqref.ones(1)), b(pyqref.ones(1))
    >>> results = ns.extract_logger_info(a, b, ns.OutputLogger, "b")
    >>> list(results)
    ['_0']
    """
    found = collect((model_a, model_b), logger_cls)
    return rekeyed(found, model_name_to_use_for_layer_names)
