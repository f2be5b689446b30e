"""A derivation in a notebook: a table that folds, and a picture of the window.

The colours are those of the page, so that it is readable on light and on dark ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensor.html import Markup, element, faint
from ..draft import Picture
from ..steps import Step, short
from .text import title

__all__ = ["as_html"]

_CELL = "padding:0.2em 0.7em;text-align:left;vertical-align:top;border:0"
_RULE = f"{_CELL};border-top:1px solid rgba(128,128,128,0.35)"
#: Most cells of a picture, along one side.
_MOST = 16
_SIZE = 22


def as_html(derivation: Any) -> str:
    """What notebooks show."""
    head = element(
        "summary",
        element("b", title(derivation)),
        " ",
        faint(f"{derivation.operation}, engine {derivation.engine}"),
        style="cursor:pointer",
    )
    rows = [_row(each, n == derivation.result) for n, each in enumerate(derivation.steps)]
    style = "border-collapse:collapse;font-size:0.9em;background:transparent;color:inherit"
    parts = [element("table", *rows, style=style)]
    if derivation.picture is not None:
        parts.insert(0, _picture(derivation.picture))
    parts += [element("p", faint(each)) for each in derivation.notes]
    parts.append(_inputs(derivation))
    return element("details", head, *parts, open="", style="color:inherit")


def _row(step: Step, stored: bool) -> Markup:
    name = element("b", step.name, " (stored)") if stored else element("span", step.name)
    label = element("div", faint(step.label)) if step.label else Markup("")
    decision = element("div", element("i", step.decision)) if step.decision else Markup("")
    formula = [element("div", f"{step.symbol} = {step.formula}")]
    if step.numbers != step.formula:
        formula.append(element("div", f"= {step.numbers}"))
    value = [element("div", element("b", short(step.value)))]
    if step.kind.startswith("float"):
        fraction = step.fraction
        value.append(element("div", faint(step.hexadecimal), title=f"exactly {fraction}"))
    code = f"{_RULE};font-family:monospace"
    return element(
        "tr",
        element("td", name, label, style=_RULE),
        element("td", *formula, decision, style=code),
        element("td", *value, style=code),
    )


def _inputs(derivation: Any) -> Markup:
    count = len(derivation.inputs)
    lines = [
        element("li", f"{each.symbol} = {short(each.value)}, from {each.layer}{list(each.index)}")
        for each in derivation.largest_inputs(8)
    ]
    if count > len(lines):
        lines.append(element("li", faint(f"and {count - len(lines)} more")))
    head = element("summary", f"{count} inputs", style="cursor:pointer")
    return element("details", head, element("ul", *lines))


def _picture(picture: Picture) -> Markup:
    """Products of the window, summed over channels; blue adds, orange takes away."""
    products = (picture.inputs * picture.weights).sum(axis=0)
    padded = picture.padded.all(axis=0)
    grid = products.reshape(-1, products.shape[-1]) if products.ndim else products.reshape(1, 1)
    outside = padded.reshape(grid.shape)
    grid, outside = grid[:_MOST, :_MOST], outside[:_MOST, :_MOST]
    largest = max(int(np.abs(grid).max(initial=0)), 1)
    cells = []
    for (row, column), value in np.ndenumerate(grid):
        share = abs(int(value)) / largest
        colour = "none" if outside[row, column] else "#2f7ed8" if value >= 0 else "#e07b28"
        cells.append(
            element(
                "rect",
                element("title", f"{[row, column]}: {value}"),
                x=column * _SIZE + 1,
                y=row * _SIZE + 1,
                width=_SIZE - 2,
                height=_SIZE - 2,
                fill=colour,
                fill_opacity=f"{0.1 + 0.9 * share:.2f}",
                stroke="rgba(128,128,128,0.6)",
            )
        )
    height, width = grid.shape[0] * _SIZE, grid.shape[1] * _SIZE
    svg = element("svg", *cells, width=width, height=height, role="img")
    words = "products of the window, summed over channels: blue adds, orange takes away"
    return element("div", svg, element("div", faint(words)), style="margin:0.5em 0")
