"""The weights of swapped modules, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.utils.fusion import fuse_conv_bn_weights
from pyqref.quantization.constant_channels import QuantizedWeight
from pyqref.tape import Array

from .swap import Swap

__all__ = ["swapped_weights"]


def swapped_weights(swaps: list[Swap]) -> Iterator[QuantizedWeight]:
    """The weights of all exchanges of float for quantized modules."""
    for swap in swaps:
        for name, values, quantized in _weights(swap.old, swap.new):
            axis = quantized.q_per_channel_axis() if quantized.qscheme().is_per_channel else None
            place = f"{swap.path}.{name} ({type(swap.old).__name__})"
            yield QuantizedWeight(place, values, axis, partial(_itself, quantized))


def _itself(quantized: Any) -> Any:
    return quantized


def _weights(old: Any, new: Any) -> Iterator[tuple[str, Array, Any]]:
    """Name, float form and quantized form of each weight."""
    get_weight = getattr(new, "weight", None)
    if getattr(new, "_IS_REFERENCE", False):
        for name in new._weights():
            yield from _pair(name, getattr(old, name)._array, new._quantized(name))
    elif get_weight is not None:
        weight = _float_weight(old)
        if weight is not None:
            yield from _pair("weight", weight, get_weight() if callable(get_weight) else get_weight)
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
