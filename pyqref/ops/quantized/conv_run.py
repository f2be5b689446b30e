"""Run of every convolution on integers, after its arguments were checked."""

from __future__ import annotations

import math
from typing import Any

from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.dtypes import quint8
from pyqref.tensor.arguments import described
from pyqref.tensor.base import wrap
from pyqref.tensor.quantized import QuantizedTensor, make_quantized

from .checks import output_quantizer, require_integer, require_per_tensor
from .packed_conv import PackedConv

__all__ = [
    "convolve",
    "convolve_real",
    "require_conv_input",
    "require_groups",
    "require_packed_conv",
]

#: Of an output; more fit no memory.
MOST_ELEMENTS = 2**36
_INPUT_DTYPES = (quint8,)
_SHAPES = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}


def convolve(
    name: str,
    spatial: int,
    x: Tensor,
    packed: PackedConv,
    scale: float,
    zero_point: int,
    *,
    relu: bool = False,
    transposed: bool = False,
) -> Tensor:
    """The quantized output of one convolution, transposed or not.

    Arguments are checked, and the kernel is told of them, unless all of them are as in the last
    call of this weight, but for the integers of the input.
    """
    call = None
    if (
        type(x) is QuantizedTensor
        and isinstance(packed, PackedConv)
        and type(scale) is float
        and type(zero_point) is int
    ):
        call = packed.call(name, x._quantizer, x._array.shape, scale, zero_point)
        last = packed.prepared
        if last.call == call:
            return make_quantized(last.run(x._array), last.out)
    own = require_per_tensor(name, x, _INPUT_DTYPES)
    require_packed_conv(name, packed, spatial, transposed)
    out = output_quantizer(name, scale, zero_point)
    require_conv_input(name, x, packed)
    if settings.arithmetic is None:
        requant = packed.requantization(own.scale, out.scale, out.zero_point, relu)
        run = packed.prepare(x._array, own.zero_point, requant)
    else:
        run = settings.arithmetic.prepare(packed, own.grid, out.grid, relu)
    packed.keep(call, run, out)
    return make_quantized(run(x._array), out)


def convolve_real(
    name: str, x: Tensor, packed: PackedConv, scale: float, zero_point: int
) -> Tensor:
    """The real output of a convolution of a checked real input, both on one grid."""
    call = packed.call(name, x._array.shape, scale, zero_point)
    last = packed.prepared
    if last.call == call:
        return wrap(last.run(x._array))
    require_conv_input(name, x, packed)
    requant = packed.requantization(scale, scale, zero_point, False)
    run = packed.prepare(x._array, zero_point, requant, scale)
    packed.keep(call, run)
    return wrap(run(x._array))


def require_packed_conv(name: str, packed: Any, spatial: int, transposed: bool) -> None:
    """Raise unless ``packed`` came from the prepack function of this operation."""
    fits = isinstance(packed, PackedConv) and packed.spatial == spatial
    if not fits or packed.transposed != transposed:
        kind = f"conv_transpose{spatial}d" if transposed else f"conv{spatial}d"
        raise TypeError(
            f"{name}: packed_weight must come from quantized.{kind}_prepack, "
            f"got {described(packed)}"
        )


def require_groups(name: str, groups: int, channels: int, what: str) -> None:
    """Raise unless ``groups`` is a positive divisor of ``channels``."""
    groups = require_integer(name, "groups", groups)
    if groups < 1 or channels % groups:
        raise ValueError(f"{name}: groups must divide the {channels} {what}, got {groups}")


def require_conv_input(name: str, x: Tensor, packed: PackedConv) -> None:
    """Raise unless the input has the channels of the weight and is as large as the kernel."""
    shape = x._array.shape
    if len(shape) != packed.spatial + 2:
        raise RuntimeError(f"{name}: input shape must be {_SHAPES[packed.spatial]}, got {shape}")
    if shape[1] != packed.in_channels:
        raise RuntimeError(
            f"{name}: with groups={packed.groups} and a weight of shape "
            f"{packed.shape}, input {shape} must have {packed.in_channels} "
            f"channels, but got {shape[1]} channels instead"
        )
    if 0 in shape[2:]:
        raise RuntimeError(f"{name}: only the batch may be empty, got input {shape}")
    out = packed.out_size(shape[2:])
    if math.prod(out) * shape[0] >= MOST_ELEMENTS:
        raise RuntimeError(
            f"{name}: the output would have the spatial size {out}, got input {shape}, "
            f"stride {packed.stride} and padding {packed.padding}"
        )
    if min(out) < 1:
        raise RuntimeError(
            f"{name}: each dimension of the output must be greater than 0; input "
            f"{shape} with padding {packed.padding} is smaller than the kernel "
            f"{packed.shape[2:]} with dilation {packed.dilation}"
        )
