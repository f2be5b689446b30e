"""Sensitivity of layers: the loss if one layer alone is quantized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .style import given_or_new, ink, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["sensitivity"]


def sensitivity(
    ratios: Mapping[str, float],
    *,
    together: float | None = None,
    predicted: float | None = None,
    quantity: str = "signal to quantization noise ratio of the output [dB]",
    ax: Axes | None = None,
) -> Axes:
    """Draw one bar a layer, the most sensitive one on top.

    Parameters
    ----------
    ratios
        For each layer, what the model's output is worth when that layer alone is quantized;
        lower is worse. :func:`pyqref.measure.sensitivity` measures it.
    together
        The same with all layers quantized, drawn as a line; None to leave it out.
    predicted
        What ``together`` would be if the noises of the layers added up, drawn dashed.
    quantity
        Label of the axis, with its unit.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there is no layer.

    Examples
    --------
    >>> ax = sensitivity({"conv": 31.0, "head": 44.5}, together=30.6)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['conv', 'head']
    """
    if not ratios:
        raise ValueError("ratios must have one layer at least, got none")
    ax = given_or_new(ax)
    layers = sorted(ratios, key=lambda name: ratios[name])
    values = [ratios[name] for name in layers]
    ax.barh(range(len(layers)), values, color=series_colour(0), height=0.62)
    if together is not None:
        ax.axvline(together, color=series_colour(1), linewidth=1.8, label="all layers quantized")
    if predicted is not None:
        dashes: dict[str, Any] = {"color": ink(ax), "linestyle": "--", "linewidth": 1.3}
        ax.axvline(predicted, label="sum of the noises of all layers", **dashes)
    ax.set_yticks(range(len(layers)), layers)
    ax.invert_yaxis()
    ax.set_xlabel(quantity)
    ax.set_ylabel("layer quantized alone")
    if together is not None or predicted is not None:
        ax.legend(loc="lower right", fontsize="small", frameon=True)
    return ax
