"""Directive ``folded``: text below a line that opens it, such as the answer to a question.

::

    .. folded:: Answer

       The integer is 7.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["Folded", "details", "setup", "summary"]


class details(nodes.General, nodes.Element):
    """Text that is folded away."""


class summary(nodes.General, nodes.TextElement):
    """The line that stays visible; it is translated like a paragraph."""


class Folded(SphinxDirective):
    """See the head of this file."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        text, messages = self.parse_inline(self.arguments[0])
        line = summary(self.arguments[0], "", *text)
        self.set_source_info(line)
        outer = details("\n".join(self.content), line, *messages)
        self.set_source_info(outer)
        outer += self.parse_content_to_nodes()
        return [outer]


def opened(tag: str) -> Any:
    """Write the start of an element in HTML."""
    return lambda self, node: self.body.append(self.starttag(node, tag, CLASS="folded"))


def closed(tag: str) -> Any:
    """Write its end."""
    return lambda self, _: self.body.append(f"</{tag}>\n")


def plain(self: Any, node: nodes.Node) -> None:
    """Formats without folding show all of it."""


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    for node, tag in ((details, "details"), (summary, "summary")):
        html = (opened(tag), closed(tag))
        app.add_node(node, html=html, text=(plain, plain), latex=(plain, plain))
    app.add_directive("folded", Folded)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
