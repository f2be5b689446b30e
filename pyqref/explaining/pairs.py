"""One number of two models, both derivations side by side."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from ..tensor.html import Markup, element, faint, table

__all__ = ["Element", "Line", "Pair"]

WRAP = "white-space:normal;overflow-wrap:anywhere"
"""Style of a cell whose text may be broken anywhere: formulas are long."""

NAME, SIDE = 27, 34
"""Characters of a step's name, and of its value on one side."""


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


class Line(NamedTuple):
    """One step of a derivation.

    Attributes
    ----------
    name : str
        In words.
    value : str
        The number.
    formula : str
        With the numbers put in.
    decision : str
        What a rounding or a clamp decided; empty where there was nothing to decide.

    Examples
    --------
    >>> Line("rounded", "2", "rne(2.5)", "a tie: to the even 2").value
    '2'
    """

    name: str
    value: str
    formula: str
    decision: str

    @property
    def text(self) -> str:
        """The number, and what was decided."""
        return f"{self.value} ({self.decision})" if self.decision else self.value


class Pair(NamedTuple):
    """Derivations of one number of a layer in two models.

    Attributes
    ----------
    layer : str
        Path of the module, or name of the node.
    element : Element
        The number, in both.
    a, b : tuple of Line, or None
        The steps of each; None where there are none, as of integers that were recorded.

    Examples
    --------
    >>> a = (Line("sum", "5", "2 + 3", ""), Line("rounded", "5", "rne(5)", ""))
    >>> b = (Line("sum", "6", "2 + 4", ""), Line("rounded", "6", "rne(6)", ""))
    >>> for line in Pair("fc", Element((0,), 5, 6), a, b).lines():
    ...     print(" ".join(line.split()))
    fc[0], step by step:
    a: 5 b: 6
    sum 5 6 !=
    rounded 5 6 !=
    """

    layer: str
    element: Element
    a: tuple[Line, ...] | None
    b: tuple[Line, ...] | None

    def rows(self) -> Iterator[tuple[Line | None, Line | None]]:
        """The steps of both, those of one name beside each other."""
        a, b = self.a or (), self.b or ()
        names = [[each.name for each in side] for side in (a, b)]
        alike = SequenceMatcher(None, names[0], names[1], autojunk=False)
        for what, i, j, k, m in alike.get_opcodes():
            if what == "equal":
                yield from zip(a[i:j], b[k:m], strict=True)
            else:
                yield from ((each, None) for each in a[i:j])
                yield from ((None, each) for each in b[k:m])

    def lines(self) -> list[str]:
        """The text of a table: step, both numbers, and a mark where they differ."""
        ends = f"a: {self.element.a:g}", f"b: {self.element.b:g}"
        made = [
            f"{self.layer}{list(self.element.place)}, step by step:",
            _line("", ends[0], ends[1], ""),
        ]
        for a, b in self.rows():
            texts = ["" if each is None else _fitting(each) for each in (a, b)]
            some = a or b
            assert some is not None
            mark = "!=" if a is not None and b is not None and a.value != b.value else ""
            made.append(_line(some.name, texts[0], texts[1], mark))
        for side, letter in ((self.a, "a"), (self.b, "b")):
            if side is None:
                made.append(f"of {letter} there are no steps")
        return made

    def _html(self, *, shown: bool) -> Markup:
        rows = []
        named = "white-space:normal;max-width:min(14em,26vw)"
        for a, b in self.rows():
            some = a or b
            assert some is not None
            differ = a is None or b is None or a.value != b.value
            cells = [element("div", some.name, style=named), *(_cell(each) for each in (a, b))]
            bold = {"style": "font-weight:bold"} if differ else {}
            rows.append([element("div", each, **bold) for each in cells])
        heads = ["step", f"a: {self.element.a:g}", f"b: {self.element.b:g}"]
        name = f"{self.layer}{list(self.element.place)}: {self.element.a:g} and {self.element.b:g}"
        opened = {"open": "open"} if shown else {}
        title = element("summary", name, style="cursor:pointer")
        below = [table(rows, heads, left=3)]
        below += [
            element("div", faint(f"of {letter} there are no steps"))
            for side, letter in ((self.a, "a"), (self.b, "b"))
            if side is None
        ]
        return element("details", title, *below, **opened)


def _cell(line: Line | None) -> Markup:
    if line is None:
        return Markup("")
    below = [element("div", faint(line.formula))] if line.formula != line.value else []
    return element("div", line.text, *below, style=f"{WRAP};max-width:min(26em,34vw)")


def _fitting(line: Line) -> str:
    """The number, and what was decided if there is room for that."""
    return line.text if len(line.text) < SIDE else line.value


def _line(name: str, a: str, b: str, mark: str) -> str:
    cells = [_cut(name, NAME).ljust(NAME), *(_cut(each, SIDE - 1).ljust(SIDE) for each in (a, b))]
    return " ".join([cells[0], "".join(cells[1:]) + mark])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
