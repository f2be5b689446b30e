"""Signal to quantization noise ratio of every layer's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .style import series_colour, series_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["layer_sqnr"]


def layer_sqnr(ax: Axes, ratios: Mapping[str, Mapping[str, float]]) -> Axes:
    """Draw one line a variant through its layers, first layer on top.

    Parameters
    ----------
    ax
        Where to draw.
    ratios
        For each variant, for each layer in the order in which it runs, the ratio in dB.
        All variants have the same layers.

    Returns
    -------
    Axes
        ``ax``.
    """
    layers = list(next(iter(ratios.values())))
    for index, (name, ratio) in enumerate(ratios.items()):
        if list(ratio) != layers:
            raise ValueError(f"layers of {name!r} must be {layers}, got {list(ratio)}")
        ax.plot(
            [ratio[layer] for layer in layers],
            range(len(layers)),
            color=series_colour(index),
            marker=series_marker(index),
            linewidth=1.4,
            label=name,
        )
    ax.set_yticks(range(len(layers)), layers)
    ax.invert_yaxis()
    ax.set_xlabel("signal to quantization noise ratio [dB]")
    ax.set_ylabel("layer, in the order in which it runs")
    ax.legend(loc="best", fontsize="small")
    return ax
