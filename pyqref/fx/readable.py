"""A graph module as text to read.

Its class, above each step the user's own line, and behind each step what is known of its
value::

    # model.py:15: x = F.relu(self.conv(x))
    conv = self.conv(x);  x = None  # nn.quantized.Conv2d, weight qint8 | quint8, scale 0.1 ...
"""

from __future__ import annotations

from pathlib import Path

from .._typing import AnyModule
from .node import Node
from .notes import Note, notes_of

__all__ = ["readable"]


def readable(module: AnyModule, indent: int = 0) -> str:
    """The class of a graph module as text; graph modules that it holds follow within it."""
    code = module.graph.python_code("self")
    head = next(line for line in code.src.splitlines() if line.startswith("def "))
    lines = [f"class {type(module).__name__}(pyqref.nn.Module):", f"    {head}"]
    notes = notes_of(module)
    last = None
    for node, line in code.lines:
        source = None if node is None else node.meta.get("source")
        if source is not None and source != last and source.text:
            lines.append(f"        # {Path(source.file).name}:{source.line}: {source.text}")
        if source is not None:
            last = source
        comment = "" if node is None else _comment(node, notes.get(node))
        lines.append(f"        {line}{comment}")
    text = "\n".join(f"{' ' * indent}{line}" for line in lines) + "\n"
    for child in module.children():
        if hasattr(child, "graph") and hasattr(child, "recompile"):
            text += "\n" + readable(child, indent + 4)
    return text


def _comment(node: Node, note: Note | None) -> str:
    """Return a line on a node and its value."""
    if note is None or node.op in ("placeholder", "output") or note.implied:
        return ""
    kind = note.kind.replace("\n", " ") if node.op == "call_module" else ""
    parts = [
        ", ".join(filter(None, [kind, *note.remark.splitlines()])),
        note.value.replace("\n", ", "),
    ]
    text = " | ".join(filter(None, parts))
    return f"  # {text}" if text else ""
