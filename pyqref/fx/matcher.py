"""Finding a pattern in a graph."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .graph import Graph
from .interception import plain
from .node import Node

__all__ = ["InternalMatch", "find_matches"]


@dataclass
class InternalMatch:
    """One place where a pattern stands in a graph.

    Attributes
    ----------
    anchors
        The results of the pattern.
    nodes_map
        From nodes of the pattern to nodes of the graph; an input of the pattern may
        also stand for a constant.
    placeholder_nodes
        What the inputs of the pattern stand for, in order.
    returning_nodes
        The nodes of the graph that match the results of the pattern.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)


def find_matches(graph: Graph, pattern: Graph, *, ignore_literals: bool = False) -> list[Any]:
    """All places, none overlapping another, where a pattern stands in a graph.

    A node in the midst of a match may have no users outside of it.

    Parameters
    ----------
    graph
        Where to look.
    pattern
        What to look for. Its inputs match anything.
    ignore_literals
        Let every constant of the pattern match every constant.
    """
    anchors = pattern.output_node().all_input_nodes
    if not anchors:
        raise ValueError("the pattern must return at least one computed value")
    inputs = [node for node in pattern.nodes if node.op == "placeholder"]
    taken: set[Node] = set()
    matches: list[InternalMatch] = []
    nodes = list(graph.nodes)
    for first in nodes:
        for mapping in _search(anchors, [first], nodes, {}, ignore_literals):
            own = _nodes(mapping)
            if own & taken or not _contained(mapping, anchors, own):
                continue
            taken |= own
            placed = [mapping.get(each) for each in inputs]
            results = [mapping[each] for each in anchors]
            matches.append(InternalMatch(anchors, mapping, placed, results))
            break
    return matches


def _search(
    anchors: list[Node],
    candidates: list[Node],
    nodes: list[Node],
    mapping: dict[Node, Any],
    ignore_literals: bool,
) -> Iterator[dict[Node, Any]]:
    """Every mapping of the pattern under which the results match."""
    if not anchors:
        yield mapping
        return
    first, *others = anchors
    for candidate in candidates:
        trial = dict(mapping)
        if _match(first, candidate, trial, ignore_literals):
            yield from _search(others, nodes, nodes, trial, ignore_literals)


def _match(wanted: Any, found: Any, mapping: dict[Node, Any], loose: bool) -> bool:
    """Return True if a value of the pattern fits one of the graph, and record the pair."""
    if isinstance(wanted, Node):
        if wanted in mapping:
            return mapping[wanted] is found or (
                not isinstance(found, Node) and mapping[wanted] == found
            )
        if wanted.op != "placeholder" and not _same_kind(wanted, found):
            return False
        if isinstance(found, Node) and wanted.op != "placeholder" and found in _nodes(mapping):
            return False
        mapping[wanted] = found
        if wanted.op == "placeholder":
            return True
        return _match(_arguments(wanted), _arguments(found), mapping, loose)
    if isinstance(found, Node):
        return False
    if isinstance(wanted, tuple | list) and isinstance(found, tuple | list):
        return len(wanted) == len(found) and all(
            _match(a, b, mapping, loose) for a, b in zip(wanted, found, strict=True)
        )
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(
            _match(value, found[key], mapping, loose) for key, value in wanted.items()
        )
    if isinstance(wanted, slice) and isinstance(found, slice):
        return _match(_parts(wanted), _parts(found), mapping, loose)
    return loose or (type(wanted) is type(found) and bool(wanted == found))


def _parts(value: slice) -> tuple[Any, ...]:
    return value.start, value.stop, value.step


def _same_kind(wanted: Node, found: Any) -> bool:
    if not isinstance(found, Node) or wanted.op != found.op:
        return False
    if wanted.op == "get_attr":
        return True
    return bool(wanted.target == found.target)


def _arguments(node: Node) -> Any:
    """The arguments by name where the target has a signature, so that both spellings match."""
    if node.op == "call_function":
        try:
            bound = inspect.signature(plain(node.target)).bind(*node.args, **node.kwargs)
        except (TypeError, ValueError):
            return node.args, dict(node.kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)
    return node.args, dict(node.kwargs)


def _nodes(mapping: dict[Node, Any]) -> set[Node]:
    """The nodes of the graph that a match takes up."""
    return {each for key, each in mapping.items() if key.op != "placeholder"}


def _contained(mapping: dict[Node, Any], anchors: list[Node], own: set[Node]) -> bool:
    """Return True if only the results of the match are used outside of it."""
    results = {mapping[each] for each in anchors}
    return all(
        node in results or node.op == "get_attr" or own.issuperset(node.users) for node in own
    )
