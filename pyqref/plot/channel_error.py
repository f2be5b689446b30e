"""Error of a weight, one point an output channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import series_colour, series_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["channel_error"]


def channel_error(ax: Axes, errors: Mapping[str, Any]) -> Axes:
    """Draw the error of each channel, channels in the order of the first variant's error.

    Parameters
    ----------
    ax
        Where to draw.
    errors
        For each variant, the relative error of each output channel, in percent.

    Returns
    -------
    Axes
        ``ax``.
    """
    arrays = {name: np.asarray(each, dtype=np.float64) for name, each in errors.items()}
    order = np.argsort(next(iter(arrays.values())), kind="stable")
    for index, (name, each) in enumerate(arrays.items()):
        if each.shape != order.shape:
            raise ValueError(
                f"{name!r} must have {order.size} channels as the first variant, got {each.shape}"
            )
        ax.plot(
            range(1, order.size + 1),
            each[order],
            color=series_colour(index),
            marker=series_marker(index),
            markersize=4.5,
            linewidth=0.8,
            label=name,
        )
    ax.set_ylim(bottom=0)
    ax.set_xlabel("output channel, sorted by error")
    ax.set_ylabel("rms error of the weight [% of its rms]")
    ax.legend(loc="upper left", fontsize="small")
    return ax
