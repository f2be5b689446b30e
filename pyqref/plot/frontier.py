"""Metric against cost: what each budget of bits buys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .style import given_or_new, ink, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["frontier"]

Place = tuple[float, float]


def frontier(
    points: Sequence[Place],
    *,
    frontier: Sequence[Place] | None = None,
    chosen: Place | None = None,
    budget: float | None = None,
    reference: float | None = None,
    cost: str = "mean width of the weights [bits]",
    quantity: str = "metric (no unit)",
    ax: Axes | None = None,
) -> Axes:
    """Draw measured models over what they cost, and a staircase along the best of them.

    The staircase is what a budget buys: from each cost to the next, the best model is that of the
    step.

    Parameters
    ----------
    points
        Pairs of cost and metric of all models that were measured.
    frontier
        Those that no other beats, by rising cost; None for no staircase.
    chosen
        The model that was chosen; None if none was.
    budget
        The largest cost that was allowed, drawn as a dotted line.
    reference
        The metric of the float model, drawn as a dashed line.
    cost, quantity
        Labels of the axes, with their units.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there is no point.

    Examples
    --------
    >>> ax = frontier([(4.0, 0.9), (5.0, 0.8), (8.0, 0.97)], frontier=[(4.0, 0.9), (8.0, 0.97)])
    >>> ax.get_xlabel()
    'mean width of the weights [bits]'
    """
    if not points:
        raise ValueError("points must have one model at least, got none")
    ax = given_or_new(ax)
    if reference is not None:
        ax.axhline(reference, color="0.5", linestyle="--", linewidth=1.2, label="float32")
    if budget is not None:
        ax.axvline(budget, color=ink(ax), linestyle=":", linewidth=1.4, label="budget")
    if frontier:
        costs, values = zip(*frontier, strict=True)
        ax.step(costs, values, where="post", color=series_colour(0), linewidth=1.6)
        ax.plot(costs, values, "o", color=series_colour(0), markersize=5, label="frontier")
    others = [each for each in points if each not in (frontier or ())]
    if others:
        costs, values = zip(*others, strict=True)
        ax.plot(costs, values, "o", color="0.6", markersize=4, label="beaten", zorder=1.5)
    if chosen is not None:
        marks: dict[str, Any] = {"markersize": 9, "markeredgewidth": 1.8, "markerfacecolor": "none"}
        ax.plot(*chosen, "s", color=series_colour(1), label="chosen", **marks)
    ax.set_xlabel(cost)
    ax.set_ylabel(quantity)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", fontsize="small")
    return ax
