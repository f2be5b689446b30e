"""Knowledge of the checker about the exercise on fusing."""

from __future__ import annotations

import itertools

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["FUSE"]

PIECES = (
    ("Conv2d", "BatchNorm2d", "ReLU"),
    ("Conv2d", "BatchNorm2d"),
    ("Conv2d", "ReLU"),
    ("Linear", "ReLU"),
    ("BatchNorm2d", "ReLU"),
    ("Conv2d", "MaxPool2d"),
    ("Linear", "BatchNorm2d"),
    ("Linear", "BatchNorm2d", "ReLU"),
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


def _stand_together(first: str, second: str) -> Trait:
    return Trait(
        f"a {first} stands before a {second}", lambda k: (first, second) in itertools.pairwise(k)
    )


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
            "goes from right to left, the shorter pattern first",
            "Go from left to right and take the longest that fits.",
            (
                "    groups, place = [], 0\n",
                (
                    "    kinds, groups, place = kinds[::-1], [], 0\n"
                    "    patterns = [each[::-1] for each in patterns[::-1]]\n"
                ),
            ),
            (
                "    return groups",
                "    return [[len(kinds) - 1 - k for k in each[::-1]] for each in groups[::-1]]",
            ),
        ),
        change(
            "knows conv-bn-relu only",
            "There are five patterns.",
            (_NORM, ""),
            (_RELU, ""),
            (_LINEAR, ""),
            (_ALONE, ""),
        ),
        change(
            "knows pairs only and goes on with what is left",
            "Where conv-bn-relu fits, it is one group of three.",
            (_TRIPLE, ""),
            ("place += length", "place += max(length - 1, 1)"),
        ),
        change(
            "fuses whatever stands before a ReLU",
            "Only Conv2d, Linear, BatchNorm2d and Conv2d-BatchNorm2d fuse with a ReLU.",
            (
                "    patterns = [\n",
                "    patterns = [\n"
                + "".join(
                    f'        ["{kind}", "ReLU"],\n'
                    for kind in ("MaxPool2d", "Flatten", "Sigmoid", "ReLU")
                ),
            ),
        ),
        change(
            "fuses a linear layer with norm and ReLU",
            "Linear-BatchNorm2d-ReLU is not in the list.",
            (_LINEAR, '        ["Linear", "BatchNorm2d", "ReLU"],\n' + _LINEAR),
        ),
        change(
            "does not look at the last two modules",
            "A pair may stand at the end: go on to the last place where one fits.",
            ("while place < len(kinds)", "while place < len(kinds) - 2"),
        ),
        change(
            "loses the group at the end",
            "A group may reach the last module.",
            ("== pattern:", "== pattern and place + len(pattern) < len(kinds):"),
        ),
        change(
            "gives one list of all numbers",
            "Each group is a list of its own.",
            ("return groups", "return [sum(groups, [])]"),
        ),
        change(
            "gives first and last with the end left out",
            "A group lists all of its modules.",
            (_APPEND, "groups.append([place, place + length])"),
        ),
        change(
            "gives first and length",
            "A group lists all of its modules.",
            (_APPEND, "groups.append([place, length])"),
        ),
        change(
            "gives numbers from the end",
            "The first module has the number 0.",
            (_APPEND, "groups.append([k - len(kinds) for k in range(place, place + length)])"),
        ),
        change(
            "takes the first module of that name",
            "list.index finds the first of several: count places.",
            (_APPEND, "groups.append([kinds.index(each) for each in pattern])"),
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
        *itertools.starmap(
            _stand_together,
            (
                ("Linear", "ReLU"),
                ("Conv2d", "ReLU"),
                ("BatchNorm2d", "ReLU"),
                ("Conv2d", "BatchNorm2d"),
            ),
        ),
        Trait(
            "Conv2d, BatchNorm2d and ReLU follow one another",
            lambda k: ("Conv2d", "BatchNorm2d", "ReLU") in zip(k, k[1:], k[2:], strict=False),
        ),
        Trait("there is a Linear", lambda k: "Linear" in k),
        Trait("there is a MaxPool2d", lambda k: "MaxPool2d" in k),
    ),
)
