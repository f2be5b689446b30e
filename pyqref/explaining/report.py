"""Result of :func:`explain_diff`: a table of the layers of two models that differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..tensor.html import block, element, faint, table
from .pairs import Element, Pair

__all__ = ["Differences", "LayerDifference"]

Array = np.ndarray[Any, Any]
ROWS = 24
"""Layers of a table."""
NAME = 26
"""Characters of the name of a layer in a table."""


class LayerDifference:
    """Differences between the outputs of one layer.

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
        """Swap the two models, in place."""
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
    pairs : tuple of Pair
        Of the first layer where they part, the elements that differ most, with the steps that lead
        to them in both models (:class:`pyqref.explaining.Pair`).

    Examples
    --------
    >>> print(Differences(()))
    All 0 layers give the same.
    """

    def __init__(self, layers: tuple[LayerDifference, ...], pairs: tuple[Pair, ...] = ()) -> None:
        self.layers = layers
        self.pairs = pairs

    @property
    def first(self) -> LayerDifference | None:
        """The first layer where the two part; None if they never do."""
        return next((each for each in self.layers if each.count), None)

    def causes(self) -> dict[str, int]:
        """Number of elements of all layers that differ, by reason."""
        found: dict[str, int] = {}
        for each in self.layers:
            for name, count in each.causes.items():
                found[name] = found.get(name, 0) + count
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def turned(self) -> Differences:
        """Return the same differences with the two models swapped."""
        swapped = [
            Pair(each.layer, Element(each.element.place, *each.element[:0:-1]), each.b, each.a)
            for each in self.pairs
        ]
        return Differences(tuple(each.turned() for each in self.layers), tuple(swapped))

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
            count = len(self.layers)
            one = "The one layer gives the same."
            return one if count == 1 else f"All {count} layers give the same."
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
        lines += ["", "The first layer, where it differs most:", *self._worst_lines()]
        for each in self.pairs[:1]:
            lines += ["", *(line.rstrip() for line in each.lines())]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.first is None:
            return block("Differences", [self._head()])
        heads = ["layer", "why", "differ", "of all", "largest"]
        rows = [[row[0], row[4], *row[1:4]] for row in self._rows()]
        below = [table(rows, heads, left=2)]
        if self.pairs:
            below += [pair._html(shown=pair is self.pairs[0]) for pair in self.pairs]
        else:
            below += [element("div", faint(each)) for each in self._worst_lines()]
        return block("Differences", [self._head()], *below)


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(place, shape)))


def _why(causes: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name}" + f" {count}" for name, count in causes)
