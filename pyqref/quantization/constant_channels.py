"""Weight channels of one value, which the documented parameters may wipe out.

The documentation gives data with equal minimum and maximum the scale 1.0 and the zero
point 0. A weight channel that is 0.3 everywhere is then rounded to 0, and one that is 0.7
to 1. That is common where a channel has a single element: ``Linear(1, n)``, or a depthwise
convolution with a 1x1 kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyqref.quantization.diagnostics import ConstantChannelWarning, warn
from pyqref.tape import Array

__all__ = ["QuantizedWeight", "warn_of_constant_channels"]

#: A grid of 8 bits made for a single value holds it to 1/255; this leaves room.
TOLERANCE = 0.01


@dataclass(frozen=True)
class QuantizedWeight:
    """A weight before and after.

    Attributes
    ----------
    place
        What messages call it: the path, with the type of the layer.
    values
        The float weight.
    axis
        That of the channels; None if the weight has one grid.
    quantize
        Gives the quantized weight. It is called only if there is a constant channel.
    """

    place: str
    values: Array
    axis: int | None
    quantize: Callable[[], Any]


def warn_of_constant_channels(asks: str, weights: Iterable[QuantizedWeight]) -> None:
    """Warn of constant weights that their parameters cannot hold, by module path.

    Parameters
    ----------
    asks
        Who asks.
    weights
        What was quantized.
    """
    for weight in weights:
        lost = list(_lost(weight))
        if not lost:
            continue
        channel, value, kept = lost[0]
        where = "" if weight.axis is None else f", in channel {channel}"
        others = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        remedy = "" if weight.axis is None else "choose an observer that is not per channel, "
        warn(
            f"{asks}: {weight.place}: {value:g} everywhere{where}{others} became {kept:g}, because "
            f"constant data is documented to have scale 1.0 and zero point 0; {remedy}set the "
            "qconfig of this module to None, or pyqref.backends.quantized.conventions = 'torch'",
            ConstantChannelWarning,
        )


def _lost(weight: QuantizedWeight) -> Iterator[tuple[int, float, float]]:
    """Channel, value, and what became of it."""
    rows = _rows(weight.values, weight.axis)
    if rows.size == 0:
        return
    value = rows[:, 0]
    constant = (rows == value[:, None]).all(axis=1)
    if not constant.any():
        return
    after = _rows(weight.quantize().dequantize()._array, weight.axis)[:, 0]
    moved = np.abs(after - value) > TOLERANCE * np.abs(value)
    for index in np.flatnonzero(constant & moved):
        yield int(index), float(value[index]), float(after[index])


def _rows(values: Array, axis: int | None) -> Array:
    if axis is None:
        return values.reshape(1, -1)
    return np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
