"""The few elements of HTML with which objects show themselves in notebooks.

No colours of their own, so that they are readable on light and on dark pages; no scripts.
Everything that is not an element made here is escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["Markup", "bars", "block", "element", "faint", "number", "span", "table"]

WIDTH, HEIGHT = 320, 70
"""Size of a histogram, in pixels."""

CELL = "padding:0.15em 0.7em;white-space:nowrap;border:1px solid rgba(128,128,128,0.35)"
RIGHT, LEFT = f"{CELL};text-align:right", f"{CELL};text-align:left"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, *children: object, **attributes: object) -> Markup:
    """``<name attributes>children</name>``; children that are no elements are escaped.

    Examples
    --------
    >>> element("b", "a < b", font_size=3)
    '<b font-size="3">a &lt; b</b>'
    """
    written = "".join(
        f' {key.replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items()
    )
    inside = "".join(
        each if isinstance(each, Markup) else html.escape(str(each)) for each in children
    )
    return Markup(f"<{name}{written}>{inside}</{name}>")


def faint(*children: object) -> Markup:
    """Something less important."""
    return element("span", *children, style="opacity:0.65")


def number(value: float) -> str:
    """A real number with four digits."""
    return f"{value:.4g}"


def span(low: float, high: float) -> str:
    """Write the range from ``low`` to ``high``, or the one number that both are."""
    return number(low) if low == high else f"{number(low)} … {number(high)}"


def block(title: str, facts: Iterable[str], *below: Markup) -> str:
    """Return the HTML of an object for notebooks: its kind, facts on one line, then the rest."""
    head = element("div", element("b", title), *[faint(f" · {fact}") for fact in facts])
    return str(element("div", head, *below, style="overflow-x:auto;margin:0.3em 0"))


def table(rows: Iterable[Sequence[Any]], header: Sequence[Any] = (), left: int = 0) -> Markup:
    """Rows of cells; the first ``left`` columns are set flush left."""

    def line(cells: Sequence[Any], kind: str) -> Markup:
        styles = [LEFT if index < left else RIGHT for index in range(len(cells))]
        return element(
            "tr",
            *[element(kind, cell, style=style) for cell, style in zip(cells, styles, strict=True)],
        )

    lines = [line(header, "th")] if header else []
    lines += [line(row, "td") for row in rows]
    style = "border-collapse:collapse;margin:0.4em 0;font-size:0.9em"
    return element("table", element("tbody", *lines), style=style)


def bars(counts: Sequence[float], low: str, high: str, what: str) -> Markup:
    """A small histogram; ``what`` tells a reader who cannot see it."""
    largest = max(counts, default=0) or 1
    width = WIDTH / max(len(counts), 1)
    shapes = [
        element(
            "rect",
            x=f"{index * width:.1f}",
            y=f"{HEIGHT * (1 - count / largest):.1f}",
            width=f"{max(width - 0.4, 0.6):.1f}",
            height=f"{HEIGHT * count / largest:.1f}",
        )
        for index, count in enumerate(counts)
        if count and math.isfinite(count)
    ]
    base = element("rect", x=0, y=HEIGHT, width=WIDTH, height=0.8)
    foot = {"y": HEIGHT + 14, "font_size": 11}
    labels = [
        element("text", low, x=0, **foot),
        element("text", high, x=WIDTH, text_anchor="end", **foot),
    ]
    picture = element(
        "svg",
        element("title", what),
        *shapes,
        base,
        *labels,
        viewBox=f"0 0 {WIDTH} {HEIGHT + 18}",
        width=WIDTH,
        height=HEIGHT + 18,
        role="img",
        fill="currentColor",
        style="opacity:0.8;max-width:100%",
    )
    return element("div", picture, style="margin:0.4em 0")
