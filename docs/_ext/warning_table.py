"""The directives ``warning-table`` and ``strict-functions``: see :mod:`warning_rows`."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from warning_rows import homes, strict_functions, table


class WarningTable(SphinxDirective):
    """A list table, made when the page is read."""

    def run(self) -> list[nodes.Node]:
        for path in homes():
            self.env.note_dependency(str(path))
        container = nodes.container()
        self.state.nested_parse(StringList(table(), "warning-table"), 0, container)
        return container.children


class StrictFunctions(SphinxDirective):
    """A sentence that names all functions with the argument ``strict``."""

    def run(self) -> list[nodes.Node]:
        text = f"These functions take it: {', '.join(strict_functions())}."
        container = nodes.container()
        self.state.nested_parse(StringList([text], "strict-functions"), 0, container)
        return container.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("warning-table", WarningTable)
    app.add_directive("strict-functions", StrictFunctions)
    return {"parallel_read_safe": True}
