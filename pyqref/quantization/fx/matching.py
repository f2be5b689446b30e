"""Find the patterns of a back end in a graph.

Patterns are written from the output (see
:mod:`pyqref.quantization.backend_config.pattern_format`). The graph is searched from its
output, long patterns first, and a node belongs to one match only::

    linear -> relu -> flatten           matches: (relu, linear), flatten
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.quantization.backend_config import BackendPatternConfig
from pyqref.quantization.backend_config.pattern_format import MatchAllNode

from .aliases import of_one_name
from .tensor_values import has_tensor

__all__ = ["Match", "default_root_node", "find_matches", "matches", "nodes_of", "sorted_patterns"]


@dataclass(frozen=True)
class Match:
    """Nodes that fit a pattern.

    Attributes
    ----------
    last
        The node whose value is that of the pattern.
    nodes
        The matched nodes, nested as the pattern is.
    pattern
        The pattern, in the complex format.
    config
        What the back end says of it.
    roles
        Which argument of the root is the ``"weight"``, ``"bias"`` or ``"input"``, if it is
        a function.
    """

    last: Node
    nodes: Any
    pattern: Any
    config: BackendPatternConfig
    roles: Mapping[str, int] = field(default_factory=dict)

    @property
    def root(self) -> Node:
        """The node that computes: a convolution, of convolution, batch norm and ReLU."""
        getter = self.config._root_node_getter or default_root_node
        root: Node = getter(self.nodes)
        return root

    def all_nodes(self) -> list[Node]:
        """The matched nodes, the last first; not those that stand for anything."""
        return list(nodes_of(self.nodes, self.pattern))


def default_root_node(nodes: Any) -> Node:
    """The innermost last node: where the pattern's computation starts."""
    while isinstance(nodes, tuple):
        nodes = nodes[-1]
    return nodes


def nodes_of(nodes: Any, pattern: Any) -> Iterator[Node]:
    """The nodes of a match one by one."""
    if pattern is MatchAllNode:
        return
    if isinstance(nodes, tuple):
        for node, part in zip(nodes, pattern, strict=True):
            yield from nodes_of(node, part)
    elif isinstance(nodes, Node):
        yield nodes


def matches(
    modules: Mapping[str, Any], node: Node, pattern: object, max_uses: int = sys.maxsize
) -> bool:
    """Return True if a node is the end of a pattern.

    Parameters
    ----------
    modules
        The model's modules by path.
    node
        The node.
    pattern
        In the complex format.
    max_uses
        How often the node's value may be used. Inside a pattern: once.
    """
    operation, *inputs = pattern if isinstance(pattern, tuple) else (pattern,)
    if operation is MatchAllNode:
        return True
    if not isinstance(node, Node) or len(node.users) > max_uses:
        return False
    if not _is_operation(modules, node, operation):
        return False
    if not inputs:
        return True
    if len(inputs) > 1 and node.kwargs:
        return False  # such as add(x, y, alpha=2), which no fused module can hold
    return len(inputs) == len(node.args) and all(
        matches(modules, arg, part, max_uses=1) for arg, part in zip(node.args, inputs, strict=True)
    )


def _is_operation(modules: Mapping[str, Any], node: Node, operation: Any) -> bool:
    if isinstance(operation, str):
        if operation == "shape":
            return node.op == "call_function" and node.target is getattr and "shape" in node.args
        return node.op == "call_method" and node.target == of_one_name(operation)
    if isinstance(operation, type):
        return node.op == "call_module" and type(modules.get(node.target)) is operation
    return node.op == "call_function" and node.target is of_one_name(operation)


def sorted_patterns(configs: Iterable[tuple[Any, BackendPatternConfig]]) -> list[Any]:
    """Longer patterns first; of equal length in the order given."""
    return sorted(configs, key=lambda item: -_length(item[0]))


def _length(pattern: Any) -> int:
    return sum(map(_length, pattern)) if isinstance(pattern, tuple) else 1


def find_matches(
    model: GraphModule,
    patterns: Iterable[tuple[Any, BackendPatternConfig]],
    accept: Callable[[Match], bool] | None = None,
) -> dict[Node, Match]:
    """The match that each node belongs to.

    Parameters
    ----------
    model
        The model.
    patterns
        Patterns in the complex format, with their configs.
    accept
        Whether a match is to be taken; all are if None.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    ordered = sorted_patterns(patterns)
    roles = {pattern: each._input_type_to_index for pattern, each in ordered}
    tensors: dict[Node, bool] = {}
    for node in model.graph.nodes:
        tensors[node] = has_tensor(node, tensors, modules)
    found: dict[Node, Match] = {}
    for node in reversed(model.graph.nodes):
        if node in found:
            continue
        for pattern, config in ordered:
            if not matches(modules, node, pattern):
                continue
            match = Match(node, _collect(node, pattern), pattern, config)
            if match.root.op == "call_function":
                match = replace(match, roles=roles.get(match.root.target, {}))
            members = match.all_nodes()
            if any(each in found for each in members) or not _has_its_inputs(match, tensors):
                continue
            if accept is not None and not accept(match):
                continue
            found.update(dict.fromkeys(members, match))
            break
    return found


def _has_its_inputs(match: Match, tensors: Mapping[Node, bool]) -> bool:
    """Return True if the extra inputs of the root are tensors from outside the match.

    ``conv(x) + 1`` and ``y + y`` with ``y = conv(x)`` have none that a fused module could take.
    """
    getter = match.config._extra_inputs_getter
    extra = [] if getter is None else getter(match.nodes)
    members = match.all_nodes()
    return all(isinstance(each, Node) and tensors[each] and each not in members for each in extra)


def _collect(node: Any, pattern: Any) -> Any:
    """The nodes of a match, nested as the pattern."""
    if not isinstance(pattern, tuple):
        return node
    _, *inputs = pattern
    return (node, *(_collect(a, part) for a, part in zip(node.args, inputs, strict=True)))
