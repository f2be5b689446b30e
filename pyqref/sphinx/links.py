"""Links from labels, functions and tests to where a reader finds them.

A label that stands on a page of the same project leads there. Others lead to pyqref's own
documentation, if ``pyqref_docs`` names its address.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.nodes import make_refnode

from .equations import Known, known

__all__ = ["LABEL", "equation_line", "link_labels", "resolve_function"]

LABEL = re.compile(r"eq-[a-z0-9]+(?:-[a-z0-9]+)*")


def address(app: Any, place: str) -> str:
    """Where a place of pyqref's documentation is found; empty if no address is named."""
    root = str(app.config.pyqref_docs).rstrip("/")
    return f"{root}/{place}" if root else ""


def _external(target: str, content: nodes.Node) -> nodes.Node:
    return nodes.reference("", "", content, refuri=target, internal=False) if target else content


def equation_line(app: Any, docname: str, label: str, equation: Known) -> nodes.paragraph:
    """Return the line below an equation: its label, its function, the first of its tests."""
    row = f"theory/equations.html#proof-{label}"
    line = nodes.paragraph(classes=["proof"])
    name = nodes.literal(text=label, classes=["equation-label"])
    line += _external(address(app, row), name)
    line += nodes.Text(" \N{MIDDLE DOT} computed by ")
    function = nodes.literal(text=equation.function)
    link = pending_xref("", function, refdomain="py", reftype="obj", refexplicit=True)
    link["reftarget"], link["refdoc"], link["pyqref"] = equation.function, docname, True
    line += link
    if equation.tests:
        line += nodes.Text(" \N{MIDDLE DOT} proved by ")
        test = nodes.literal(text=equation.tests[0].removeprefix("tests/"))
        line += _external(address(app, row), test)
    return line


def resolve_function(app: Any, env: Any, node: pending_xref, content: nodes.Node) -> Any:
    """Lead a function that the project itself does not document to pyqref's reference."""
    if not node.get("pyqref"):
        return None
    module, _, name = node["reftarget"].rpartition(".")
    if not module.startswith("pyqref.numerics."):
        return content
    return _external(address(app, f"api/generated/{module}.html#{module}.{name}"), content)


def link_labels(app: Any, doctree: nodes.document, docname: str) -> None:
    """Let each label in running text lead to its equation."""
    here = app.env.domaindata["math"]["objects"]
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if not LABEL.fullmatch(text) or "equation-label" in literal["classes"]:
            continue
        if isinstance(literal.parent, nodes.reference):
            continue
        if text in here:
            page, anchor = here[text][0], f"equation-{text}"
            link = make_refnode(app.builder, docname, page, anchor, literal.deepcopy())
            literal.replace_self(link)
        elif text in known():
            target = address(app, f"theory/equations.html#proof-{text}")
            literal.replace_self(_external(target, literal.deepcopy()))
