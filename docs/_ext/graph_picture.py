"""Directive ``graph-picture``: draw a graph that the examples of the page above it made.

::

    .. graph-picture:: prepared
       :title: Prepared

The argument is an expression. It is evaluated after the doctest examples that stand above it
on the page, so a picture cannot say anything else than the code beside it. Graphviz draws where
its program ``dot`` is installed, matplotlib otherwise; both on light and on dark paper.
"""

from __future__ import annotations

import base64
import contextlib
import doctest
import html
import io
import shutil
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from pyqref import fx


def _run_examples(text: str) -> dict[str, Any]:
    """The names that the doctest examples of a text define."""
    space: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(example.source, "<the page>", "single"), space)
    return space


def _svg(graph: Any, title: str, theme: str) -> bytes:
    if shutil.which("dot"):
        drawing = fx.draw(graph, title, theme=theme)._repr_svg_()
        assert drawing is not None
        return drawing.encode()
    from matplotlib import pyplot

    from pyqref import plot

    made = io.BytesIO()
    with plot.theme(theme):
        figure = plot.graph(graph, title=title).figure
        figure.savefig(made, format="svg")
    pyplot.close(figure)
    return made.getvalue()


class GraphPicture(SphinxDirective):
    """See the head of this file."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"title": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        title = self.options["title"]
        above = self.state_machine.input_lines[: self.state_machine.line_offset]
        graph = eval(self.arguments[0], _run_examples("\n".join(above)))
        names = ", ".join(node.name for node in graph.graph.nodes)
        alt = html.escape(f"Graph of the model, {title}: {names}", quote=True)
        images = []
        for theme in ("light", "dark"):
            data = base64.b64encode(_svg(graph, title, theme)).decode()
            images.append(
                f'<img class="only-{theme}" alt="{alt}" src="data:image/svg+xml;base64,{data}"/>'
            )
        text = graph.print_readable(print_output=False)
        return [
            nodes.raw("", "\n".join(images), format="html"),
            nodes.raw("", text, format="text"),
        ]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("graph-picture", GraphPicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
