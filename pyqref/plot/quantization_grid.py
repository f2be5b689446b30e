"""The staircase: which real number each integer stands for, and the error in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.affine import dequantize_per_tensor, quantize_per_tensor
from .style import given_or_new, ink, series_colour, unit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["quantization_grid"]

POINTS = 4001
"""Numbers at which the staircase is evaluated, with equation eq-affine-quantize itself."""


def quantization_grid(
    scale: float,
    zero_point: int,
    *,
    quant_min: int = 0,
    quant_max: int = 255,
    span: tuple[float, float] | None = None,
    error: bool = False,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    r"""Draw :math:`\hat x` against :math:`x`, with the band of half a step around.

    What is drawn is equation ``eq-affine-quantize`` followed by ``eq-affine-dequantize``;
    outside the grid the staircase is flat and leaves the band.

    Parameters
    ----------
    scale
        Distance of two steps, above 0.
    zero_point
        Integer that stands for 0, in [quant_min, quant_max].
    quant_min, quant_max
        Smallest and largest integer, both in [-2**31, 2**31 - 1].
    span
        Smallest and largest real number to show; the grid and a tenth more on both sides if
        None.
    error
        Draw :math:`\hat x - x` instead, between the bounds of plus and minus half a step.
    unit
        Unit of the real numbers.
    ax
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the scale is not positive or the zero point lies outside of the integers.

    Examples
    --------
    The eight steps of a 3-bit grid:

    >>> ax = quantization_grid(0.25, 3, quant_min=0, quant_max=7)
    >>> ax.get_ylabel()
    'dequantized (no unit)'
    """
    if not scale > 0:
        raise ValueError(f"scale must be above 0, got {scale}")
    if not quant_min <= zero_point <= quant_max:
        raise ValueError(f"zero_point must be in [{quant_min}, {quant_max}], got {zero_point}")
    ax = given_or_new(ax)
    low, high = ((end - zero_point) * scale for end in (quant_min, quant_max))
    margin = max((high - low) / 10, scale)
    first, last = span or (low - margin, high + margin)
    x = np.linspace(first, last, POINTS, dtype=np.float32)
    q = quantize_per_tensor(x, scale, zero_point, quant_min, quant_max, np.int32)
    dequantized = dequantize_per_tensor(q, scale, zero_point)
    half = scale / 2
    if error:
        shown, middle = dequantized - x, np.zeros_like(x)
    else:
        shown, middle = dequantized, x
    dashes: dict[str, Any] = {"color": ink(ax), "linestyle": "--", "linewidth": 1.1}
    ax.plot(x, middle + half, **dashes, label="± half a step")
    ax.plot(x, middle - half, **dashes)
    ax.plot(x, shown, color=series_colour(0), linewidth=1.8)
    for end in (low, high):
        if first < end < last:
            ax.axvline(end, color=series_colour(1), linewidth=1.0, linestyle=":")
    ax.set_xlim(first, last)
    ax.set_xlabel(f"real number {unit_label(unit)}")
    quantity = "dequantized minus real" if error else "dequantized"
    ax.set_ylabel(f"{quantity} {unit_label(unit)}")
    ax.legend(loc="upper left", fontsize="small")
    return ax
