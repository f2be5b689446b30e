"""A derivation as text that fits a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from ..._typing import Derivation
from ..draft import Table
from ..steps import Step, short

__all__ = ["as_text", "title"]

WIDTH = 80
#: So many rows of a table are shown at its beginning, and at its end.
_ROWS = 4


def title(derivation: Derivation) -> str:
    """Return the headline of a derivation: the element, and the number that it explains."""
    index = ", ".join(map(str, derivation.index))
    place = f"{derivation.layer}[{index}]" if index else derivation.layer
    what = "scale of " if derivation.operation.startswith("observer.") else ""
    return f"{what}{place} = {short(derivation.stored)}"


def as_text(derivation: Derivation) -> str:
    """All steps, each with its formula, its numbers, its value and what was decided."""
    return "\n".join(_lines(derivation))


def _lines(derivation: Any) -> Iterator[str]:
    yield from _wrapped(title(derivation), "", "    ")
    engine = f", engine {derivation.engine}" if derivation.engine else ""
    yield from _wrapped(f"{derivation.operation}{engine}", "", "    ")
    yield from _inputs(derivation)
    section = ""
    for number, step in enumerate(derivation.steps):
        if step.section != section:
            section = step.section
            yield from _wrapped(f"-- {section}", "", "   ")
        yield from _step(step, number == derivation.result)
    for name, others in derivation.others.items():
        yield from _wrapped(f"{name}: {short(others[-1].value)}", "", "    ")
        for each in others:
            yield from _wrapped(
                f"{each.name}: {each.formula} = {short(each.value)}", "  ", "      "
            )
            if each.decision:
                yield from _wrapped(each.decision, "  > ", "    ")
    for each in derivation.tables:
        yield from _table(each)
    for note in derivation.notes:
        yield from _wrapped(note, "note: ", "      ")


def _table(shown: Table) -> Iterator[str]:
    """The first and the last rows, their columns aligned."""
    yield from _wrapped(shown.title, "", "  ")
    rows = [[short(each) for each in row] for row in shown.rows]
    left = len(rows) - 2 * _ROWS
    if left > 0:
        rows = [*rows[:_ROWS], *rows[-_ROWS:]]
    widths = [max(map(len, column)) for column in zip(shown.header, *rows, strict=True)]
    for number, row in enumerate([shown.header, *rows]):
        if left > 0 and number == _ROWS + 1:
            yield f"  ... {left} more"
        yield "  " + "  ".join(cell.rjust(size) for cell, size in zip(row, widths, strict=True))


def _inputs(derivation: Any) -> Iterator[str]:
    count = len(derivation.inputs)
    chosen = derivation.largest_inputs(3)
    for each in chosen:
        index = ", ".join(map(str, each.index))
        line = f"{each.symbol} = {short(each.value)}, from {each.layer}[{index}]"
        yield from _wrapped(line, "  ", "      ")
    if count > len(chosen):
        left = count - len(chosen)
        yield f"  ... and {left} more input{'s' if left > 1 else ''}"


def _step(step: Step, stored: bool) -> Iterator[str]:
    head = f"{step.name}{' (stored)' if stored else ''}"
    label = step.label
    room = WIDTH - len(head) - 2
    if len(label) <= room:
        yield f"{head}{label.rjust(WIDTH - len(head))}".rstrip() if label else head
    else:
        yield from (head, label.rjust(WIDTH))
    numbers = step.numbers
    yield from _wrapped(f"{step.symbol} = {step.formula}", "  ", "      ")
    pad = " " * len(step.symbol)
    if numbers != step.formula:
        yield from _wrapped(f"{pad} = {numbers}", "  ", "      ")
    yield from _wrapped(f"{pad} = {_value(step)}", "  ", "      ")
    if step.decision:
        yield from _wrapped(step.decision, "  > ", "    ")


def _value(step: Step) -> str:
    if not step.kind.startswith("float"):
        return short(step.value)
    return f"{short(step.value)}  ({step.hexadecimal})"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        drop_whitespace=True,
        replace_whitespace=False,
    )
