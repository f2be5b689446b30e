"""A histogram of activations with the range that each observer chose below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.noise import numbers
from .style import flat, given_or_new, series_colour, unit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["observer_range"]

BRACKET_HEIGHT = 0.085
"""Distance of two brackets, in parts of the height of the axes."""

FLOOR = 0.7
"""The count at which the bars begin, since a logarithmic axis has no zero."""


def observer_range(
    values: Any,
    observers: Mapping[str, Any],
    *,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how often each value occurs, and one bracket for each observer.

    Values outside a bracket are clipped by that observer's scale and zero point.

    Parameters
    ----------
    values
        Activations of any shape, an array or a tensor.
    observers
        For each name, an observer with one scale and zero point that has seen data, or the
        smallest and the largest value that its integers reach.
    unit
        Unit of the values; empty where they are plain numbers.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there are no values, one is not finite, or an observer has a scale for each channel.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.linspace(0, 4, 100)
    >>> observer = pyqref.quantization.MinMaxObserver()
    >>> _ = observer(x)
    >>> ax = observer_range(x, {"MinMax": observer, "half": (0.0, 2.0)})
    >>> ax.get_xlabel()
    'activation (no unit)'
    """
    ax = given_or_new(ax)
    ranges = {name: reached(name, each) for name, each in observers.items()}
    counts, edges = np.histogram(flat(values, "values"), bins=80)
    shown = np.maximum(counts, FLOOR)
    ax.set_yscale("log")
    ax.stairs(shown, edges, baseline=FLOOR, fill=True, color="0.6", label="observed")
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


def reached(name: str, observer: Any) -> tuple[float, float]:
    """The real numbers for which an observer's smallest and largest integers stand."""
    if not hasattr(observer, "calculate_qparams"):
        low, high = observer
        return float(low), float(high)
    chosen = [numbers(each).ravel() for each in observer.calculate_qparams()[:2]]
    if chosen[0].size != 1:
        raise ValueError(
            f"observer {name!r} must have one scale, got {chosen[0].size}; "
            "weights_and_scales draws one a channel"
        )
    scale, zero_point = (float(each[0]) for each in chosen)
    ends = (observer.quant_min, observer.quant_max)
    low, high = ((end - zero_point) * scale for end in ends)
    return low, high
