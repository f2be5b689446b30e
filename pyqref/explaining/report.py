"""What :func:`explain_diff` returns: a table of the layers of two models that differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..tensor.html import block, element, faint, table

__all__ = ["Differences", "Element", "LayerDifference"]

Array = np.ndarray[Any, Any]
ROWS = 24
"""Layers of a table."""
NAME = 26
"""Characters of the name of a layer in a table."""


class Element(NamedTuple):
    """One element of a layer's output in two models.

    Attributes
    ----------
    place : tuple of int
        Its index.
    a, b : int or float
        The integer of each, or the number of a float output.

    Examples
    --------
    >>> element = Element((0, 3), 12, 13)
    >>> element.b - element.a
    1
    """

    place: tuple[int, ...]
    a: float
    b: float


class LayerDifference:
    """How the outputs of one layer differ.

    Attributes
    ----------
    layer : str
        Path of the module, or name of the node.
    elements : int
        How many there are.
    count : int
        How many differ.
    largest : float
        The largest difference, in steps where the outputs are integers.
    causes : dict
        How many differ for which reason; they add up to ``count``.
    integers : bool
        Whether integers were compared.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([3, 7]), np.array([3, 9])
    >>> LayerDifference("fc", a, b, a != b, {"another bias": 1}, True).worst()
    [Element(place=(1,), a=7, b=9)]
    """

    def __init__(
        self,
        layer: str,
        a: Array,
        b: Array,
        differs: Array,
        causes: Mapping[str, int],
        integers: bool,
    ) -> None:
        self.layer = layer
        self.elements = int(a.size)
        self.count = int(np.count_nonzero(differs))
        gaps = np.where(differs, np.abs(b - a), 0)
        self.largest = gaps.max(initial=0).item()
        self.causes = dict(sorted(causes.items(), key=lambda pair: -pair[1]))
        self.integers = integers
        order = np.argsort(-gaps, axis=None, kind="stable")[: min(8, self.count)]
        self._worst = [
            Element(_index(place, a.shape), a.flat[place].item(), b.flat[place].item())
            for place in order
        ]

    def worst(self, count: int = 4) -> list[Element]:
        """The elements that differ most, eight at most."""
        return self._worst[:count]

    def turned(self) -> LayerDifference:
        """The same with the two models the other way round."""
        self._worst = [Element(each.place, each.b, each.a) for each in self._worst]
        return self

    @property
    def cause(self) -> str:
        """The reason of most differences; empty where there is none."""
        return next(iter(self.causes), "")

    def __repr__(self) -> str:
        return f"LayerDifference({self.layer!r}, {self.count} of {self.elements}, {self.causes})"


class Differences:
    """The layers of two models, in the order in which they run.

    Attributes
    ----------
    layers : tuple of LayerDifference
        Those that both models have.

    Examples
    --------
    >>> print(Differences(()))
    All 0 layers give the same.
    """

    def __init__(self, layers: tuple[LayerDifference, ...]) -> None:
        self.layers = layers

    @property
    def first(self) -> LayerDifference | None:
        """The first layer where the two part; None if they never do."""
        return next((each for each in self.layers if each.count), None)

    def causes(self) -> dict[str, int]:
        """How many elements of all layers differ for which reason."""
        found: dict[str, int] = {}
        for each in self.layers:
            for name, count in each.causes.items():
                found[name] = found.get(name, 0) + count
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def turned(self) -> Differences:
        """The same with the two models the other way round."""
        return Differences(tuple(each.turned() for each in self.layers))

    def __getitem__(self, layer: str) -> LayerDifference:
        for each in self.layers:
            if each.layer == layer:
                return each
        raise KeyError(f"{layer!r} is not among the layers that both have: {self._names()}")

    def _names(self) -> list[str]:
        return [each.layer for each in self.layers]

    def _rows(self) -> list[list[str]]:
        rows = []
        for each in [each for each in self.layers if each.count][:ROWS]:
            share = f"{100 * each.count / each.elements:.2f} %"
            why = list(each.causes.items())
            rows.append([each.layer, str(each.count), share, f"{each.largest:.4g}", _why(why[:1])])
            rows += [["", "", "", "", _why([more])] for more in why[1:]]
        return rows

    def _head(self) -> str:
        first = self.first
        if first is None:
            return f"All {len(self.layers)} layers give the same."
        parted = sum(1 for each in self.layers if each.count)
        text = f"They part at {first.layer}: {first.cause}."
        return f"{text} {parted} of {len(self.layers)} layers differ."

    def _worst_lines(self) -> list[str]:
        first = self.first
        if first is None:
            return []
        return [f"{first.layer}{list(e.place)}: {e.a:g} and {e.b:g}" for e in first.worst()]

    def __str__(self) -> str:
        lines = [self._head()]
        if self.first is None:
            return lines[0]
        widths = (NAME, 8, 10, 9)
        lines.append("")
        for row in [["layer", "differ", "of all", "largest", "why"], *self._rows()]:
            name = row[0] if len(row[0]) <= NAME else f"...{row[0][3 - NAME :]}"
            cells = [name.ljust(NAME), *map(str.rjust, row[1:4], widths[1:]), f"  {row[4]}"]
            lines.append("".join(cells).rstrip())
        return "\n".join(
            [*lines, "", "The first layer, where it differs most:", *self._worst_lines()]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.first is None:
            return block("Differences", [self._head()])
        heads = ["layer", "differ", "of all", "largest", "why"]
        below = [table(self._rows(), heads, left=1)]
        below += [element("div", faint(each)) for each in self._worst_lines()]
        return block("Differences", [self._head()], *below)


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(place, shape)))


def _why(causes: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name}" + f" {count}" for name, count in causes)
