"""The steps of several arithmetics in the columns of one table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._typing import Derivation
from ...tensor.html import Markup, element
from ..steps import short
from .links import label_link

__all__ = ["merged", "side_by_side"]

_CELL = "padding:0.2em 0.6em;text-align:left;vertical-align:top;border:0"
_RULE = f"{_CELL};border-top:1px solid rgba(128,128,128,0.35)"
_HEAD = f"{_CELL};font-weight:bold"


def merged(rows: Iterable[Iterable[str]]) -> list[str]:
    """Names of all rows, each once, in an order that every row keeps where it can.

    Examples
    --------
    >>> merged([["a", "c"], ["a", "b", "c"], ["d", "c"]])
    ['a', 'b', 'd', 'c']
    """
    order: list[str] = []
    for names in rows:
        place = 0
        for name in names:
            if name in order:
                place = max(place, order.index(name) + 1)
            else:
                before = [order.index(each) for each in names if each in order[place:]]
                place = min(before, default=len(order))
                order.insert(place, name)
                place += 1
    return order


def side_by_side(derivation: Derivation) -> Markup:
    """A column for each arithmetic; what differs from the first one stands in bold."""
    others = derivation.others
    names = merged([step.name for step in steps] for steps in others.values())
    first = next(iter(others.values()))
    head = [element("th", style=_HEAD)]
    for name, steps in others.items():
        value, stored = steps[-1].value, derivation.stored
        differs = "" if value == stored else f" ≠ {short(stored)}"
        head.append(element("th", f"{name}: {short(value)}{differs}", style=_HEAD))
    lines = [element("tr", *head)]
    for name in names:
        known = next((step for step in first if step.name == name), None)
        cells = [_cell(steps, name, known) for steps in others.values()]
        lines.append(element("tr", element("td", name, style=_RULE), *cells))
    style = "border-collapse:collapse;font-size:0.9em;background:transparent;color:inherit"
    table = element("table", *lines, style=style)
    summary = element("summary", f"{len(others)} arithmetics side by side", style="cursor:pointer")
    frame = element("div", table, style="overflow-x:auto")
    return element("details", summary, frame, open="", style="margin-top:0.6em")


def _cell(steps: Iterable[Any], name: str, known: Any) -> Markup:
    step = next((each for each in steps if each.name == name), None)
    if step is None:
        return element("td", style=_RULE)
    differs = known is None or step.value != known.value
    value: Any = short(step.value)
    parts = [element("div", element("b", value) if differs else value, title=step.formula)]
    if step.decision:
        parts.append(element("div", element("i", step.decision)))
    if known is None or step is known or step.label != known.label:
        parts.append(element("div", label_link(step.label), style="font-size:0.85em"))
    code = f"{_RULE};font-family:monospace"
    return element("td", *parts, style=code)
