"""Parameters by which an accumulator becomes an output integer."""

from __future__ import annotations

from typing import Any, NamedTuple

from .layer import LINEAR, Layer

__all__ = ["Scaling"]


class Scaling(NamedTuple):
    """Scales of a layer, and the grid of its output.

    Attributes
    ----------
    s_x, s_y
        Scales of input and output.
    s_w
        That of the weight: a scalar, or one for each output channel.
    z_y, low, high
        Zero point and bounds of the output.
    layer
        Where the accumulator stands.
    """

    s_x: float
    s_w: Any
    s_y: float
    z_y: int
    low: int
    high: int
    layer: Layer = LINEAR
