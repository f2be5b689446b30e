"""A graph as a picture: Graphviz text always, SVG where Graphviz is installed."""

from __future__ import annotations

import html
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .graph import Graph
from .node import Node

__all__ = ["GraphDrawing", "draw"]

# Fill, border and shape of each opcode. The hues are those of Okabe and Ito, which people
# who do not tell red from green tell apart; the shapes say the same once more.
STYLES = {
    "placeholder": ("#D6EDFA", "#0072B2", "ellipse"),
    "get_attr": ("#FBF7C4", "#8A8200", "note"),
    "call_function": ("#FBE5BD", "#B87A00", "box"),
    "call_method": ("#F3DCE9", "#A0527D", 'box, style="filled,rounded"'),
    "call_module": ("#CDEBE1", "#007A59", "box3d"),
    "output": ("#D6EDFA", "#0072B2", "ellipse"),
}
NAMES = {
    "placeholder": "input or output",
    "get_attr": "attribute",
    "call_function": "function",
    "call_method": "method",
    "call_module": "module",
}
WIDTH = 34

Label = Callable[[Node], "str | None"]
EdgeLabel = Callable[[Node, Node], "str | None"]


class GraphDrawing:
    """A picture of a graph.

    Attributes
    ----------
    dot : str
        The picture as Graphviz text.
    """

    def __init__(self, dot: str) -> None:
        self.dot = dot

    def save(self, path: str | Path) -> Path:
        """Write the picture.

        Parameters
        ----------
        path
            Its suffix says how: ``.dot`` or ``.gv`` for the text; ``.svg``, ``.png`` or
            ``.pdf`` call the program ``dot`` of Graphviz.

        Returns
        -------
        pathlib.Path
            The file that was written.

        Raises
        ------
        RuntimeError
            The program ``dot`` is needed and not installed.
        """
        path = Path(path)
        if path.suffix in (".dot", ".gv"):
            path.write_text(self.dot, encoding="utf-8")
            return path
        kind = path.suffix.removeprefix(".")
        if kind not in ("svg", "png", "pdf"):
            raise ValueError(f"suffix must be .dot, .gv, .svg, .png or .pdf, got {path.suffix!r}")
        path.write_bytes(self._render(kind))
        return path

    def _render(self, kind: str) -> bytes:
        program = shutil.which("dot")
        if program is None:
            raise RuntimeError(
                "the program 'dot' of Graphviz is not installed: save as .dot, or install "
                "it from https://graphviz.org"
            )
        made = subprocess.run(
            [program, f"-T{kind}"], input=self.dot.encode(), capture_output=True, check=True
        )
        return made.stdout

    def _repr_svg_(self) -> str | None:
        """For notebooks."""
        return self._render("svg").decode() if shutil.which("dot") else None

    def __str__(self) -> str:
        return self.dot


def draw(
    graph_module: Any,
    title: str | None = None,
    *,
    node_label: Label | None = None,
    edge_label: EdgeLabel | None = None,
    legend: bool = True,
) -> GraphDrawing:
    r"""Draw the graph of a module, from top to bottom.

    A box for each node: its name, its target, and of a module its settings; colour and
    shape tell the opcode.

    Parameters
    ----------
    graph_module
        A graph module, or a graph.
    title
        A line above the picture; by default the name of the module's class.
    node_label
        More text for a node; by default ``node.meta["label"]``.
    edge_label
        Text at the edge from a node to its user; by default ``node.meta["edge"]``, which
        is a string for all edges that leave the node, or a dict by user's name.
    legend
        Whether to explain the colours that occur.

    Returns
    -------
    GraphDrawing

    Examples
    --------
    >>> import pyqref
    >>> module = pyqref.fx.symbolic_trace(lambda x: pyqref.relu(x))
    >>> for node in module.graph.nodes:
    ...     node.meta["edge"] = "float32"
    >>> print(draw(module, legend=False))  # doctest: +ELLIPSIS
    digraph "graph" {
    ...
      "x" -> "relu" [label="  float32\l"];
      "relu" -> "output" [label="  float32\l"];
    }
    """
    graph: Graph = graph_module if isinstance(graph_module, Graph) else graph_module.graph
    owner = graph.owning_module
    if title is None and owner is not None:
        title = type(owner).__name__
    lines = [
        'digraph "graph" {',
        "  graph [rankdir=TB, nodesep=0.35, ranksep=0.4, fontname=Helvetica];",
        f'  graph [labelloc=t, fontsize=16, label="{_quoted(title or "")}"];',
        "  node [style=filled, fontname=Helvetica, fontsize=11, penwidth=1.4, margin=0.12];",
        '  edge [fontname=Helvetica, fontsize=9, color="#444444", fontcolor="#444444"];',
        "  edge [arrowsize=0.7];",
    ]
    for node in graph.nodes:
        fill, border, shape = STYLES[node.op]
        text = _node_text(node, owner, (node_label or _meta_label)(node))
        lines.append(
            f'  "{node.name}" [label=<{text}>, shape={shape}, fillcolor="{fill}", '
            f'color="{border}"];'
        )
    for node in graph.nodes:
        for used in node.all_input_nodes:
            label = (edge_label or _meta_edge)(used, node)
            attribute = f' [label="{_edge_text(label)}"]' if label else ""
            lines.append(f'  "{used.name}" -> "{node.name}"{attribute};')
    if legend:
        lines.extend(_legend([op for op in NAMES if any(n.op == op for n in graph.nodes)]))
    return GraphDrawing("\n".join([*lines, "}"]))


