"""The graph of a model, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyqref._typing import GraphModule
from pyqref.fx.graph import Graph
from pyqref.fx.picture import Arrow, Box, Picture, picture
from pyqref.fx.styles import LEGEND, STYLES, Paper, Style, paper

from .graph_layout import Layout, Place, Point, layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["graph"]

NAME, LINE, SMALL = 11.0, 11.0, 9.0
"""Sizes of type, in points of the layout."""

SPACING = 1.2
"""Distance of lines, in parts of their size."""

MARGIN = (10.0, 6.0)

BOXES = "boxes"
"""Group of the boxes and of what is written on them: the same on any paper."""


def graph(
    graph_module: GraphModule,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool = True,
    implied: bool = False,
) -> Axes:
    """Draw the graph of a module: what :func:`pyqref.fx.draw` draws, on Axes.

    The boxes stand where Graphviz puts them, where its program ``dot`` is installed, and in
    plain layers otherwise. All of it, text included, grows and shrinks with the axes.

    Parameters
    ----------
    graph_module
        A graph module, or a graph.
    ax
        Where to draw. None for a new figure, as large as the graph.
    title
        A line above; by default the name of the module's class.
    legend
        Whether to explain the colours that occur, below the axes.
    implied
        Whether to draw nodes whose value stands on an edge already.

    Returns
    -------
    Axes
        ``ax``, or the new ones.

    Raises
    ------
    TypeError
        ``graph_module`` has no graph.

    Examples
    --------
    >>> import pyqref
    >>> from matplotlib.figure import Figure
    >>> module = pyqref.fx.symbolic_trace(lambda x: pyqref.relu(x) + 1)
    >>> ax = graph(module, Figure(layout="constrained").subplots())
    >>> len(ax.patches) > 3
    True
    """
    if not isinstance(graph_module, Graph) and not isinstance(
        getattr(graph_module, "graph", None), Graph
    ):
        raise TypeError(
            f"graph takes a GraphModule or a Graph, got {type(graph_module).__name__}; "
            "pyqref.fx.symbolic_trace(model) makes one"
        )
    shown = picture(graph_module, title, implied=implied)
    sizes = {box.name: _box_size(box) for box in shown.boxes}
    where = layout(shown, sizes, [_size(_edge_lines(each)) for each in shown.arrows])
    if ax is None:
        ax = _new_axes(where, len(shown.legend) if legend else 0)
    on = paper("dark" if _is_dark(ax) else "light")
    for arrow, curve, at in zip(shown.arrows, where.curves, where.labels, strict=True):
        _draw_arrow(ax, arrow, curve, at, on)
    for box in shown.boxes:
        _draw_box(ax, box, where.places[box.name])
    ax.set_xlim(-6, where.size[0] + 6)
    ax.set_ylim(-6, where.size[1] + 6)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(shown.title)
    if legend:
        _draw_legend(ax, shown)
    return ax


def _new_axes(where: Layout, explained: int) -> Axes:
    """Axes as large as the graph, with room for its title and legend."""
    from matplotlib import pyplot

    width, height = where.size
    size = (max(4.2, (width + 24) / 72), (height + 60 + 16 * ((explained + 1) // 2)) / 72)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _is_dark(ax: Axes) -> bool:
    from matplotlib.colors import to_rgb

    return sum(to_rgb(ax.get_facecolor())) < 1.5


Line = tuple[str, float, bool]
"""Text, its size, and whether it is bold."""


def _lines(box: Box) -> list[Line]:
    return [
        (box.name, NAME, True),
        *((each, LINE, False) for each in box.lines),
        *((each, SMALL, False) for each in box.small),
    ]


def _edge_lines(arrow: Arrow) -> list[Line]:
    return [(each, SMALL, False) for each in arrow.lines]


def _path(line: Line) -> Any:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    text, size, bold = line
    font = FontProperties(family="sans-serif", weight="bold" if bold else "normal")
    # A dollar sign would begin a formula.
    return TextPath((0, 0), text.replace("$", r"\$"), size=size, prop=font)


def _size(lines: list[Line]) -> Point:
    width = max((_path(each).get_extents().width for each in lines if each[0].strip()), default=0.0)
    return float(width), sum(SPACING * size for _, size, _ in lines)


def _box_size(box: Box) -> Point:
    width, height = _size(_lines(box))
    # The slanted sides and the ends of an ellipse take room.
    factor = 1.4 if STYLES[box.style].shape in ("ellipse", "polygon") else 1.0
    return factor * width + 2 * MARGIN[0], height + 2 * MARGIN[1]


def _write(
    ax: Axes,
    lines: list[Line],
    at: Point,
    colour: str,
    within: float = float("inf"),
    on_box: bool = False,
) -> None:
    """Lines around a point, none wider than ``within``; those on a box are centred."""
    from matplotlib.patches import PathPatch
    from matplotlib.transforms import Affine2D

    width, height = _size(lines)
    shrink = min(1.0, within / width) if width else 1.0
    y = at[1] + shrink * height / 2
    for line in lines:
        y -= shrink * line[1] * SPACING
        path = _path(line)
        wide = shrink * path.get_extents().width
        x = at[0] - (wide if on_box else shrink * width) / 2
        move = Affine2D().scale(shrink).translate(x, y + 0.25 * shrink * line[1])
        letters = PathPatch(path.transformed(move), facecolor=colour, linewidth=0, zorder=4)
        letters.set_gid(BOXES if on_box else None)
        ax.add_patch(letters)


def _draw_box(ax: Axes, box: Box, place: Place) -> None:
    style = STYLES[box.style]
    shape = _shape(style, place)
    shape.set(
        facecolor=style.fill,
        edgecolor=style.border,
        linewidth=style.width,
        linestyle="--" if style.dashed else "-",
        zorder=3,
        gid=BOXES,
    )
    ax.add_patch(shape)
    _write(ax, _lines(box), (place.x, place.y), "#1D2430", 0.94 * place.width, on_box=True)


def _shape(style: Style, place: Place) -> Any:
    from matplotlib.patches import Ellipse, FancyBboxPatch, Polygon, Rectangle

    left, bottom = place.x - place.width / 2, place.y - place.height / 2
    right, top = left + place.width, bottom + place.height
    if style.shape == "ellipse":
        return Ellipse((place.x, place.y), place.width, place.height)
    if style.distortion is not None:
        slant = 0.09 * place.width
        low, high = (slant, 0.0) if style.distortion > 0 else (0.0, slant)
        corners = [(left + high, top), (right - high, top), (right - low, bottom)]
        return Polygon([*corners, (left + low, bottom)])
    if style.rounded:
        r = 7.0
        size = (place.width - 2 * r, place.height - 2 * r)
        return FancyBboxPatch((left + r, bottom + r), *size, boxstyle=f"round,pad={r}")
    return Rectangle((left, bottom), place.width, place.height)


def _draw_arrow(
    ax: Axes, arrow: Arrow, curve: tuple[Point, ...], at: Point | None, on: Paper
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, *[Path.CURVE4] * (len(curve) - 1)]
    ax.add_patch(
        FancyArrowPatch(
            path=Path(curve, codes),
            arrowstyle="-|>",
            mutation_scale=9,
            linewidth=1.8 if arrow.integers else 0.9,
            color=on.integers if arrow.integers else on.edge,
            zorder=2,
        )
    )
    if at is not None:
        _write(ax, _edge_lines(arrow), at, on.ink)


def _draw_legend(ax: Axes, shown: Picture) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(
            facecolor=STYLES[each].fill,
            edgecolor=STYLES[each].border,
            linewidth=STYLES[each].width,
            linestyle="--" if STYLES[each].dashed else "-",
            label=LEGEND[each],
        )
        for each in shown.legend
    ]
    legend = ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        fontsize="small",
        frameon=False,
    )
    for each in legend.legend_handles:
        if each is not None:
            each.set_gid(BOXES)
