"""The products of a weighted sum as a picture: blue adds, orange takes away."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensor.html import Markup, element, faint
from ..draft import Picture

__all__ = ["window_picture"]

#: Most cells along one side.
_MOST = 16
#: Up to so many along each side, the numbers are written into the cells.
_WRITTEN = 5


def window_picture(picture: Picture) -> Markup:
    """A convolution's window, summed over channels, or a linear layer's products in rows."""
    products, outside, words = _cells(picture)
    rows, columns = products.shape
    written = max(rows, columns) <= _WRITTEN
    size = 56 if written else 20
    largest = max(int(np.abs(products).max(initial=0)), 1)
    shapes: list[Markup] = []
    for (row, column), value in np.ndenumerate(products):
        if outside[row, column] < 0:
            continue
        colour = "none" if outside[row, column] else "#3b8de0" if value >= 0 else "#e5853a"
        shapes.append(
            element(
                "rect",
                element("title", f"{[row, column]}: {value}"),
                x=column * size + 1,
                y=row * size + 1,
                width=size - 2,
                height=size - 2,
                rx=2,
                fill=colour,
                fill_opacity=f"{0.12 + 0.78 * abs(int(value)) / largest:.2f}",
                stroke="currentColor",
                stroke_opacity=0.3,
            )
        )
        if written:
            place = {"x": (column + 0.5) * size, "y": (row + 0.5) * size + 4}
            text = "padding" if outside[row, column] else str(value)
            shapes.append(
                element(
                    "text",
                    text,
                    **place,
                    text_anchor="middle",
                    font_size=9 if outside[row, column] else 12,
                    fill="currentColor",
                )
            )
    box = f"0 0 {columns * size} {rows * size}"
    svg = element(
        "svg",
        element("title", words),
        *shapes,
        viewBox=box,
        width=columns * size,
        height=rows * size,
        role="img",
        style="max-width:100%;height:auto",
    )
    return element("div", svg, element("div", faint(words)), style="margin:0.6em 0")


def _cells(picture: Picture) -> tuple[Any, Any, str]:
    """Numbers in rows, where they lie in the padding (-1: no cell), and words."""
    products = picture.inputs * picture.weights
    if products.ndim == 1:
        shown = products[: _MOST * _MOST]
        columns = min(_MOST, max(len(shown), 1))
        rows = -(-len(shown) // columns)
        cells: Any = np.zeros(rows * columns, products.dtype)
        outside = np.full(cells.shape, -1)
        cells[: len(shown)], outside[: len(shown)] = shown, 0
        words = f"the {products.size} products in order: blue adds, orange takes away"
        if len(shown) < products.size:
            words = f"the first {len(shown)} of " + words
        return cells.reshape(rows, columns), outside.reshape(rows, columns), words
    padded = picture.padded.all(axis=0)
    sums, outside = (
        each.reshape(-1, each.shape[-1]) for each in (products.sum(axis=0), padded.astype(int))
    )
    channels = f", summed over {len(products)} channels" if len(products) > 1 else ""
    words = f"products of the window{channels}: blue adds, orange takes away"
    return sums[:_MOST, :_MOST], outside[:_MOST, :_MOST], words
