"""A graph module as text to read: its class, and above each step the user's own line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["readable"]


def readable(module: Any, indent: int = 0) -> str:
    """The class of a graph module as text; graph modules that it holds follow within it."""
    code = module.graph.python_code("self")
    head = next(line for line in code.src.splitlines() if line.startswith("def "))
    lines = [f"class {type(module).__name__}(pyqref.nn.Module):", f"    {head}"]
    last = None
    for node, line in code.lines:
        source = node.meta.get("source")
        if source is not None and source != last and source.text:
            lines.append(f"        # {Path(source.file).name}:{source.line}: {source.text}")
        if source is not None:
            last = source
        lines.append(f"        {line}")
    text = "\n".join(f"{' ' * indent}{line}" for line in lines) + "\n"
    for child in module.children():
        if hasattr(child, "graph") and hasattr(child, "recompile"):
            text += "\n" + readable(child, indent + 4)
    return text
