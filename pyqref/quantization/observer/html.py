"""An observer in a notebook: the range that it saw, the grid that it would choose."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pyqref._typing import AnyModule
from pyqref.tensor.html import Markup, bars, block, element, faint, number, span, table

__all__ = ["observer_html"]

BARS = 64
"""Bars of the histogram, at most; the observer's own bins are added up to so many."""

CHANNELS = 16
"""Channels up to which every one is shown."""


def observer_html(observer: AnyModule) -> str:
    """Return an observer as HTML: its kind, its range and the parameters that it would choose."""
    facts = [f"{observer.dtype!r}"]
    if hasattr(observer, "qscheme"):
        facts.append(getattr(observer.qscheme, "_name", str(observer.qscheme)))
    if getattr(observer, "quant_min", None) is not None:
        facts.append(f"integers {observer.quant_min} … {observer.quant_max}")
    below = []
    seen = observed_range(observer)
    if seen is not None:
        below += [chosen_table(observer, *seen), *histogram(observer, *seen)]
    elif hasattr(observer, "scale"):
        rows = [["scale", *cells(observer.scale)], ["zero point", *cells(observer.zero_point)]]
        below.append(table(rows, left=1))
    elif hasattr(observer, "min_val"):
        below.append(element("div", faint("has seen no data")))
    elif extra := observer.extra_repr():
        below.append(element("div", faint(extra)))
    return block(type(observer).__name__, facts, *below)


def observed_range(observer: AnyModule) -> tuple[Any, Any] | None:
    """Smallest and largest number seen, one or one a channel; None if there is none."""
    ends = [getattr(observer, name, None) for name in ("min_val", "max_val")]
    if any(end is None for end in ends):
        return None
    low, high = (np.asarray(end, dtype=np.float64).ravel() for end in ends)
    return (low, high) if low.size and np.all(low <= high) else None


def parameters(observer: AnyModule) -> tuple[Any, Any] | None:
    """Scales and zero points that it would choose now; None if it cannot tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            chosen = observer.calculate_qparams()
        except (NotImplementedError, RuntimeError, ValueError):
            return None
    scale, zero_point = (np.asarray(each, dtype=np.float64).ravel() for each in chosen[:2])
    return scale, zero_point


def chosen_table(observer: AnyModule, low: Any, high: object) -> Markup:
    """Range, scale and zero point: of each channel, or the extremes of many."""
    rows = [["smallest seen", low], ["largest seen", high]]
    chosen = parameters(observer)
    if chosen is not None:
        rows += [["scale", chosen[0]], ["zero point", chosen[1]]]
    header = ["channel", *range(low.size)] if 1 < low.size <= CHANNELS else []
    return table([[name, *cells(each)] for name, each in rows], header, left=1)


def cells(numbers: object) -> list[str]:
    """Each number, or from where to where many reach."""
    flat = np.asarray(numbers, dtype=np.float64).ravel()
    if flat.size <= CHANNELS:
        return [number(each) for each in flat.tolist()]
    return [span(flat.min(), flat.max())]


def histogram(observer: AnyModule, low: Any, high: Any) -> list[Markup]:
    """Return the histogram of an observer that counts."""
    counted = getattr(observer, "histogram", None)
    if counted is None:
        return []
    counts = np.asarray(counted, dtype=np.float64).ravel()
    if not counts.any():
        return []
    group = -(-counts.size // BARS)
    padded = np.pad(counts, (0, -counts.size % group))
    grouped = padded.reshape(-1, group).sum(axis=1)
    ends = number(low.min()), number(high.max())
    what = f"histogram of the numbers seen, {ends[0]} to {ends[1]}"
    return [bars(grouped.tolist(), *ends, what)]
