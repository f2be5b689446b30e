"""Knowledge of the checker about the exercise on patterns in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["MATCH_PATTERNS"]


def draw_match(random: np.random.Generator) -> tuple[Case, ...]:
    """Graphs in which values have one user or several, with patterns that compete."""
    cases = []
    pools: tuple[list[tuple[str, ...]], ...] = (
        [("conv", "relu"), ("conv", "bn"), ("conv", "bn", "relu"), ("relu",), ("bn",)],
        [("bn", "relu"), ("conv", "bn"), ("conv",)],
        [("relu",), ("conv", "relu"), ("add", "relu"), ("bn",)],
        [("conv", "add"), ("conv", "add", "relu"), ("bn", "add"), ("relu", "add")],
    )
    for number in range(10):
        graph: list[tuple[str, str, list[str]]] = [("x", "input", [])]
        kinds = ["conv", "bn", "relu", "conv", "relu"] + [
            str(each) for each in random.choice(["conv", "bn", "relu", "add"], 4)
        ]
        if number % 4 == 3:
            kinds = ["conv", "bn", "conv", "add", "relu", "bn", "add", "relu"]
        for index, kind in enumerate(kinds):
            names = [each[0] for each in graph]
            stray = number % 4 != 3 and random.random() < 0.25
            source = str(random.choice(names)) if stray else names[-1]
            inputs = [source]
            if kind == "add":  # of two values, so that nobody asks how often one is used
                others = [each for each in names[1:] if each != source]
                inputs.append(str(random.choice(others or ["x"])))
            graph.append((f"{kind}_{index}", kind, inputs))
        last = [graph[-1][0]]
        if number % 3 == 2:
            last.append(graph[-3][0])
        graph.append(("y", "output", last))
        cases.append(Case(f"drawn: {len(graph)} nodes", (graph, pools[number % 4])))
    return tuple(cases)


def _shared(graph: Any, patterns: Any) -> bool:
    inputs = [each for _, _, names in graph for each in names]
    return any(inputs.count(each) > 1 for each in inputs)


_TAKE = (
    "            else:\n                found.append(names)\n                taken.update(names)\n"
)
MATCH_PATTERNS = Library(
    exercise="match_patterns",
    answer="""\
def match_patterns(graph, patterns):
    nodes = {name: (kind, inputs) for name, kind, inputs in graph}
    users = [each for _, kind, inputs in graph for each in inputs]
    taken, found = set(), []
    for last in reversed(list(nodes)):
        for pattern in sorted(patterns, key=len, reverse=True):
            names, name = [], last
            for kind in reversed(pattern):
                if name is None or nodes[name][0] != kind or name in taken:
                    break
                if names and users.count(name) > 1:
                    break
                names.insert(0, name)
                name = nodes[name][1][0] if nodes[name][1] else None
            else:
                found.append(names)
                taken.update(names)
                break
    return found
