"""Replacing every occurrence of a pattern in a graph by something else."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..nn.modules.module import Module
from .graph import Graph
from .graph_module import GraphModule
from .matcher import InternalMatch, find_matches
from .node import Node
from .tracing import symbolic_trace

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """Place where a pattern was found.

    Attributes
    ----------
    anchor
        The node of the pattern from which the match was found, its first result.
    nodes_map
        From nodes of the pattern to nodes of the graph; to the nodes that an input of the
        pattern stood for when the match was replaced.
    """

    anchor: Node
    nodes_map: dict[Node, Any]


@dataclass
class ReplacedPatterns:
    """Place where a pattern was found, and the nodes that replace it."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node] = field(default_factory=list)


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any], replacement: Callable[..., Any]
) -> list[Match]:
    """Replace every occurrence of a pattern, none overlapping another.

    Parameters
    ----------
    gm
        The module to change, in place.
    pattern, replacement
        Functions, modules or graphs with equally many inputs, in the same order, and
        equally many results. The inputs of the pattern match anything.

    Returns
    -------
    list of Match

    Examples
    --------
    >>> import pyqref
    >>> module = pyqref.fx.symbolic_trace(lambda a, b: pyqref.relu(a + b) * 2)
    >>> found = replace_pattern(
    ...     module, lambda x, y: pyqref.relu(x + y), lambda x, y: pyqref.maximum(x, y)
    ... )
    >>> len(found)
    1
    >>> print(module.code.strip())
    def forward(self, a, b):
        maximum = pyqref.maximum(a, b);  a = b = None
        mul = maximum * 2;  maximum = None
        return mul

    Source: documentation of ``torch.fx.replace_pattern``.
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in replaced]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any],
    replacement: Callable[..., Any] | None = None,
    match_filters: Sequence[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Any] | None = None,
) -> list[ReplacedPatterns]:
    """Replace the occurrences of a pattern that pass all filters.

    Parameters
    ----------
    gm, pattern, replacement
        As for :func:`replace_pattern`.
    match_filters
        Called with the match, the graph and the pattern; all must return True.
    ignore_literals
        Let every constant of the pattern match every constant.
    replacement_callback
        Makes the replacement for a match, instead of ``replacement``.

    Returns
    -------
    list of ReplacedPatterns
    """
    if (replacement is None) == (replacement_callback is None):
        raise ValueError("give exactly one of replacement and replacement_callback")
    graph, pattern_graph = gm.graph, _graph(pattern)
    fixed = None if replacement is None else _graph(replacement)
    replaced: list[ReplacedPatterns] = []
    now: dict[Node, Any] = {}
    for match in find_matches(graph, pattern_graph, ignore_literals=ignore_literals):
        if not all(keep(match, graph, pattern_graph) for keep in match_filters or ()):
            continue
        new = fixed
        if replacement_callback is not None:
            new = _graph(replacement_callback(match, graph, pattern_graph))
        assert new is not None
        replaced.append(_replace(graph, match, new, now))
        if isinstance(new.owning_module, Module):
            _bring_attributes(gm, new)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return replaced


def _graph(given: Any) -> Graph:
    if isinstance(given, Graph):
        return given
    return given.graph if isinstance(given, GraphModule) else symbolic_trace(given).graph


def _replace(
    graph: Graph, match: InternalMatch, new: Graph, now: dict[Node, Any]
) -> ReplacedPatterns:
    """Put ``new`` in the place of a match; ``now`` knows what replaced earlier results."""
    inputs = [node for node in new.nodes if node.op == "placeholder"]
    if len(inputs) != len(match.placeholder_nodes):
        raise ValueError(
            f"the pattern has {len(match.placeholder_nodes)} inputs, the replacement {len(inputs)}"
        )
    values = {
        node: now.get(value, value) if isinstance(value, Node) else value
        for node, value in zip(inputs, match.placeholder_nodes, strict=True)
    }
    own = [
        node for key, node in match.nodes_map.items() if key.op not in ("placeholder", "get_attr")
    ]
    users = {user for result in match.returning_nodes for user in result.users if user not in own}
    place = next((node for node in graph.nodes if node in users), graph._root)
    before = set(values)
    with graph.inserting_before(place):
        result = graph.graph_copy(new, values)
    added = [values[node] for node in new.nodes if node in values and node not in before]
    results = _flat(result)
    if len(results) != len(match.returning_nodes):
        raise ValueError(
            f"the pattern has {len(match.returning_nodes)} results, the replacement {len(results)}"
        )
    for old, each in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(each, delete_user_cb=lambda user: user not in own)
        now[old] = each
    for node in sorted(own, reverse=True):
        if not node.users:
            graph.erase_node(node)
    places = {
        key: now.get(found, found) if key.op == "placeholder" and isinstance(found, Node) else found
        for key, found in match.nodes_map.items()
    }
    return ReplacedPatterns(match.anchors[0], places, added)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in _flat(each)]
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _flat(each)]
    return [value]


def _bring_attributes(gm: GraphModule, new: Graph) -> None:
    """Copy what the replacement calls and fetches, unless ``gm`` has it already."""
    for node in new.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        *steps, last = node.target.split(".")
        source: Any = new.owning_module
        place: Any = gm
        for step in steps:
            source = getattr(source, step)
            if not hasattr(place, step):
                place.add_module(step, Module())
            place = getattr(place, step)
        if not hasattr(place, last):
            setattr(place, last, copy.deepcopy(getattr(source, last)))
