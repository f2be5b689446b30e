"""Accuracy against the width of the integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .style import series_colour, series_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bits_sweep"]


def bits_sweep(
    ax: Axes, accuracies: Mapping[str, Mapping[int, float]], *, reference: float | None = None
) -> Axes:
    """Draw one line a variant.

    Parameters
    ----------
    ax
        Where to draw.
    accuracies
        For each variant, for each number of bits, the accuracy in percent.
    reference
        Accuracy of the float model in percent, drawn as a dashed line.

    Returns
    -------
    Axes
        ``ax``.
    """
    if reference is not None:
        ax.axhline(reference, color="0.5", linestyle="--", linewidth=1.2, label="float32")
    widths = sorted({bits for each in accuracies.values() for bits in each})
    for index, (name, each) in enumerate(accuracies.items()):
        bits = sorted(each)
        ax.plot(
            bits,
            [each[width] for width in bits],
            color=series_colour(index),
            marker=series_marker(index),
            linewidth=1.6,
            label=name,
        )
    ax.set_xticks(widths)
    ax.set_ylim(0, 103)
    ax.set_xlabel("width of weights and activations [bits]")
    ax.set_ylabel("test accuracy [%]")
    ax.legend(loc="lower right", fontsize="small")
    return ax
