"""Colours and type of the figures: readable on paper, on a screen at night, by every eye."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["CYCLES", "MARKERS", "theme"]

CYCLES = {
    "light": ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#7a6a00"],
    "dark": ["#56b4e9", "#ff9e5e", "#2fd0a4", "#e79ccb", "#f0e442"],
}
"""Colours after Okabe and Ito, darkened on white and lightened on black for contrast."""

MARKERS = ["o", "s", "^", "D", "v"]
"""A second sign beside the colour, one a series."""

PAPERS = {"light": ("#ffffff", "#1d2430", "#d9dee6"), "dark": ("#161b22", "#e6e9ee", "#343c48")}


@contextmanager
def theme(name: str = "light") -> Iterator[None]:
    """Draw with the colours of ``name``, ``"light"`` or ``"dark"``, inside the ``with`` block."""
    import matplotlib
    from cycler import cycler

    if name not in CYCLES:
        raise ValueError(f"name must be one of {sorted(CYCLES)}, got {name!r}")
    paper, ink, rule = PAPERS[name]
    settings: dict[Any, Any] = {
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
    with matplotlib.rc_context(settings):
        yield


def series_colour(index: int) -> str:
    """Colour of the series ``index`` in the cycle that is set now."""
    return f"C{index}"


def series_marker(index: int) -> str:
    """Marker of the series ``index``."""
    return MARKERS[index % len(MARKERS)]


def unit_label(unit: str) -> str:
    """How a label gives a unit; plain numbers say that they have none."""
    return f"[{unit}]" if unit else "(no unit)"