def _meta_label(node: Node) -> str | None:
    found: str | None = node.meta.get("label")
    return found


def _meta_edge(node: Node, user: Node) -> str | None:
    found = node.meta.get("edge")
    return found.get(user.name) if isinstance(found, dict) else found


def _edge_text(text: str) -> str:
    """Each line set off from the edge, flush left."""
    return "".join(f"  {_quoted(line)}\\l" for line in text.splitlines())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _node_text(node: Node, owner: Any, extra: str | None) -> str:
    """Name in bold, target, settings, each on a line of its own."""
    rows = [f"<b>{html.escape(node.name)}</b>"]
    target = _target(node, owner)
    if node.op not in ("placeholder", "output") and target != node.name:
        rows.append(html.escape(_short(target)))
    small = [*_wrapped(_settings(node, owner)), *_wrapped(_constants(node))]
    small.extend((extra or "").splitlines())
    rows.extend(
        f'<font point-size="9" color="#333333">{html.escape(_short(each))}</font>' for each in small
    )
    return "<br/>".join(rows)


def _wrapped(text: str | None) -> list[str]:
    """Text in two lines at most."""
    lines = textwrap.wrap(text or "", WIDTH)
    return lines if len(lines) <= 2 else [lines[0], _short(" ".join(lines[1:]))]


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _module(node: Node, owner: Any) -> Any:
    if node.op != "call_module" or owner is None:
        return None
    return dict(owner.named_modules(remove_duplicate=False)).get(node.target)


def _target(node: Node, owner: Any) -> str:
    module = _module(node, owner)
    if module is not None:
        kind = type(module).__name__
        return kind if node.target == node.name else f"{node.target}: {kind}"
    if node.op == "call_method":
        return f".{node.target}()"
    name = node.target_name()
    return name.removeprefix("pyqref.").removeprefix("builtins.")


def _settings(node: Node, owner: Any) -> str | None:
    """Of a module its settings, of an attribute its dtype and shape."""
    module = _module(node, owner)
    if module is not None:
        return str(module.extra_repr()) or None
    found = owner
    for step in node.target.split(".") if node.op == "get_attr" else ():
        found = getattr(found, step, None)
    if node.op != "get_attr" or not (hasattr(found, "shape") and hasattr(found, "dtype")):
        return None
    return f"{str(found.dtype).removeprefix('pyqref.')} {tuple(found.shape)}"


def _constants(node: Node) -> str | None:
    """The arguments that are no nodes and not the defaults of nothing."""
    if node.op in ("placeholder", "output", "get_attr"):
        return None
    plain = [str(each) for each in node.args if not _holds_node(each)]
    named = [
        f"{key}={each}"
        for key, each in node.kwargs.items()
        if not _holds_node(each) and each is not None and each is not False
    ]
    return ", ".join([*plain, *named]) or None


def _holds_node(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_holds_node(each) for each in value)
    return isinstance(value, Node)


def _legend(opcodes: list[str]) -> list[str]:
    """A row of small samples at the bottom."""
    cells = "".join(
        f'<td bgcolor="{STYLES[op][0]}" color="{STYLES[op][1]}" border="1"> {NAMES[op]} </td>'
        for op in opcodes
    )
    table = f'<table border="0" cellspacing="6" cellpadding="3"><tr>{cells}</tr></table>'
    return [
        "  subgraph cluster_legend {",
        '    graph [label="", penwidth=0];',
        f'    "legend " [shape=plain, style="", fontsize=9, label=<{table}>];',
        "  }",
        '  "output" -> "legend " [style=invis];',
    ]
