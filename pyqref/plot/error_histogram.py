"""How quantization errors are distributed, one outline for each variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import series_colour, unit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["error_histogram"]


def error_histogram(ax: Axes, errors: Mapping[str, Any], *, unit: str = "", bins: int = 45) -> Axes:
    """Draw the density of ``quantized - float`` for each variant.

    Parameters
    ----------
    ax
        Where to draw.
    errors
        For each variant, its errors, of any shape.
    unit
        Unit of the errors.
    bins
        Number of bins, the same for all; the outermost 0.1 % of the errors lie outside.

    Returns
    -------
    Axes
        ``ax``.
    """
    flat = {name: np.asarray(each, dtype=np.float64).ravel() for name, each in errors.items()}
    together = np.concatenate(list(flat.values()))
    limit = float(np.quantile(np.abs(together), 0.999)) or 1.0
    edges = np.linspace(-limit, limit, bins + 1)
    for index, (name, each) in enumerate(flat.items()):
        spread = float(np.sqrt(np.mean(each**2)))
        inside = each[np.abs(each) <= limit]
        density = np.histogram(inside, bins=edges)[0] / (each.size * np.diff(edges))
        colour = series_colour(index)
        ax.stairs(density, edges, fill=True, alpha=0.18, color=colour)
        ax.stairs(density, edges, linewidth=1.8, color=colour, label=f"{name} (rms {spread:.3g})")
    ax.axvline(0, color=ax.spines["bottom"].get_edgecolor(), linewidth=0.8)
    ax.set_ylim(0, ax.get_ylim()[1] * (1.05 + 0.09 * len(flat)))
    ax.set_xlabel(f"quantized minus float {unit_label(unit)}")
    ax.set_ylabel(f"density {unit_label(f'1/{unit}' if unit else '')}")
    ax.legend(loc="upper left", fontsize="small")
    return ax
