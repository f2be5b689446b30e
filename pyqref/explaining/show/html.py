"""A derivation in a notebook: steps that fold, and a picture of the products.

The colours are those of the page, so that it is readable on light and on dark ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from ..._typing import Derivation
from ...tensor.html import Markup, element, faint, table
from ..draft import Table
from ..steps import Step, short
from .links import label_link
from .side_by_side import side_by_side
from .text import title
from .window import window_picture

__all__ = ["as_html"]

_CELL = "padding:0.25em 0.7em 0.25em 0;text-align:left;vertical-align:top;border:0"
_RULE = f"{_CELL};border-top:1px solid rgba(128,128,128,0.35)"
_CODE = f"{_RULE};font-family:monospace;overflow-wrap:anywhere"
_FOLD = "cursor:pointer"
#: So many rows of a table are shown at its beginning, and at its end.
_MOST_ROWS = 20


def as_html(derivation: Derivation) -> str:
    """Return the HTML that notebooks show."""
    engine = f", engine {derivation.engine}" if derivation.engine else ""
    head = element(
        "summary",
        element("b", title(derivation)),
        " ",
        faint(f"{derivation.operation}{engine}"),
        style=_FOLD,
    )
    parts: list[Markup] = []
    if derivation.picture is not None:
        parts.append(window_picture(derivation.picture))
    parts += _sections(derivation)
    parts += [_numbers(each) for each in derivation.tables]
    parts += [element("p", faint(each)) for each in derivation.notes]
    if derivation.others:
        parts.append(side_by_side(derivation))
    parts.append(_inputs(derivation))
    return element("details", head, *parts, open="", style="color:inherit;max-width:60em")


def _sections(derivation: Any) -> Iterator[Markup]:
    """The steps in one table; where they have sections, each folds, and the last one is open."""
    numbered = list(enumerate(derivation.steps))
    groups = [(name, list(each)) for name, each in groupby(numbered, lambda one: one[1].section)]
    for number, (name, steps) in enumerate(groups):
        rows = [_row(each, place == derivation.result) for place, each in steps]
        if not name:
            yield _steps(rows)
            continue
        last = steps[-1][1]
        head = element("summary", name, " ", faint(f"{last.symbol} = {short(last.value)}"))
        is_open = {"open": ""} if number == len(groups) - 1 else {}
        style = "margin:0.3em 0;padding-left:0.8em;border-left:2px solid rgba(128,128,128,0.35)"
        yield element("details", head, _steps(rows), style=style, **is_open)


def _steps(rows: Sequence[Markup]) -> Markup:
    columns = [element("col", style=f"width:{share}%") for share in (26, 48, 26)]
    style = "border-collapse:collapse;font-size:0.9em;background:transparent;color:inherit"
    body = element("tbody", *rows)
    return element(
        "table",
        element("colgroup", *columns),
        body,
        style=f"{style};table-layout:fixed;width:100%",
    )


def _row(step: Step, stored: bool) -> Markup:
    name = element("b", step.name, " (stored)") if stored else element("span", step.name)
    label = Markup("")
    if step.label:
        style = "font-size:0.85em;overflow-wrap:anywhere"
        label = element("div", label_link(step.label), style=style)
    decision = element("div", element("i", step.decision)) if step.decision else Markup("")
    formula = [element("div", f"{step.symbol} = {step.formula}")]
    if step.numbers != step.formula:
        formula.append(element("div", f"= {step.numbers}"))
    value = [element("div", element("b", short(step.value)))]
    if step.kind.startswith("float"):
        fraction = step.fraction
        value.append(element("div", faint(step.hexadecimal), title=f"exactly {fraction}"))
    return element(
        "tr",
        element("td", name, label, style=_RULE),
        element("td", *formula, decision, style=_CODE),
        element("td", *value, style=_CODE),
    )


def _numbers(shown: Table) -> Markup:
    """A table that belongs to a derivation."""
    head = element("summary", shown.title, style=_FOLD)
    rows = [[short(each) for each in row] for row in shown.rows]
    left = len(rows) - 2 * _MOST_ROWS
    if left > 0:
        between = [f"... {left} more", *[""] * (len(shown.header) - 1)]
        rows = [*rows[:_MOST_ROWS], between, *rows[-_MOST_ROWS:]]
    frame = element("div", table(rows, shown.header), style="overflow-x:auto")
    return element("details", head, frame, style="margin-top:0.6em")


def _inputs(derivation: Any) -> Markup:
    count = len(derivation.inputs)
    lines = [
        element("li", f"{each.symbol} = {short(each.value)}, from {each.layer}{list(each.index)}")
        for each in derivation.largest_inputs(8)
    ]
    if count > len(lines):
        lines.append(element("li", faint(f"and {count - len(lines)} more")))
    words = "1 input" if count == 1 else f"{count} inputs"
    head = element("summary", words, style=_FOLD)
    return element("details", head, element("ul", *lines), style="margin-top:0.6em")
