"""Colours and type of the figures: readable on paper, on a screen at night, by every eye."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Tensor
from ..measure.noise import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CYCLES", "MARKERS", "settings", "theme"]

CYCLES = {
    "light": ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#7a6a00"],
    "dark": ["#56b4e9", "#ff9e5e", "#2fd0a4", "#e79ccb", "#f0e442"],
}
"""Colours after Okabe and Ito, darkened on white and lightened on black for contrast."""

MARKERS = ["o", "s", "^", "D", "v"]
"""A second sign beside the colour, one a series."""

PAPERS = {"light": ("#ffffff", "#1d2430", "#d9dee6"), "dark": ("#161b22", "#e6e9ee", "#343c48")}


def settings(name: str = "light") -> dict[Any, Any]:
    """Return the matplotlib settings of ``name``, ``"light"`` or ``"dark"``: colours, grid, layout.

    Raises
    ------
    ValueError
        If there is no theme of that name.

    Examples
    --------
    At the head of a script or notebook::

        plt.style.use(plot.settings())

    Light and dark differ in their colours only:

    >>> light, dark = settings("light"), settings("dark")
    >>> sorted(key for key in light if light[key] != dark[key])[:2]
    ['axes.edgecolor', 'axes.facecolor']
    """
    from cycler import cycler

    if name not in CYCLES:
        raise ValueError(f"name must be one of {sorted(CYCLES)}, got {name!r}")
    paper, ink, rule = PAPERS[name]
    return {
        "figure.facecolor": paper,
        "savefig.facecolor": paper,
        "axes.facecolor": paper,
        "axes.edgecolor": rule,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "axes.prop_cycle": cycler(color=CYCLES[name]),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": "medium",
        "axes.titlelocation": "left",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": rule,
        "grid.linewidth": 0.6,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "legend.frameon": False,
        "legend.labelcolor": ink,
        "font.size": 10,
        "figure.constrained_layout.use": True,
    }


@contextmanager
def theme(name: str = "light") -> Iterator[None]:
    """Draw with the colours of ``name``, ``"light"`` or ``"dark"``, inside the ``with`` block.

    Examples
    --------
    >>> import matplotlib
    >>> with theme("dark"):
    ...     matplotlib.rcParams["text.color"] == settings("dark")["text.color"]
    True
    """
    import matplotlib

    with matplotlib.rc_context(settings(name)):
        yield


def given_or_new(ax: Axes | None) -> Axes:
    """``ax``, or the axes of a new figure in constrained layout where it is None."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def named(series: Mapping[str, Any] | Tensor, name: str, argument: str) -> dict[str, Any]:
    """``series`` as it is if it gives a name to each of its parts, else one part ``name``."""
    if not isinstance(series, Mapping):
        return {name: series}
    if not series:
        raise ValueError(f"{argument} must have one variant at least, got none")
    return dict(series)


def flat(values: Tensor, argument: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """All elements of an array or tensor, quantized or not, as a vector of float64."""
    vector = numbers(values).ravel()
    if not vector.size:
        raise ValueError(f"{argument} must not be empty")
    if wrong := int(np.count_nonzero(~np.isfinite(vector))):
        raise ValueError(f"{argument} must be finite, got {wrong} elements that are not")
    return vector


def ink(ax: Axes) -> str:
    """The colour of what is not data: bounds, references."""
    return str(ax.xaxis.label.get_color())


def series_colour(index: int) -> str:
    """Colour of the series ``index`` in the cycle that is set now."""
    return f"C{index}"


def series_marker(index: int) -> str:
    """Marker of the series ``index``."""
    return MARKERS[index % len(MARKERS)]


def unit_label(unit: str) -> str:
    """Return the unit for a label; plain numbers say that they have none."""
    return f"[{unit}]" if unit else "(no unit)"
