"""Each operation of one model on the inputs that it has in another.

::

    x -> quantize -> conv (int8) -> logger -> fc (int8) -> logger
             |                         |
             as_float -> conv -> logger as_float -> fc -> logger
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.nn import Module
from pyqref.quantization.diagnostics import NoMatchWarning, warn

from .casting import as_float, as_grid, grid_of
from .copying import copy_operation
from .naming import path_of
from .outputs import insert_logger
from .related import RelatedOps
from .results import Results, collect, rekeyed
from .subgraphs import NSSubgraph, activations, get_matching_subgraph_pairs, traced
from .weights import require_two_names

__all__ = ["add_shadow_loggers", "extract_shadow_logger_info"]


def add_shadow_loggers(
    name_a: str,
    model_a: Module,
    name_b: str,
    model_b: Module,
    logger_cls: type[Any],
    should_log_inputs: bool = False,
    base_name_to_sets_of_related_ops: RelatedOps | None = None,
    node_type_to_io_type_map: RelatedOps | None = None,
    unmatchable_types_map: RelatedOps | None = None,
) -> GraphModule:
    """Let each operation of model A run beside its counterpart in model B, on the same inputs.

    So the error of each layer is seen without what those before it add.

    Parameters
    ----------
    name_a, name_b
        What the models are called in the results.
    model_a, model_b
        Two forms of one model; B computes the result.
    logger_cls
        :class:`OutputLogger`, or a subclass of it.
    should_log_inputs
        Whether to remember the inputs of the operations, too.
    base_name_to_sets_of_related_ops, unmatchable_types_map
        See :func:`get_matching_subgraph_pairs`.
    node_type_to_io_type_map
        Not needed: what a value is, is seen when it is there. Must be None.

    Returns
    -------
    GraphModule
        Model B with shadows: run it, then call :func:`extract_shadow_logger_info`.

    Raises
    ------
    GraphMatchingException
        If the models are no two forms of one.
    ValueError
        If ``node_type_to_io_type_map`` is not None.

    Warns
    -----
    NoMatchWarning
        If an operation has another number of inputs in A than in B; it gets no shadow.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization.fx import numeric_suite as ns
    >>> one, two = (pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.ReLU())) for _ in "ab")
    >>> both = ns.add_shadow_loggers("a", one, "b", two, ns.OutputLogger)
    >>> _ = both(pyqref.ones(1))
    >>> list(ns.extract_shadow_logger_info(both, ns.OutputLogger, "b"))
    ['_0']
    """
    require_two_names(name_a, name_b)
    if node_type_to_io_type_map is not None:
        raise ValueError(
            "node_type_to_io_type_map must be None: a value is dequantized, or quantized, by what "
            "it is when the model runs"
        )
    a, b = traced(model_a), traced(model_b)
    pairs = get_matching_subgraph_pairs(
        a, b, base_name_to_sets_of_related_ops, unmatchable_types_map
    )
    for pair, (sub_a, sub_b) in pairs.items():
        inputs_a, inputs_b = activations(a, sub_a.start_node), activations(b, sub_b.start_node)
        if len(inputs_a) != len(inputs_b):
            warn(
                f"add_shadow_loggers: {sub_b.base_op_node.name} gets no shadow, because it has "
                f"{len(inputs_b)} inputs and its counterpart {sub_a.base_op_node.name} "
                f"{len(inputs_a)}; compare it with add_loggers",
                NoMatchWarning,
            )
            continue
        _shadow(a, sub_a, b, sub_b, (name_a, name_b), pair, logger_cls, should_log_inputs)
    b.graph.lint()
    b.recompile()
    return b


def _shadow(
    a: GraphModule,
    sub_a: NSSubgraph,
    b: GraphModule,
    sub_b: NSSubgraph,
    names: tuple[str, str],
    pair: str,
    logger_cls: Any,
    should_log_inputs: bool,
) -> None:
    """Put one operation of A beside its counterpart in B."""
    name = sub_b.start_node.name
    end_b, users = sub_b.end_node, list(sub_b.end_node.users)
    given = [each for _, _, each in activations(b, sub_b.start_node)]
    values: dict[Node, Node] = {}
    with b.graph.inserting_before(end_b.next):
        for (_, _, wanted), value in zip(activations(a, sub_a.start_node), given, strict=True):
            if wanted not in values:
                values[wanted] = _cast(a, wanted, b, value, f"{name}_dtype_cast")
        casts = [values[wanted] for _, _, wanted in activations(a, sub_a.start_node)]
        end_a = copy_operation(a, sub_a.end_node, b, values, f"{name}_shadow_copy")
    copied = NSSubgraph(values[sub_a.start_node], end_a, values[sub_a.base_op_node])
    log = _Log(b, logger_cls, pair, path_of(b, sub_b.base_op_node))
    if should_log_inputs:
        for start, inputs, which in (
            (sub_b.start_node, given, 1),
            (copied.start_node, casts, 0),
        ):
            for (index, within, _), value in zip(activations(b, start), inputs, strict=True):
                subgraph = copied if which == 0 else sub_b
                log(value, subgraph, names[which], "ab"[which], "node_input", index, within)
    log(end_a, copied, names[0], "a")
    logged = log(end_b, sub_b, names[1], "b")
    for user in users:
        user.replace_input_with(end_b, logged)


def _cast(a: GraphModule, wanted: Node, b: GraphModule, value: Node, name: str) -> Node:
    """A value of B as an operation of A wants it."""
    grid = grid_of(a, wanted)
    if grid is None:
        return b.graph.create_node("call_function", as_float, (value,), name=name)
    return b.graph.create_node("call_function", as_grid, (value, *grid), name=name)


class _Log:
    """Puts the loggers of one pair of operations into a model."""

    def __init__(self, model: GraphModule, logger_cls: type[Any], pair: str, fqn: str) -> None:
        self.model, self.logger_cls, self.pair, self.fqn = model, logger_cls, pair, fqn

    def __call__(
        self,
        node: Node,
        subgraph: NSSubgraph,
        model_name: str,
        letter: str,
        results_type: str = "node_output",
        index_of_arg: int = 0,
        index_within_arg: int = 0,
    ) -> Node:
        return insert_logger(
            self.model,
            node,
            subgraph,
            self.logger_cls,
            model_name=model_name,
            pair=self.pair,
            results_type=results_type,
            index_of_arg=index_of_arg,
            index_within_arg=index_within_arg,
            name=f"ns_logger_{letter}",
            fqn=self.fqn,
        )


def extract_shadow_logger_info(
    model_a_shadows_b: Module, logger_cls: type[Any], model_name_to_use_for_layer_names: str
) -> Results:
    """Return the records of the loggers of a model with shadows.

    Parameters
    ----------
    model_a_shadows_b
        Of :func:`add_shadow_loggers`; it has run.
    logger_cls
        The class that :func:`add_shadow_loggers` was given.
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
    >>> both = ns.add_shadow_loggers("a", one, "b", two, ns.OutputLogger)
    >>> _ = both(pyqref.ones(1))
    >>> list(ns.extract_shadow_logger_info(both, ns.OutputLogger, "b"))
    ['_0']
    """
    return rekeyed(collect((model_a_shadows_b,), logger_cls), model_name_to_use_for_layer_names)
