"""Error of a weight, one point an output channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.noise import numbers
from .style import given_or_new, named, series_colour, series_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["channel_error"]


def channel_error(
    errors: Mapping[str, Any] | Any,
    *,
    bounds: Mapping[str, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error of each channel, channels in the order of the first variant's error.

    Parameters
    ----------
    errors
        For each variant, the relative error of each output channel, `(C,)`, in percent;
        :func:`pyqref.measure.channel_error` measures it.
    bounds
        For some variants, what theory allows at most, as ``errors``; drawn as dashed lines
        in the colour of the variant. :func:`pyqref.measure.channel_bound` gives it.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If two variants have different numbers of channels, or ``bounds`` names one that is
        not in ``errors``.

    Examples
    --------
    >>> ax = channel_error({"per tensor": [3.0, 1.0], "per channel": [0.3, 0.2]})
    >>> ax.get_ylabel()
    'rms error of the weight [% of its rms]'
    """
    ax = given_or_new(ax)
    variants = named(errors, "error", "errors")
    arrays = {name: numbers(each).ravel() for name, each in variants.items()}
    limits = {name: numbers(each).ravel() for name, each in (bounds or {}).items()}
    if unknown := sorted(set(limits) - set(arrays)):
        raise ValueError(f"bounds must name variants of errors, {sorted(arrays)}, got {unknown}")
    order = np.argsort(next(iter(arrays.values())), kind="stable")
    for name, each in [*arrays.items(), *limits.items()]:
        if each.shape != order.shape:
            raise ValueError(
                f"{name!r} must have {order.size} channels as the first variant, got {each.size}"
            )
    for index, (name, each) in enumerate(arrays.items()):
        ax.plot(
            range(1, order.size + 1),
            each[order],
            color=series_colour(index),
            marker=series_marker(index),
            markersize=4.5,
            linewidth=0.8,
            label=name,
        )
        if name in limits:
            ax.plot(
                range(1, order.size + 1),
                limits[name][order],
                color=series_colour(index),
                linestyle="--",
                linewidth=1.2,
                label=f"{name}, bound",
            )
    ax.set_ylim(bottom=0)
    ax.set_xlabel("output channel, sorted by error")
    ax.set_ylabel("rms error of the weight [% of its rms]")
    ax.legend(loc="upper left", fontsize="small")
    return ax
