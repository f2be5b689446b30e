"""The gain of a nonlinearity, by which initial weights are scaled."""

from __future__ import annotations

import math

__all__ = ["calculate_gain"]

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that makes up for a nonlinearity's smaller standard deviation.

    Parameters
    ----------
    nonlinearity
        ``linear``, ``conv*d``, ``sigmoid``: 1; ``tanh``: 5/3; ``relu``: sqrt(2);
        ``leaky_relu``: sqrt(2 / (1 + param**2)); ``selu``: 3/4.
    param
        Negative slope of ``leaky_relu``, 0.01 by default.

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.init.calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
