"""Numbers in boxes: the rows of a computation, drawn."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from pyqref.plot.style import ink

__all__ = ["boxes"]


def boxes(
    ax: Axes, rows: Sequence[tuple[str, Sequence[object]]], *, colours: Sequence[str] = ("C0",)
) -> Axes:
    """Draw each row as its name and a row of boxes, from the top downwards.

    The last colour serves all further rows. An empty string leaves its place free.
    """
    widest = max(len(values) for _, values in rows)
    for row, (name, values) in enumerate(rows):
        colour = colours[min(row, len(colours) - 1)]
        y = -1.25 * row
        ax.text(-0.25, y, name, ha="right", va="center")
        for column, value in enumerate(values):
            if value == "":
                continue
            box = Rectangle((column + 0.05, y - 0.4), 0.9, 0.8, facecolor=colour, alpha=0.25)
            ax.add_patch(box)
            ax.text(column + 0.5, y, str(value), ha="center", va="center", color=ink(ax))
    ax.set_xlim(-2.6, widest)
    ax.set_ylim(-1.25 * (len(rows) - 1) - 0.6, 0.6)
    ax.set_axis_off()
    return ax
