"""A model as a list of operations, and the pairs of operations of two models.

An operation is a run of nodes: the one that computes, a ReLU or batch norm behind it, and the
observer behind that::

    conv -> relu -> observer        one subgraph: start conv, end observer, base conv
    quantize_per_tensor             none: no other model has it
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from pyqref.fx import GraphModule, Node
from pyqref.nn import Module
from pyqref.quantization.backend_config import get_native_backend_config

from ..matching import find_matches
from ..observed import is_observer
from ..tracer import QuantizationTracer
from .related import (
    RelatedOps,
    get_base_name_to_sets_of_related_ops,
    get_unmatchable_types_map,
)

__all__ = [
    "GraphMatchingException",
    "NSSubgraph",
    "NSTracer",
    "activations",
    "get_matching_subgraph_pairs",
    "operation_of",
    "traced",
]


class NSSubgraph(NamedTuple):
    """An operation of a model.

    Attributes
    ----------
    start_node
        The first node.
    end_node
        The last node: the result is its value.
    base_op_node
        The node that says which operation it is.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.ReLU()))
    >>> get_matching_subgraph_pairs(model, model)["base_op_ReLU_0"][0]
    NSSubgraph(start_node=_0, end_node=_0, base_op_node=_0)
    """

    start_node: Node
    end_node: Node
    base_op_node: Node


class GraphMatchingException(Exception):  # noqa: N818
    """Two models do not have the same operations one by one.

    Examples
    --------
    >>> import pyqref
    >>> one, two = (pyqref.fx.symbolic_trace(f) for f in (pyqref.relu, pyqref.abs))
    >>> get_matching_subgraph_pairs(one, two)
    Traceback (most recent call last):
    ...
    pyqref.quantization.fx.numeric_suite.subgraphs.GraphMatchingException: relu (relu) of ...
    """


class NSTracer(QuantizationTracer):
    """Records a model with observers and fake quantizers as leaves, too.

    Parameters
    ----------
    skipped_module_names, skipped_module_classes
        Modules that stay whole.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization import MinMaxObserver
    >>> model = nn.Sequential(nn.ReLU(), MinMaxObserver())
    >>> [node.name for node in NSTracer([], []).trace(model).nodes]
    ['input_1', '_0', '_1', 'output']
    """

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return is_observer(m) or super().is_leaf_module(m, module_qualified_name)

    def create_constant(self, a: object) -> Node:
        """Packed weights of functions, attributes of a converted model, are fetched, too."""
        for name, value in vars(self.root).items():
            if value is a and not name.startswith("__"):
                return self.create_node("get_attr", name, (), {})
        return super().create_constant(a)


def traced(model: Module) -> GraphModule:
    """A graph module of its own, which shares the modules of ``model``.

    What is called in a model of ``prepare_fx`` or ``convert_fx`` stays whole.
    """
    leaves = (
        [node.target for node in model.graph.nodes if node.op == "call_module"]
        if isinstance(model, GraphModule)
        else []
    )
    tracer = NSTracer(leaves, [])
    made = GraphModule(model, tracer.trace(model))
    made.meta["scopes"] = dict(tracer.node_name_to_scope)
    return made


def operation_of(model: GraphModule, node: Node) -> Any:
    """Return the operation of a node: a class, a function, or the name of a method."""
    return type(model.get_submodule(node.target)) if node.op == "call_module" else node.target


def _is_observer(model: GraphModule, node: Node) -> bool:
    return node.op == "call_module" and is_observer(model.get_submodule(node.target))


def _is_parameter(model: GraphModule, node: Node) -> bool:
    """Return True if a value is a weight, a packed weight or a grid, observed or not."""
    while _is_observer(model, node) and isinstance(node.args[0], Node):
        node = node.args[0]
    return node.op == "get_attr"


def activations(model: GraphModule, node: Node) -> list[tuple[int, int, Node]]:
    """The arguments of a node that come from other operations.

    Returns
    -------
    list of (int, int, Node)
        Which argument, which element of it if it is a list, and the value.
    """
    found = []
    for index, given in enumerate((*node.args, *node.kwargs.values())):
        inside = given if isinstance(given, (list, tuple)) else (given,)
        found += [
            (index, within, each)
            for within, each in enumerate(inside)
            if isinstance(each, Node) and not _is_parameter(model, each)
        ]
    return found


def subgraphs(model: GraphModule, unmatchable: RelatedOps) -> Iterator[NSSubgraph]:
    """The operations of a model, in the order in which they run."""
    passed_over = set().union(*unmatchable.values())
    fusible = [
        (pattern, config)
        for pattern, config in get_native_backend_config()._pattern_complex_format_to_config.items()
        if isinstance(pattern, tuple)
    ]
    fused = find_matches(model, fusible, lambda match: _is_chain(match.all_nodes()))
    for node in model.graph.nodes:
        match = fused.get(node)
        if node.op not in ("call_module", "call_function", "call_method"):
            continue
        if match is not None and node is not match.last:
            continue
        start = node if match is None else match.root
        if operation_of(model, start) in passed_over or _is_observer(model, start):
            continue
        end = node
        for user in node.users:
            if _is_observer(model, user):
                end = user
        if activations(model, start):
            yield NSSubgraph(start, end, start)


def _is_chain(nodes: list[Any]) -> bool:
    """Return True if each node, the last first, has the next as its first argument."""
    return all(later.args and later.args[0] is earlier for later, earlier in pairwise(nodes))


def get_matching_subgraph_pairs(
    graph_module_a: GraphModule,
    graph_module_b: GraphModule,
    base_name_to_sets_of_related_ops: RelatedOps | None = None,
    unmatchable_types_map: RelatedOps | None = None,
) -> dict[str, tuple[NSSubgraph, NSSubgraph]]:
    """The operations of two graphs side by side, in the order in which they run.

    Parameters
    ----------
    graph_module_a, graph_module_b
        Two forms of one model.
    base_name_to_sets_of_related_ops
        Which operations are forms of one; the usual sets if None.
    unmatchable_types_map
        Which operations are passed over; the usual ones if None.

    Returns
    -------
    dict
        Pairs of subgraphs by a name such as ``"base_op_Conv2d_0"``.

    Raises
    ------
    GraphMatchingException
        If the models do not have the same number of operations, or two that stand at the same
        place are not related.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.ReLU()))
    >>> list(get_matching_subgraph_pairs(model, model))
    ['base_op_ReLU_0']
    """
    sets = base_name_to_sets_of_related_ops or get_base_name_to_sets_of_related_ops()
    unmatchable = unmatchable_types_map or get_unmatchable_types_map()
    all_a = list(subgraphs(graph_module_a, unmatchable))
    all_b = list(subgraphs(graph_module_b, unmatchable))
    count: dict[str, int] = {}
    pairs = {}
    for a, b in zip(all_a, all_b, strict=False):
        name = _relation(graph_module_a, a, graph_module_b, b, sets)
        count[name] = count.get(name, -1) + 1
        pairs[f"base_op_{name}_{count[name]}"] = (a, b)
    if len(all_a) != len(all_b):
        longer = (all_a if len(all_a) > len(all_b) else all_b)[len(pairs)]
        raise GraphMatchingException(
            f"the models have {len(all_a)} and {len(all_b)} operations: "
            f"{longer.base_op_node.name} has no counterpart; pass two forms of one model, both "
            "fused or both not"
        )
    return pairs


def _relation(
    model_a: GraphModule, a: NSSubgraph, model_b: GraphModule, b: NSSubgraph, sets: RelatedOps
) -> str:
    """The name of the set that has both operations."""
    one, other = operation_of(model_a, a.base_op_node), operation_of(model_b, b.base_op_node)
    for name, members in sets.items():
        if one in members and other in members:
            return name
    if one == other:
        return one if isinstance(one, str) else str(one.__name__)
    raise GraphMatchingException(
        f"{a.base_op_node.name} ({_text(one)}) of the first model and {b.base_op_node.name} "
        f"({_text(other)}) of the second are not related; pass two forms of one model, or say "
        "with add_op_to_sets_of_related_ops that one is a form of the other"
    )


def _text(operation: Any) -> str:
    return operation if isinstance(operation, str) else str(operation.__name__)
