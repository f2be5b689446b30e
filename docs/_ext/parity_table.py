"""The directive ``parity-table``: each name of torch's quantization system, and how near it is.

The rows come from ``tests/parity/measured.json``, which ``tests/parity/table.py`` writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["MEASURED", "ParityTable", "row", "setup"]

MEASURED = Path(__file__).parents[2] / "tests" / "parity" / "measured.json"

COLUMNS = ("name", "origin", "exists", "proved by", "elements", "largest difference")


def row(each: dict[str, Any]) -> list[str]:
    """The six cells of a name."""
    more = f" and {each['cases'] - 1} more" if each["cases"] > 1 else ""
    compared = each["elements"] is not None
    return [
        f"``{each['name']}``",
        each["origin"],
        "yes" if each["exists"] else "missing",
        f"``{each['proof']}``{more}" if each["proof"] else "none",
        f"{each['elements']:,}" if compared else "\N{EN DASH}",
        f"{each['largest']:.2g}" if compared else "\N{EN DASH}",
    ]


class ParityTable(SphinxDirective):
    """See the head of this file."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(MEASURED))
        measured = json.loads(MEASURED.read_text(encoding="utf-8"))
        lines = [f"Compared with {measured['against']}.", "", ".. list-table::"]
        lines += ["   :header-rows: 1", "   :class: parity", "   :widths: 34 9 8 29 9 11", ""]
        for first, *others in [list(COLUMNS), *map(row, measured["rows"])]:
            lines += [f"   * - {first}", *(f"     - {cell}" for cell in others)]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("parity-table", ParityTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
