"""The way from a float model to its quantized one, cause by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._typing import Ledger
from .style import given_or_new, ink, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["waterfall"]

KINDS = (
    ("weight", ("weight clipping", "weight rounding")),
    ("bias", ("bias",)),
    ("activation", ("activation clipping", "activation rounding")),
    ("rest", ("rest",)),
)
"""Causes that share a colour."""


def waterfall(ledger: Ledger, *, layers: int = 12, ax: Axes | None = None) -> Axes:
    """Draw how the error grows from one layer to the next, a colour for each kind of cause.

    Every bar starts where the one above it ends; the last ends at the quantized model. Thin bars go
    back: there the error shrinks.

    Parameters
    ----------
    ledger
        As :func:`pyqref.ledger` gives it.
    layers
        How many layers have a line of their own: those that change most. The others are added up
        where they run, in one line between two of these.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        The ledger has no entry, or ``layers`` is less than one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from types import SimpleNamespace
    >>> from pyqref.explaining import Entry
    >>> entry = Entry("conv", "bias", Fraction(1), 1.0)
    >>> ends = {"before": Fraction(0), "after": Fraction(1)}
    >>> book = SimpleNamespace(entries=[entry], metric="loss", **ends)
    >>> [label.get_text() for label in waterfall(book).get_yticklabels()]
    ['conv']
    """
    if layers < 1:
        raise ValueError(f"layers must be 1 at least, got {layers}")
    rows = _rows(ledger.entries, layers)
    if not rows:
        raise ValueError("ledger must have one entry at least, got none")
    ax = given_or_new(ax)
    position = float(ledger.before)
    named: set[str] = set()
    for line, (_, changes) in enumerate(rows):
        for index, (kind, _causes) in enumerate(KINDS):
            change = changes.get(kind, 0.0)
            if not change:
                continue
            label = None if kind in named else kind
            named.add(kind)
            ax.barh(
                line,
                change,
                left=position,
                height=0.62 if change > 0 else 0.3,
                zorder=2 if change > 0 else 3,
                color=series_colour(index),
                label=label,
            )
            position += change
        if line + 1 < len(rows):
            ax.plot([position] * 2, [line, line + 1], color=ink(ax), linewidth=0.6, alpha=0.5)
    for value, text, dashes in (
        (float(ledger.before), "float model", ":"),
        (float(ledger.after), "quantized model", "--"),
    ):
        ax.axvline(value, color=ink(ax), linewidth=1.0, linestyle=dashes, label=text)
    ax.use_sticky_edges = False
    ax.margins(x=0.05)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.invert_yaxis()
    measured = "noise energy over signal energy" if ledger.metric == "sqnr" else ledger.metric
    ax.set_xlabel(f"{measured} (no unit)")
    ax.set_ylabel("layer, in the order in which it runs")
    ax.legend(loc="best", fontsize="small")
    return ax


def _rows(entries: Any, layers: int) -> list[tuple[str, dict[str, float]]]:
    """Return the name and the change by kind for each line."""
    kinds = {cause: kind for kind, causes in KINDS for cause in causes}
    by_layer: dict[str, dict[str, float]] = {}
    for each in entries:
        changes = by_layer.setdefault(each.layer, {})
        kind = kinds[each.cause]
        changes[kind] = changes.get(kind, 0.0) + float(each.change)
    largest = sorted(by_layer, key=lambda name: -max(map(abs, by_layer[name].values()), default=0))
    shown = set(largest[:layers])
    rows: list[tuple[str, dict[str, float]]] = []
    count = 0
    for name, changes in by_layer.items():
        if name in shown:
            rows.append((name, changes))
            count = 0
            continue
        count += 1
        if count == 1:
            rows.append((name, {}))
        together = rows[-1][1]
        for kind, change in changes.items():
            together[kind] = together.get(kind, 0.0) + change
        rows[-1] = (name if count == 1 else f"{count} layers", together)
    return rows
