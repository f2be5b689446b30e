"""A histogram of activations with the range that each observer chose below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import series_colour, unit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["observer_range"]

BRACKET_HEIGHT = 0.085
"""Distance of two brackets, in parts of the height of the axes."""

FLOOR = 0.7
"""The count at which the bars begin, since a logarithmic axis has no zero."""


def observer_range(
    ax: Axes, values: Any, ranges: Mapping[str, tuple[float, float]], *, unit: str = ""
) -> Axes:
    """Draw how often each value occurs, and one bracket for each observer.

    Values outside a bracket are clipped by that observer's scale and zero point.

    Parameters
    ----------
    ax
        Where to draw.
    values
        Activations of any shape.
    ranges
        For each observer, the smallest and the largest value that its integers reach.
    unit
        Unit of the values; empty where they are plain numbers.

    Returns
    -------
    Axes
        ``ax``.
    """
    flat = np.asarray(values).ravel()
    counts, edges = np.histogram(flat, bins=80)
    shown = np.maximum(counts, FLOOR)
    ax.set_yscale("log")
    ax.stairs(shown, edges, baseline=FLOOR, fill=True, color="0.6", label="activations")
    below = BRACKET_HEIGHT * (len(ranges) + 0.5)
    bottom, top = (float(np.log10(limit)) for limit in (FLOOR, 2 * counts.max()))
    ax.set_ylim(10 ** (bottom - (top - bottom) * below / (1 - below)), 10**top)
    for index, (name, (low, high)) in enumerate(ranges.items()):
        height = BRACKET_HEIGHT * (len(ranges) - index - 0.4)
        ax.plot(
            [low, high],
            [height, height],
            transform=ax.get_xaxis_transform(),
            color=series_colour(index),
            marker="|",
            markersize=9,
            markeredgewidth=2,
            linewidth=2,
            label=name,
        )
    ax.set_yticks([tick for tick in 10.0 ** np.arange(0, 8) if tick < 10**top])
    ax.set_yticks([], minor=True)
    ax.grid(False)
    ax.set_xlabel(f"activation {unit_label(unit)}")
    ax.set_ylabel("count")
    return ax