""",
    changes=(
        change(
            "tries all nodes with one pattern before the next",
            "At each node, from the last to the first, take the longest pattern that ends there.",
            (
                (
                    "    for last in reversed(list(nodes)):\n"
                    "        for pattern in sorted(patterns, key=len, reverse=True):\n"
                ),
                (
                    "    for pattern in sorted(patterns, key=len, reverse=True):\n"
                    "        for last in reversed(list(nodes)):\n"
                ),
            ),
            ("taken.update(names)\n                break", "taken.update(names)"),
        ),
        change(
            "marks the first node of a match only",
            "All nodes of a match are taken.",
            ("taken.update(names)", "taken.add(names[0])"),
        ),
        change(
            "asks for the users of the last node only",
            "Each but the last must have one user.",
            ("names and users.count(name) > 1", "not names and users.count(name) > 1"),
        ),
        change(
            "does not ask for the users of the first node",
            "Each but the last must have one user, the first as well.",
            ("names and users", "0 < len(names) < len(pattern) - 1 and users"),
        ),
        change(
            "leaves nodes with two inputs out",
            "A pattern goes from a node to its first input, whatever other inputs there are.",
            ("if name is None or", "if name is None or len(nodes[name][1]) > 1 or"),
        ),
        change(
            "passes over nodes of other kinds",
            "The kinds of a pattern follow one another at once.",
            (
                "                if name is None or nodes[name][0]",
                (
                    "                while names and name and nodes[name][1] "
                    "and nodes[name][0] != kind:\n"
                    "                    name = nodes[name][1][0]\n"
                    "                if name is None or nodes[name][0]"
                ),
            ),
        ),
        change(
            "tries the first pattern that ends in the right kind only",
            "Where a long pattern does not fit, a shorter one may.",
            (
                f"{_TAKE}                break\n",
                (f"{_TAKE}            if pattern[-1] == nodes[last][0]:\n                break\n"),
            ),
        ),
        change(
            "gives the last node of a match only",
            "A match lists all of its nodes.",
            ("found.append(names)", "found.append([last])"),
        ),
        change(
            "gives the first and the last node only",
            "A match lists all of its nodes.",
            ("found.append(names)", "found.append([names[0], names[-1]])"),
        ),
        change(
            "swallows a value that others need",
            "Inside a match no value is left over: each but the last must have one user.",
            ("names and users.count(name) > 1", "False"),
        ),
        change(
            "does not count the output as a user",
            "What the graph returns must exist: the output is a user like any other.",
            ("in graph for each in inputs]", "in graph for each in inputs if kind != 'output']"),
        ),
        change(
            "wants one user of the last node as well",
            "The last value of a match may have any number of users.",
            ("names and users", "users"),
        ),
        change(
            "goes from the first node to the last",
            "Where two patterns share a node, the one that ends later wins: go backwards.",
            ("reversed(list(nodes))", "list(nodes)"),
        ),
        change(
            "takes the shortest pattern",
            "Where conv-bn-relu fits, bn-relu or relu may fit as well: try the longest first.",
            ("key=len, reverse=True", "key=len"),
        ),
        change(
            "takes the first pattern of the list",
            "The order in which a back end lists its patterns does not count: the longest does.",
            ("sorted(patterns, key=len, reverse=True)", "patterns"),
        ),
        change(
            "lets matches overlap",
            "A node runs once: it belongs to one match at most.",
            (" or name in taken", ""),
        ),
        change(
            "follows the list instead of the edges",
            "The node one line above need not be the input: look at the names of the inputs.",
            (
                "name = nodes[name][1][0] if nodes[name][1] else None",
                "name = dict(zip(list(nodes)[1:], nodes)).get(name)",
            ),
        ),
        change(
            "follows the last input",
            "A pattern goes from a node to its first input.",
            ("nodes[name][1][0] if", "nodes[name][1][-1] if"),
        ),
        change(
            "skips patterns of one node",
            "A pattern of one kind is a pattern like any other.",
            (
                "            names, name = [], last\n",
                (
                    "            if len(pattern) < 2:\n                continue\n"
                    "            names, name = [], last\n"
                ),
            ),
        ),
        change(
            "stops after the first match",
            "Go on: every node is looked at.",
            ("taken.update(names)\n                break", "return found"),
        ),
        change(
            "lists the nodes of a match last to first",
            "A match lists its nodes in the order in which they run.",
            ("names.insert(0, name)", "names.append(name)"),
        ),
        change(
            "takes the pattern the wrong way round",
            "The last kind of a pattern is that of the last node.",
            ("in reversed(pattern)", "in pattern"),
        ),
        change(
            "gives the kinds instead of the names",
            "Nodes are told by their names.",
            ("found.append(names)", "found.append(list(pattern))"),
        ),
    ),
    draw=draw_match,
    traits=(
        Trait("a value has several users", _shared),
        Trait("a node has two inputs", lambda g, p: any(len(each[2]) > 1 for each in g)),
        Trait("a pattern has one node", lambda g, p: any(len(each) == 1 for each in p)),
        Trait("the graph returns two values", lambda g, p: len(g[-1][2]) > 1),
        Trait(
            "the patterns are not listed longest first",
            lambda g, p: (
                [len(each) for each in p] != sorted((len(each) for each in p), reverse=True)
            ),
        ),
    ),
)
