"""Accuracy against the width of the integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .style import given_or_new, ink, named, series_colour, series_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bits_sweep"]


ACCURACY = "test accuracy [%]"


def bits_sweep(
    values: Mapping[str, Mapping[int, float]],
    *,
    reference: float | None = None,
    bound: Mapping[int, float] | None = None,
    quantity: str = ACCURACY,
    ax: Axes | None = None,
) -> Axes:
    """Draw one line a variant.

    Parameters
    ----------
    values
        For each variant, for each number of bits, what was measured: by default the accuracy
        in percent.
    reference
        The same of the float model, drawn as a dashed line; None if it has none.
    bound
        For each number of bits, what theory says; drawn as a dotted line.
    quantity
        Label of the vertical axis, with its unit.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> ax = bits_sweep({"per tensor": {2: 15.0, 8: 99.0}}, reference=99.1)
    >>> ax.get_ylabel()
    'test accuracy [%]'
    """
    values = named(values, "measured", "values")
    ax = given_or_new(ax)
    if reference is not None:
        ax.axhline(reference, color="0.5", linestyle="--", linewidth=1.2, label="float32")
    widths = sorted({bits for each in values.values() for bits in each})
    for index, (name, each) in enumerate(values.items()):
        bits = sorted(each)
        ax.plot(
            bits,
            [each[width] for width in bits],
            color=series_colour(index),
            marker=series_marker(index),
            linewidth=1.6,
            label=name,
        )
    if bound is not None:
        bits = sorted(bound)
        theory = [bound[width] for width in bits]
        ax.plot(bits, theory, color=ink(ax), linestyle=":", linewidth=1.6, label="theory")
    ax.set_xticks(widths)
    if quantity == ACCURACY:
        ax.set_ylim(0, 103)
    ax.set_xlabel("width of weights and activations [bits]")
    ax.set_ylabel(quantity)
    ax.legend(loc="lower right", fontsize="small")
    return ax
