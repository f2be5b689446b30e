"""Signal to quantization noise ratio of every layer's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .style import given_or_new, series_colour, series_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["layer_sqnr"]


def layer_sqnr(
    ratios: Mapping[str, Mapping[str, float]] | Mapping[str, float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw one line a variant through its layers, first layer on top.

    Parameters
    ----------
    ratios
        For each variant, for each layer in the order in which it runs, the ratio in dB, as
        :func:`pyqref.measure.layer_sqnr` gives it. All variants have the same layers. One
        variant may be given alone.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there is no layer, or two variants have different ones.

    Examples
    --------
    >>> ax = layer_sqnr({"int8": {"conv": 41.0, "head": 33.5}})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['conv', 'head']
    """
    ax = given_or_new(ax)
    if not ratios:
        raise ValueError("ratios must have one layer at least, got none")
    first = next(iter(ratios.values()))
    variants: dict[str, Any] = dict(ratios) if isinstance(first, Mapping) else {"int8": ratios}
    layers = list(next(iter(variants.values())))
    for index, (name, ratio) in enumerate(variants.items()):
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
    if len(variants) > 1:
        ax.legend(loc="best", fontsize="small")
    return ax
