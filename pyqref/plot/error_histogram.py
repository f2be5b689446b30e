"""Distribution of quantization errors, with one outline for each variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import flat, given_or_new, ink, named, series_colour, unit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["error_histogram"]


def error_histogram(
    errors: Mapping[str, Any] | Any,
    *,
    bound: float | None = None,
    unit: str = "",
    bins: int = 45,
    ax: Axes | None = None,
) -> Axes:
    """Draw the density of ``quantized - float`` for each variant.

    Where the error is only that of rounding, it is spread evenly between plus and minus half
    a step: give ``bound=scale / 2``, and that density is drawn as a dashed box.

    Parameters
    ----------
    errors
        For each variant, its errors, arrays or tensors of any shape; or those of one alone.
    bound
        Largest error that rounding allows, above 0; None where there is no such bound.
    unit
        Unit of the errors.
    bins
        Number of bins, the same for all; the outermost 0.1 % of the errors lie outside.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there are no errors, one of them is not finite, or the bound is not positive.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.linspace(-1, 1, 1000)
    >>> q = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.qint8)
    >>> error_histogram(q.dequantize() - x, bound=0.05).get_xlabel()
    'quantized minus float (no unit)'
    """
    ax = given_or_new(ax)
    variants = named(errors, "error", "errors")
    series = {name: flat(each, f"errors of {name!r}") for name, each in variants.items()}
    if bound is not None and not bound > 0:
        raise ValueError(f"bound must be above 0 or None, got {bound}")
    together = np.concatenate(list(series.values()))
    # The bound, if there is one, falls on an edge between two bins.
    outside = (bound or 0.0) * bins / max(bins - 2, 1)
    limit = max(float(np.quantile(np.abs(together), 0.999)), outside) or 1.0
    edges = np.linspace(-limit, limit, bins + 1)
    for index, (name, each) in enumerate(series.items()):
        spread = float(np.sqrt(np.mean(each**2)))
        inside = each[np.abs(each) <= limit]
        density = np.histogram(inside, bins=edges)[0] / (each.size * np.diff(edges))
        colour = series_colour(index)
        ax.stairs(density, edges, fill=True, alpha=0.18, color=colour)
        ax.stairs(density, edges, linewidth=1.8, color=colour, label=f"{name} (rms {spread:.3g})")
    if bound is not None:
        box: dict[str, Any] = {"color": ink(ax), "linestyle": "--", "linewidth": 1.3}
        ax.stairs([1 / (2 * bound)], [-bound, bound], baseline=0, label=f"± {bound:.3g}", **box)
    ax.axvline(0, color=ax.spines["bottom"].get_edgecolor(), linewidth=0.8)
    rows = len(series) + (bound is not None)
    ax.set_ylim(0, ax.get_ylim()[1] * (1.05 + 0.09 * rows))
    ax.set_xlabel(f"quantized minus float {unit_label(unit)}")
    ax.set_ylabel(f"density {unit_label(f'1/{unit}' if unit else '')}")
    ax.legend(loc="upper left", fontsize="small")
    return ax
