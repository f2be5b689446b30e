"""A graph as a picture: Graphviz text always, SVG where Graphviz is installed."""

from __future__ import annotations

import html
import shutil
import subprocess
from pathlib import Path

from .._typing import GraphModule
from .picture import Arrow, Box, EdgeLabel, Label, Picture, picture
from .styles import LEGEND, STYLES, Paper, paper

__all__ = ["GraphDrawing", "draw", "graphviz_text"]


class GraphDrawing:
    """A picture of a graph.

    Attributes
    ----------
    dot : str
        The picture as Graphviz text.

    Examples
    --------
    >>> from pyqref import fx, nn
    >>> drawing = fx.draw(fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2))))
    >>> drawing.dot.startswith("digraph")
    True
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
        """Return the picture that notebooks show."""
        return self._render("svg").decode() if shutil.which("dot") else None

    def __str__(self) -> str:
        return self.dot


def draw(
    graph_module: GraphModule,
    title: str | None = None,
    *,
    node_label: Label | None = None,
    edge_label: EdgeLabel | None = None,
    legend: bool = True,
    theme: str = "light",
    implied: bool = False,
) -> GraphDrawing:
    r"""Draw the graph of a module, from top to bottom.

    A box for each node: its name, its target, and of a module its path, type and settings;
    colour and shape tell the opcode. In models of ``prepare_fx`` and ``convert_fx`` they also tell
    observers, nodes that quantize or dequantize, and operations on integers, and each edge has
    the observer, or dtype, scale and zero point of the value.

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
        is a string for all edges that leave the node, or a dict by user's name, or else what
        is known of the value.
    legend
        Whether to explain the colours that occur.
    theme
        ``"light"`` or ``"dark"`` paper.
    implied
        Whether to draw nodes whose value stands on an edge already, such as the attributes
        that hold a scale.

    Returns
    -------
    GraphDrawing

    Raises
    ------
    ValueError
        There is no such theme.

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
    found = picture(graph_module, title, node_label, edge_label, implied)
    return GraphDrawing(graphviz_text(found, paper(theme), legend))


def graphviz_text(shown: Picture, on: Paper, legend: bool = True) -> str:
    """A picture as Graphviz text.

    Parameters
    ----------
    shown
        The picture.
    on
        The paper's colours.
    legend
        As for :func:`draw`.
    """
    lines = [
        'digraph "graph" {',
        f'  graph [rankdir=TB, nodesep=0.35, ranksep=0.4, bgcolor="{on.background}"];',
        f'  graph [labelloc=t, fontname=Helvetica, fontsize=16, fontcolor="{on.ink}"];',
        f'  graph [label="{_quoted(shown.title)}"];',
        '  node [fontname=Helvetica, fontsize=11, fontcolor="#1D2430", margin=0.12];',
        f'  edge [fontname=Helvetica, fontsize=9, color="{on.edge}", fontcolor="{on.ink}"];',
        "  edge [arrowsize=0.7];",
        *(
            f'  "{box.name}" [label=<{_node_text(box)}>, {_look(box.style)}];'
            for box in shown.boxes
        ),
        *(_arrow(each, on) for each in shown.arrows),
    ]
    if legend:
        lines.extend(_legend(shown.legend, shown.boxes[-1].name))
    return "\n".join([*lines, "}"])


def _look(name: str) -> str:
    """Attributes of a node in a style."""
    style = STYLES[name]
    ways = ["filled", *["rounded"] * style.rounded, *["dashed"] * style.dashed]
    bent = (
        ""
        if style.distortion is None
        else f', sides=4, distortion={style.distortion:g}, margin="0,0"'
    )
    return (
        f'shape={style.shape}{bent}, style="{",".join(ways)}", fillcolor="{style.fill}", '
        f'color="{style.border}", penwidth={style.width:g}'
    )


def _arrow(arrow: Arrow, on: Paper) -> str:
    options = []
    if arrow.lines:
        options.append(f'label="{_edge_text(arrow.lines)}"')
    if arrow.integers:
        options.append(f'color="{on.integers}", penwidth=2.2')
    attributes = f" [{', '.join(options)}]" if options else ""
    return f'  "{arrow.source}" -> "{arrow.target}"{attributes};'


def _edge_text(lines: tuple[str, ...]) -> str:
    """Each line set off from the edge, flush left."""
    return "".join(f"  {_quoted(line)}\\l" for line in lines)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _node_text(box: Box) -> str:
    """Name in bold, target, settings, each on a line of its own."""
    small = (
        f'<font point-size="9" color="#333333">{html.escape(each)}</font>' for each in box.small
    )
    return "<br/>".join([f"<b>{html.escape(box.name)}</b>", *map(html.escape, box.lines), *small])


def _legend(styles: tuple[str, ...], last: str) -> list[str]:
    """Rows of small samples at the bottom, three in a row."""
    cells = [
        f'<td bgcolor="{STYLES[each].fill}" color="{STYLES[each].border}" '
        f'border="{max(1, round(STYLES[each].width))}"> {LEGEND[each]} </td>'
        for each in styles
    ]
    rows = "".join(
        f"<tr>{''.join(cells[start : start + 3])}</tr>" for start in range(0, len(cells), 3)
    )
    table = f'<table border="0" cellspacing="6" cellpadding="3">{rows}</table>'
    return [
        "  subgraph cluster_legend {",
        '    graph [label="", penwidth=0];',
        f'    "legend " [shape=plain, style="", fontsize=9, label=<{table}>];',
        "  }",
        f'  "{last}" -> "legend " [style=invis];',
    ]
