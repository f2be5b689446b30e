"""To a grid and back, and what leaves its input as it is."""

from __future__ import annotations

from ...nn import modules as nn
from ...nn import quantized as nnq
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire

__all__: list[str] = []


@lowering("quantize_per_tensor")
def quantize(make: Maker, x: Wire, *unused: object, **others: object) -> str:
    """QuantizeLinear with the grid of the result."""
    if x.is_quantized:
        raise Unsupported("the input is quantized already")
    return make.finish(x.name)


@lowering(nnq.Quantize)
def quantize_module(make: Maker, layer: Layer, x: Wire) -> str:
    """QuantizeLinear with the grid of the layer."""
    return quantize(make, x)


@lowering("dequantize")
def dequantize(make: Maker, x: Wire) -> str:
    """DequantizeLinear."""
    if not x.is_quantized:
        return same(make, x)
    return str(make.node("DequantizeLinear", [x.name, x.scale, x.zero_point]))


@lowering(nnq.DeQuantize)
def dequantize_module(make: Maker, layer: Layer, x: Wire) -> str:
    """DequantizeLinear."""
    return dequantize(make, x)


@lowering("contiguous", "detach", "clone", "dropout", "cpu", "float", "_assert")
def same(make: Maker, x: Wire, *unused: object, **others: object) -> str:
    """The input itself, which computes nothing."""
    if make.out.is_quantized != x.is_quantized:
        raise Unsupported("the result is not quantized, its input is")
    return make.moved(x.name, x)


@lowering("to")
def to(make: Maker, x: Wire, *unused: object, **others: object) -> str:
    """The input itself, if its number format is the same."""
    if make.out.value.dtype is not x.value.dtype:
        raise Unsupported(f"it changes {x.value.dtype} to {make.out.value.dtype}")
    return same(make, x)


@lowering(nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
def same_module(make: Maker, layer: Layer, x: Wire) -> str:
    """The input itself."""
    if layer.training and not isinstance(layer, nn.Identity):
        raise Unsupported("it is in training mode: call model.eval() first")
    return same(make, x)
