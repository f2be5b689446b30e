"""An exercise on graph mode: where in a graph the patterns of a back end are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .exercise import Case, Exercise, Mistake

__all__ = ["MATCH_PATTERNS"]

Node = tuple[str, str, list[str]]
Pattern = tuple[str, ...]


class Matcher:
    """Solution, in parts that mistakes replace."""

    def __init__(self, graph: Sequence[Node], patterns: Sequence[Pattern]) -> None:
        self.nodes = {node[0]: node for node in graph}
        self.patterns = patterns
        self.taken: set[str] = set()

    def order(self) -> list[str]:
        """Where to look: from the end."""
        return list(self.nodes)[::-1]

    def ranked(self) -> list[Pattern]:
        """Return the matches in the order to try them: the longest first."""
        return sorted(self.patterns, key=lambda each: -len(each))

    def uses(self, name: str) -> int:
        """How many nodes use a value."""
        return sum(inputs.count(name) for _, _, inputs in self.nodes.values())

    def before(self, name: str) -> str | None:
        """The node that gives the first input."""
        inputs = self.nodes[name][2]
        return inputs[0] if inputs else None

    def free(self, names: Sequence[str]) -> bool:
        """Return True if no match contains one of the nodes."""
        return not self.taken & set(names)

    def ending_at(self, last: str, pattern: Pattern) -> list[str] | None:
        """The nodes of a pattern that ends at a node."""
        names: list[str] = []
        name: str | None = last
        for kind in reversed(pattern):
            if name is None or self.nodes[name][1] != kind or (names and self.uses(name) > 1):
                return None
            names.insert(0, name)
            name = self.before(name)
        return names

    def matches(self) -> list[list[str]]:
        """All of them."""
        found = []
        for last in self.order():
            for pattern in self.ranked():
                names = self.ending_at(last, pattern)
                if names and self.free(names):
                    found.append(names)
                    self.taken |= set(names)
                    break
        return found


class Shared(Matcher):
    """Values that others use are swallowed."""

    def uses(self, name: str) -> int:
        """Nobody looks."""
        return 1


class WithoutOutput(Matcher):
    """The output is no use."""

    def uses(self, name: str) -> int:
        """Those of nodes that compute."""
        nodes = self.nodes.values()
        return sum(inputs.count(name) for _, kind, inputs in nodes if kind != "output")


class Forwards(Matcher):
    """From the beginning."""

    def order(self) -> list[str]:
        """Return the nodes in the order in which they run."""
        return list(self.nodes)


class Shortest(Matcher):
    """Short patterns first."""

    def ranked(self) -> list[Pattern]:
        """The shortest first."""
        return sorted(self.patterns, key=len)


class AsListed(Matcher):
    """Whatever stands first."""

    def ranked(self) -> list[Pattern]:
        """Return the matches in the order of the back end."""
        return list(self.patterns)


class Overlapping(Matcher):
    """Nodes belong to several matches."""

    def free(self, names: Sequence[str]) -> bool:
        """Always."""
        return True


class Neighbours(Matcher):
    """The list taken for the graph."""

    def before(self, name: str) -> str | None:
        """The node one line above."""
        names = list(self.nodes)
        place = names.index(name)
        return names[place - 1] if place else None


def by(matcher: type[Matcher]) -> Callable[..., Any]:
    """A matcher as the function that is asked for."""
    return lambda graph, patterns: matcher(graph, patterns).matches()


def as_text(function: Callable[..., Any], graph: list[Node], patterns: list[Pattern]) -> str | None:
    """Matches in one form and order."""
    found = function(graph, patterns)
    return found if found is None else str(sorted([str(name) for name in each] for each in found))


def chain(*kinds: str) -> list[Node]:
    """Nodes one after another, each named after its kind."""
    names = ["x", *kinds]
    nodes = [(name, name, [before]) for before, name in pairwise(names)]
    return [("x", "input", []), *nodes, ("y", "output", [names[-1]])]


_CONVS = [("conv", "relu"), ("conv", "bn"), ("conv", "bn", "relu")]
_RESIDUAL: list[Node] = [
    ("x", "input", []),
    ("conv_1", "conv", ["x"]),
    ("relu_1", "relu", ["conv_1"]),
    ("conv_2", "conv", ["relu_1"]),
    ("sum", "add", ["conv_2", "relu_1"]),
    ("relu_2", "relu", ["sum"]),
    ("y", "output", ["relu_2"]),
]
_TWICE: list[Node] = [
    ("x", "input", []),
    ("conv", "conv", ["x"]),
    ("relu", "relu", ["conv"]),
    ("sum", "add", ["relu", "conv"]),
    ("y", "output", ["sum"]),
]
_TWO_RESULTS: list[Node] = [
    ("x", "input", []),
    ("conv", "conv", ["x"]),
    ("relu", "relu", ["conv"]),
    ("y", "output", ["relu", "conv"]),
]
_BRANCHES: list[Node] = [
    ("x", "input", []),
    ("conv_1", "conv", ["x"]),
    ("conv_2", "conv", ["x"]),
    ("relu_1", "relu", ["conv_1"]),
    ("bn_2", "bn", ["conv_2"]),
    ("sum", "add", ["relu_1", "bn_2"]),
    ("y", "output", ["sum"]),
]

MATCH_PATTERNS = Exercise(
    name="match_patterns",
    task=(
        "Say which nodes of a graph a back end takes together: a list of matches, each the list of "
        "its nodes' names, first to last. graph is a list of nodes (name, kind, names of the "
        "inputs) in the order in which they run; a pattern is a tuple of kinds, first to last, and "
        "goes from a node to its first input. Go through the nodes from the last to the first, and "
        "at each take the longest pattern that ends there and has no node that is taken already. A "
        "value inside a pattern may have no other user, the output included."
    ),
    signature="match_patterns(graph, patterns)",
    results=("matches",),
    label="eq-fold-weight",
    reference="pyqref.quantization.fx.matching.find_matches",
    solution=by(Matcher),
    use=as_text,
    cases=(
        Case("one pattern", (chain("conv", "relu"), [("conv", "relu")])),
        Case("the longest of four", (chain("conv", "bn", "relu"), [*_CONVS, ("relu",)])),
        Case(
            "two that share a node",
            (chain("conv", "bn", "relu"), [("conv", "bn"), ("bn", "relu"), ("conv",)]),
        ),
        Case("a residual block", (_RESIDUAL, [("conv", "relu"), ("add", "relu"), ("conv",)])),
        Case("a value that is used twice", (_TWICE, [("conv", "relu"), ("conv",), ("relu",)])),
        Case("a value that is a result, too", (_TWO_RESULTS, [("conv", "relu"), ("conv",)])),
        Case("branches side by side", (_BRANCHES, [("bn",), *_CONVS, ("conv",)])),
    ),
    mistakes=(
        Mistake(
            "swallows a value that others need",
            "Inside a match no value is left over: each but the last must have one user.",
            by(Shared),
        ),
        Mistake(
            "does not count the output as a user",
            "What the graph returns must exist: the output is a user like any other.",
            by(WithoutOutput),
        ),
        Mistake(
            "goes from the first node to the last",
            "Where two patterns share a node, the one that ends later wins: go backwards.",
            by(Forwards),
        ),
        Mistake(
            "takes the shortest pattern",
            "Where conv-bn-relu fits, bn-relu or relu may fit as well: try the longest first.",
            by(Shortest),
        ),
        Mistake(
            "takes the first pattern of the list",
            "The order in which a back end lists its patterns does not count: the longest does.",
            by(AsListed),
        ),
        Mistake(
            "lets matches overlap",
            "A node runs once: it belongs to one match at most.",
            by(Overlapping),
        ),
        Mistake(
            "follows the list instead of the edges",
            "The node one line above need not be the input: look at the names of the inputs.",
            by(Neighbours),
        ),
    ),
)
