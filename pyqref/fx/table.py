"""A graph as a table of plain text."""

from __future__ import annotations

from collections.abc import Iterable

from .node import Node

__all__ = ["tabular"]

HEADINGS = ("opcode", "name", "target", "args", "kwargs")


def tabular(nodes: Iterable[Node]) -> str:
    """One row a node: opcode, name, target, args, kwargs; the widths are torch's."""
    rows = [
        (node.op, node.name, str(node.target), str(node.args), str(dict(node.kwargs)))
        for node in nodes
    ]
    widths = [
        max(len(heading) + 2, *map(len, column))
        for heading, *column in zip(HEADINGS, *rows, strict=True)
    ]
    rules = tuple("-" * width for width in widths)
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (HEADINGS, rules, *rows)
    )
