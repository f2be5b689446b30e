"""From real numbers to a grid, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensor.quantized.quantizer import PerChannelQuantizer
from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand

__all__ = ["quantized", "quantized_after"]


def quantized(
    draft: Draft, x: Operand, scale: float, zero_point: int, low: int, high: int, wide: bool = False
) -> Operand:
    """Quantize per tensor: the zero point is added before the number is rounded."""
    steps = draft.steps
    s = steps.single("scale", "s", scale)
    inverse = steps.add("reciprocal", "reciprocal32", s, symbol="i", label="eq-reciprocal")
    z = Operand("z", np.float32(zero_point))
    if isinstance(x.value, np.float64):
        product = steps.add("in steps", "times64", x, inverse, symbol="t")
        shifted = steps.add("zero point added", "plus64", product, z, symbol="v")
    elif wide:
        product = steps.add("in steps", "times32", x, inverse, symbol="t")
        shifted = steps.add("zero point added", "plus32", product, z, symbol="v")
    else:
        shifted = steps.add(
            "in steps, zero point added", "fma32", x, inverse, z, symbol="v", label="eq-fma"
        )
    rounded = steps.add("rounded", "half even", shifted, symbol="r", label="eq-round-half-even")
    ends = Operand("low", low), Operand("high", high)
    return steps.add("clamped", "clamp", rounded, *ends, symbol="q", label="eq-affine-quantize")


def quantized_after(
    draft: Draft, x: Operand, out: Value, low: int | None = None, relu: bool = False
) -> Operand:
    """Quantize with the zero point added after rounding, as sums are."""
    steps = draft.steps
    grid = out.quantizer.grid
    s = steps.single("scale of the output", "s_y", grid.scale)
    inverse = steps.add("reciprocal", "reciprocal32", s, symbol="i_y", label="eq-reciprocal")
    scaled = steps.add("in units of the output", "times32", x, inverse, symbol="v")
    rounded = steps.add("rounded", "half even", scaled, symbol="r", label="eq-round-half-even")
    z = Operand("z_y", grid.zero_point)
    shifted = steps.add("zero point added", "plus", rounded, z, symbol="p")
    lowest = grid.lowest[0] if relu else grid.quant_min
    ends = Operand("low", lowest if low is None else low), Operand("high", grid.quant_max)
    return steps.add("clamped", "clamp", shifted, *ends, symbol="q", label="eq-quantize-after")


def on_grid(draft: Draft, x: Operand, out: Value) -> Operand:
    """Quantize on the grid of an output (``eq-affine-quantize``)."""
    grid = out.quantizer.grid
    wide = np.dtype(grid.storage).itemsize > 1
    return quantized(draft, x, grid.scale, grid.zero_point, grid.quant_min, grid.quant_max, wide)


@explains("quantize_per_tensor")
def quantize_per_tensor(draft: Draft) -> None:
    """A real number, on a grid."""
    x = draft.element("x", draft.argument("input"), draft.index)
    q = on_grid(draft, x, draft.output)
    draft.dequantized(q, draft.output)


@explains("quantize_per_channel")
def quantize_per_channel(draft: Draft) -> None:
    """A real number, on the grid of its channel: product and sum are rounded one by one."""
    steps, quantizer = draft.steps, draft.output.quantizer
    x = draft.element("x", draft.argument("input"), draft.index)
    channel = draft.index[quantizer.axis]
    scale, zero_point = channel_parameters(quantizer, channel)
    s = steps.single("scale of the channel", "s", scale)
    inverse = steps.add("reciprocal", "reciprocal32", s, symbol="i", label="eq-reciprocal")
    rule = "times64" if isinstance(x.value, np.float64) else "times32"
    product = steps.add("in steps", rule, x, inverse, symbol="t")
    z = Operand("z", np.float32(zero_point))
    rule = "plus64" if isinstance(x.value, np.float64) else "plus32"
    shifted = steps.add("zero point added", rule, product, z, symbol="v")
    rounded = steps.add("rounded", "half even", shifted, symbol="r", label="eq-round-half-even")
    dtype = quantizer.dtype
    ends = Operand("low", dtype.quant_min), Operand("high", dtype.quant_max)
    label = "eq-affine-quantize-channel"
    q = steps.add("clamped", "clamp", rounded, *ends, symbol="q", label=label)
    draft.answer = q.step
    _real_of_channel(draft, q, quantizer, channel)


def channel_parameters(quantizer: PerChannelQuantizer, channel: int) -> tuple[float, Any]:
    """Scale and zero point of one channel."""
    scale = float(np.asarray(quantizer.scales)[channel])
    return scale, np.asarray(quantizer.zero_points)[channel].item()


def _real_of_channel(draft: Draft, q: Operand, quantizer: Any, channel: int) -> Operand:
    """The real number of an integer of a channel: in double, rounded once to float32."""
    steps = draft.steps
    scale, zero_point = channel_parameters(quantizer, channel)
    if isinstance(zero_point, float):
        z = Operand("z", np.float32(zero_point))
        difference = steps.add("less the zero point", "minus32", q, z, symbol="d")
    else:
        z = Operand("z", zero_point)
        difference = steps.add("less the zero point", "difference", q, z, symbol="d")
    product = steps.add(
        "times the scale", "times64", difference, Operand("s", np.float64(scale)), symbol="t"
    )
    return steps.add(
        "real number", "single", product, symbol="y", label="eq-affine-dequantize-channel"
    )


@explains("dequantize")
def dequantize(draft: Draft) -> None:
    """The real number that an integer stands for."""
    x = draft.argument("self", "tensor")
    q = draft.element("q", x, draft.index)
    if x.per_tensor:
        draft.dequantized(q, x)
    else:
        _real_of_channel(draft, q, x.quantizer, draft.index[x.quantizer.axis])


@explains("clamp_integers")
def clamp_integers(draft: Draft) -> None:
    """Integers held to a range that was chosen."""
    given, dtype = draft.record.arguments, draft.output.quantizer.dtype
    x = given["input"]
    q = draft.element("x", x, draft.index)
    ends = (
        Operand("low", max(int(given["quant_min"]), dtype.quant_min)),
        Operand("high", min(int(given["quant_max"]), dtype.quant_max)),
    )
    clamped = draft.steps.add("clamped", "clamp", q, *ends, symbol="q", label="eq-saturate")
    if draft.output.per_tensor:
        draft.dequantized(clamped, draft.output)
