"""Contents as a page with a histogram of every tensor."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pyqref.demo.page import page
from pyqref.tensor.html import Markup, bars, element

from .contents import Contents, Row
from .text import bytes_text, grid_text, states_text, tensor_table

__all__ = ["as_page"]

_PICTURES = 200
_STYLE = """
.cards { display: grid; gap: 1rem; grid-template-columns:repeat(auto-fill, minmax(17rem, 1fr)); }
.card { background: var(--wash); border-radius: 0.6rem; padding: 0.9rem 1rem; min-width: 0;
  font-family: system-ui, "Segoe UI", Roboto, sans-serif; font-size: 0.85rem; line-height: 1.4; }
.card h3 { font-size: 0.95rem; margin: 0 0 0.2rem; overflow-wrap: anywhere; }
.card p { margin: 0; color: var(--soft); }
.card svg { width: 100%; height: auto; color: var(--accent); }
.card text { fill: var(--soft); }
td, tbody th { overflow-wrap: anywhere; }
.values td { text-align: left; white-space: normal; }
.problem { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem;
  background: var(--wash); padding: 0.8rem 1rem; border-radius: 0.6rem; }
"""


def as_page(path: str, container: str, found: Contents, problems: str | None, model: str) -> str:
    """An HTML document without scripts, readable on a phone and at night.

    Parameters
    ----------
    path, container
        The file, and who wrote it.
    found
        What it holds.
    problems
        What ``load_state_dict`` said: nothing if all fits, None if no model was named.
    model
        The model that was named.
    """
    name = os.path.basename(path)
    states = "; ".join(states_text(found))
    lead = f"{states[:1].upper()}{states[1:]}. Written by {container}."
    body = [
        element("style", Markup(_STYLE)),
        element(
            "header",
            element("p", "pyqref inspect", **{"class": "kicker"}),
            element("h1", name),
            element("p", lead, **{"class": "lead"}),
            _tiles(found),
        ),
    ]
    main = [element("p", f"Note: {each}.") for each in found.notes]
    if problems is not None:
        main.append(element("h2", "Does it fit?"))
        if problems:
            main += [
                element("p", f"Not {model}:"),
                element("pre", problems, **{"class": "problem"}),
            ]
        else:
            main.append(element("p", f"Yes: {model} takes every key."))
    if found.rows:
        main += [element("h2", "Tensors"), _tensors(found)]
        drawn = [row for row in found.rows if row.counts]
        if drawn:
            cards = [_card(row) for row in drawn[:_PICTURES]]
            main += [
                element("h2", "How their numbers are distributed"),
                element("div", *cards, **{"class": "cards"}),
            ]
        if len(drawn) > _PICTURES:
            main.append(element("p", f"And {len(drawn) - _PICTURES} tensors more."))
    if found.module_types:
        rows = [(where or "(the model)", kind) for where, kind in found.module_types.items()]
        main += [element("h2", "Modules"), _plain(("path", "type"), rows)]
    if found.others:
        main += [element("h2", "Other values"), _plain(("path", "type", "value"), found.others)]
    body.append(element("main", *main))
    return page(f"{name}: what is in it", "".join(body), "pyqref inspect")


def _tiles(found: Contents) -> Markup:
    tiles = [
        (f"{len(found.rows)}", "tensors"),
        (f"{found.elements:,}", "elements"),
        (bytes_text(found.size), "now"),
    ]
    if found.int8_size < found.size:
        tiles.append((bytes_text(found.int8_size), "with float weights as int8, a scale a row"))
    items = [element("li", element("b", value), element("span", what)) for value, what in tiles]
    return element("ul", *items, **{"class": "tiles"})


def _tensors(found: Contents) -> Markup:
    head, *rows = tensor_table(found)
    return _plain(head, rows, "")


def _plain(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], kind: str = "values") -> Markup:
    header = element("thead", element("tr", *[element("th", each) for each in head]))
    lines = [
        element("tr", element("th", row[0]), *[element("td", cell) for cell in row[1:]])
        for row in rows
    ]
    table = element("table", header, element("tbody", *lines), **{"class": kind})
    return element("div", table, **{"class": "scroll"})


def _card(row: Row) -> Markup:
    what = f"Histogram of {row.name}, from {row.low:.4g} to {row.high:.4g}"
    facts = [row.dtype, " × ".join(map(str, row.shape)) or "one number"]
    if row.scales:
        facts.append(f"scale {grid_text(row)[0]}")
    picture = bars(row.counts, f"{row.low:.4g}", f"{row.high:.4g}", what)
    return element(
        "div",
        element("h3", row.name),
        element("p", " · ".join(facts)),
        picture,
        **{"class": "card"},
    )
