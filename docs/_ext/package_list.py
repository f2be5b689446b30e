"""The packages of the API reference, as a table that says what each is for."""

from __future__ import annotations

import importlib
from fnmatch import filter as matching
from typing import Any

from api_pages import packages
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Packages(SphinxDirective):
    """``.. packages::``: packages, one a line or many by a pattern, and what each is for."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        names = [name for line in self.content for name in matching(packages(), line)]
        lines = [".. toctree::", "   :hidden:", "", *(f"   generated/{name}" for name in names)]
        lines += ["", ".. list-table::", "   :class: autosummary", ""]
        for name in names:
            summary = (importlib.import_module(name).__doc__ or "").partition("\n\n")[0]
            lines += [f"   * - :py:mod:`{name}`", f"     - {' '.join(summary.split())}"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("packages", Packages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
