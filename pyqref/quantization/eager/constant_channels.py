"""Weight channels of one value, which the documented parameters may wipe out.

The documentation gives data with equal minimum and maximum the scale 1.0 and the zero
point 0. A weight channel that is 0.3 everywhere is then rounded to 0, and one that is 0.7
to 1. That is common where a channel has a single element: ``Linear(1, n)``, or a depthwise
convolution with a 1x1 kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.utils.fusion import fuse_conv_bn_weights
from pyqref.quantization.diagnostics import ConstantChannelWarning, warn
from pyqref.tape import Array

from .swap import Swap

__all__ = ["warn_of_constant_channels"]

#: A grid of 8 bits made for a single value holds it to 1/255; this leaves room.
TOLERANCE = 0.01


def warn_of_constant_channels(asks: str, swaps: list[Swap]) -> None:
    """Warn of constant weights that their parameters cannot hold, by module path.

    Parameters
    ----------
    asks
        Who asks.
    swaps
        The exchanges of float for quantized modules.
    """
    for swap in swaps:
        for name, float_weight, quantized in _weights(swap.old, swap.new):
            lost = list(_lost(float_weight, quantized))
            if not lost:
                continue
            channel, value, kept = lost[0]
            where = "" if channel is None else f", in channel {channel}"
            others = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
            remedy = "" if channel is None else "choose an observer that is not per channel, "
            warn(
                f"{asks}: {swap.path}.{name} ({type(swap.old).__name__}): {value:g} "
                f"everywhere{where}{others} became {kept:g}, because constant data is documented "
                f"to have scale 1.0 and zero point 0; {remedy}set the qconfig of this module to "
                "None, or pyqref.backends.quantized.conventions = 'torch'",
                ConstantChannelWarning,
            )


def _weights(old: Any, new: Any) -> Iterator[tuple[str, Array, Any]]:
    """Name, float form and quantized form of each weight."""
    get_weight = getattr(new, "weight", None)
    if getattr(new, "_IS_REFERENCE", False):
        for name in new._weights():
            yield from _pair(name, getattr(old, name)._array, new._quantized(name))
    elif callable(get_weight):
        weight = _float_weight(old)
        if weight is not None:
            yield from _pair("weight", weight, get_weight())
    elif callable(getattr(new, "get_weight", None)):
        for name, quantized in new.get_weight().items():
            tensor: Any = getattr(old, name, None)
            if hasattr(tensor, "_array"):
                yield from _pair(name, tensor._array, quantized)


def _pair(name: str, weight: Array, quantized: Any) -> Iterator[tuple[str, Array, Any]]:
    if getattr(quantized, "is_quantized", False) and weight.shape == tuple(quantized.shape):
        yield name, weight, quantized


def _float_weight(module: Any) -> Array | None:
    """The weight that was quantized: of a group's first layer, with batch norm folded in."""
    is_group = isinstance(module, _FusedModule) and "weight" not in module._parameters
    layer = module[0] if is_group else module
    weight: Any = getattr(layer, "weight", None)
    if not hasattr(weight, "_array"):
        return None
    bn = getattr(layer, "bn", None)
    if bn is not None:
        weight, _ = fuse_conv_bn_weights(
            weight, layer.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
    array: Array = weight._array
    return array


def _lost(weight: Array, quantized: Any) -> Iterator[tuple[int | None, float, float]]:
    """Channel, value, and what became of it."""
    kept = quantized.dequantize()._array
    if quantized.qscheme().is_per_channel:
        axis = quantized.q_per_channel_axis()
        rows = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)
        kept_rows = np.moveaxis(kept, axis, 0).reshape(rows.shape)
        channels: list[int | None] = list(range(len(rows)))
    else:
        rows, kept_rows, channels = weight.reshape(1, -1), kept.reshape(1, -1), [None]
    if rows.size == 0:
        return
    value, after = rows[:, 0], kept_rows[:, 0]
    constant = (rows == value[:, None]).all(axis=1)
    moved = np.abs(after - value) > TOLERANCE * np.abs(value)
    for index in np.flatnonzero(constant & moved):
        yield channels[index], float(value[index]), float(after[index])
