"""Knowledge of the checker about exercises on fusing and on patterns in graphs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["FUSE", "MATCH_PATTERNS"]

PIECES = (
    ("Conv2d", "BatchNorm2d", "ReLU"),
    ("Conv2d", "BatchNorm2d"),
    ("Conv2d", "ReLU"),
    ("Linear", "ReLU"),
    ("BatchNorm2d", "ReLU"),
    ("Conv2d", "MaxPool2d"),
    ("Linear", "BatchNorm2d"),
    ("Flatten",),
    ("Sigmoid",),
    ("ReLU",),
    ("Conv2d",),
    ("Linear",),
)


def draw_fuse(random: np.random.Generator) -> tuple[Case, ...]:
    """Sequences of pieces, some of which fuse."""
    cases = []
    for number in range(10):
        chosen = random.integers(0, len(PIECES), int(random.integers(2, 5)))
        kinds = [kind for each in [number, *chosen] for kind in PIECES[each]]
        cases.append(Case(f"drawn: {len(kinds)} modules", (kinds,)))
    return tuple(cases)


_TRIPLE = '        ["Conv2d", "BatchNorm2d", "ReLU"],\n'
_NORM = '        ["Conv2d", "BatchNorm2d"],\n'
_RELU = '        ["Conv2d", "ReLU"],\n'
_LINEAR = '        ["Linear", "ReLU"],\n'
_ALONE = '        ["BatchNorm2d", "ReLU"],\n'
_APPEND = "groups.append(list(range(place, place + length)))"
FUSE = Library(
    exercise="fuse",
    answer=f"""\
def fuse(kinds):
    patterns = [
{_TRIPLE}{_NORM}{_RELU}{_LINEAR}{_ALONE}    ]
    groups, place = [], 0
    while place < len(kinds):
        length = 1
        for pattern in patterns:
            if list(kinds[place : place + len(pattern)]) == pattern:
                length = len(pattern)
                {_APPEND}
                break
        place += length
    return groups
""",
    changes=(
        change(
            "takes the shorter pattern",
            "Where conv-bn-relu fits, conv-bn fits as well: try the longest first.",
            (_TRIPLE, ""),
        ),
        change("knows convolutions only", "A linear layer fuses with its ReLU too.", (_LINEAR, "")),
        change(
            "needs a batch norm",
            "A convolution fuses with a ReLU without a norm between them.",
            (_RELU, ""),
        ),
        change(
            "needs a relu",
            "A convolution fuses with its norm although no ReLU follows.",
            (_NORM, ""),
        ),
        change(
            "leaves a norm with a relu alone",
            "BatchNorm2d-ReLU is a pattern of its own.",
            (_ALONE, ""),
        ),
        change(
            "lets groups overlap",
            "A module belongs to one group at most: go on behind the group.",
            ("place += length", "place += 1"),
        ),
        change(
            "stops after the first group",
            "Go on behind the group: there may be others.",
            ("                break", "                return groups"),
        ),
        change(
            "fuses a linear layer with a norm",
            "Linear-BatchNorm2d is not in the list.",
            (_LINEAR, _LINEAR + '        ["Linear", "BatchNorm2d"],\n'),
        ),
        change(
            "fuses a convolution with whatever follows",
            "Only a norm or a ReLU behind it counts.",
            (_RELU, '        ["Conv2d", *kinds[place + 1 : place + 2]],\n'),
            ("    patterns = [", "    def patterns(place): return ["),
            ("in patterns:", "in patterns(place):"),
            ("== pattern:", "== pattern and len(pattern) > 1:"),
        ),
        change(
            "counts modules from 1",
            "The first module has the number 0.",
            ("range(place, place + length)", "range(place + 1, place + length + 1)"),
        ),
        change(
            "gives the first and the last number only",
            "A group lists all of its modules.",
            (_APPEND, "groups.append([place, place + length - 1])"),
        ),
        change(
            "gives the names instead of the numbers",
            "Modules are told by their numbers.",
            (_APPEND, "groups.append(pattern)"),
        ),
        change(
            "lists single modules as groups",
            "What does not fuse is in no group.",
            (
                "                break\n",
                "                break\n        else:\n            groups.append([place])\n",
            ),
        ),
        change(
            "skips the module behind a group",
            "Go on right behind the group.",
            ("place += length", "place += length + (length > 1)"),
        ),
    ),
    draw=draw_fuse,
    traits=(
        Trait(
            "a Linear stands before a ReLU",
            lambda k: ("Linear", "ReLU") in itertools.pairwise(k),
        ),
        Trait(
            "a Conv2d stands before a ReLU",
            lambda k: ("Conv2d", "ReLU") in itertools.pairwise(k),
        ),
        Trait(
            "a BatchNorm2d stands before a ReLU",
            lambda k: ("BatchNorm2d", "ReLU") in itertools.pairwise(k),
        ),
        Trait(
            "a Conv2d stands before a BatchNorm2d",
            lambda k: ("Conv2d", "BatchNorm2d") in itertools.pairwise(k),
        ),
        Trait(
            "Conv2d, BatchNorm2d and ReLU follow one another",
            lambda k: ("Conv2d", "BatchNorm2d", "ReLU") in zip(k, k[1:], k[2:], strict=False),
        ),
        Trait("there is a Linear", lambda k: "Linear" in k),
        Trait("there is a MaxPool2d", lambda k: "MaxPool2d" in k),
    ),
)


def draw_match(random: np.random.Generator) -> tuple[Case, ...]:
    """Graphs in which values have one user or several, with patterns that compete."""
    cases = []
    pools: tuple[list[tuple[str, ...]], ...] = (
        [("conv", "relu"), ("conv", "bn"), ("conv", "bn", "relu"), ("relu",)],
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
            if kind == "add":
                inputs.append(str(random.choice(names[1:] or names)))
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
