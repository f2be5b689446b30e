"""The weights of each output channel, and the grid that each variant lays over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Tensor
from ..measure.noise import numbers
from ..tensor.quantized.quantizer import quant_range
from .style import given_or_new, named, series_colour, unit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["weights_and_scales"]


def weights_and_scales(
    weight: Tensor,
    quantized: Mapping[str, Any] | Any,
    *,
    axis: int = 0,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the weights channel by channel and, for each variant, the reach of its integers.

    A variant whose lines lie far outside of a channel's weights wastes most of its integers
    on numbers that do not occur there.

    Parameters
    ----------
    weight
        `(C, ...)` with C output channels at ``axis``, an array or a tensor.
    quantized
        For each variant, the same weight as a quantized tensor, per tensor or per channel;
        or one alone.
    axis
        The channel axis of ``weight``.
    unit
        Unit of the weights.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If a variant has another number of channels than ``weight``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.linspace(-1, 1, 12).reshape(3, 4)
    >>> q = pyqref.quantize_per_tensor(weight, 0.01, 0, pyqref.qint8)
    >>> weights_and_scales(weight, {"per tensor": q}).get_xlabel()
    'output channel'
    """
    ax = given_or_new(ax)
    rows = np.moveaxis(numbers(weight), axis, 0)
    rows = rows.reshape(len(rows), -1)
    channels = np.arange(len(rows))
    for channel, values in zip(channels, rows, strict=True):
        place = np.full(values.size, channel)
        ax.plot(place, values, "_", color="0.6", markersize=5, alpha=0.6, zorder=1)
    variants = named(quantized, "reach of the integers", "quantized")
    for index, (name, each) in enumerate(variants.items()):
        low, high = reach(each)
        if low.size not in (1, len(rows)):
            raise ValueError(f"{name!r} must have {len(rows)} channels, got {low.size}")
        edges = np.arange(len(rows) + 1) - 0.5
        style: dict[str, Any] = {
            "color": series_colour(index),
            "linewidth": 1.6,
            "baseline": None,
        }
        for end, label in ((high, name), (low, None)):
            ax.stairs(np.broadcast_to(end, len(rows)), edges, label=label, **style)
    bottom, top = ax.get_ylim()
    entries = len(ax.get_legend_handles_labels()[0])
    ax.set_ylim(bottom, top + 0.06 * (top - bottom) * (1 + entries))
    ax.set_xlabel("output channel")
    ax.set_ylabel(f"weight {unit_label(unit)}")
    ax.legend(loc="upper right", fontsize="small", frameon=True)
    return ax


def reach(quantized: Tensor) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Smallest and largest real number of the integers: one of each, or one a channel."""
    if "channel" in str(quantized.qscheme()):
        scale = np.asarray(quantized.q_per_channel_scales(), dtype=np.float64)
        zero_point = np.asarray(quantized.q_per_channel_zero_points(), dtype=np.float64)
    else:
        scale = np.asarray([quantized.q_scale()])
        zero_point = np.asarray([quantized.q_zero_point()])
    low, high = quant_range(quantized.dtype)
    return (low - zero_point) * scale, (high - zero_point) * scale
