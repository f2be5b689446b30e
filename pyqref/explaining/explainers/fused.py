"""Layers followed by a function, rounded once for both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.fused_function import leaky
from ..draft import Draft, Elsewhere, explains
from ..record import Value
from ..rows import OneOutput, fused_elsewhere
from ..steps import Operand
from .activations import applied
from .dynamic import real_of_accumulator
from .grids import on_grid
from .requantization import Layer
from .weighted import accumulate, layer_and_places, weighted_parts


@explains("quantized.linear_leaky_relu", "quantized.linear_tanh")
def linear_function(draft: Draft) -> None:
    """A linear layer, in real numbers, and a function."""
    x, packed, layer, places, label = weighted_parts(draft)
    total = accumulate(draft, x, x.zero_point, packed, layer, places, label)
    y = real_of_accumulator(draft, total, layer, "qnnpack")
    if draft.record.operation.endswith("tanh"):
        g = applied(draft, "tanh32", y)
    else:
        g = applied(draft, "leaky_relu", y, float(draft.record.arguments["negative_slope"]))
    q = on_grid(draft, g, draft.output)
    slope = draft.record.arguments.get("negative_slope")
    function = np.tanh if slope is None else leaky(slope)
    draft.elsewhere = _elsewhere(draft, x, packed, layer, function)
    draft.dequantized(q, draft.output)


def _elsewhere(draft: Draft, x: Value, packed: Any, layer: Layer, function: Any) -> Elsewhere:
    """Return a function that computes the same output in another system."""
    picture = draft.picture
    assert picture is not None
    one = OneOutput(packed, layer, draft.index, picture.padded)
    grids = x.quantizer.grid, draft.output.quantizer.grid
    return fused_elsewhere(one, picture.inputs, *grids, function)


@explains("quantized.conv2d_add", "quantized.conv2d_add_relu")
def conv_add(draft: Draft) -> None:
    """A convolution, in real numbers, and another tensor added."""
    x, packed = draft.argument("qx"), draft.argument("packed_weight")
    layer, places, label = layer_and_places(packed, x, draft.index, x.scale)
    total = accumulate(draft, x, x.zero_point, packed, layer, places, label)
    y = real_of_accumulator(draft, total, layer, "qnnpack")
    other = draft.argument("qaccum")
    added = draft.element("o", other, draft.aligned(other, draft.index))
    real = draft.dequantized(added, other, "O")
    relu = draft.record.operation.endswith("_relu")

    def function(v: Any) -> Any:
        return np.maximum(v + real.value, v.dtype.type(0)) if relu else v + real.value

    draft.elsewhere = _elsewhere(draft, x, packed, layer, function)
    both = draft.steps.add("sum", "plus32", y, real, symbol="t", label="eq-requantize-function")
    if relu:
        both = draft.steps.add("ReLU", "max32", both, Operand("0", np.float32(0)), symbol="t'")
    q = on_grid(draft, both, draft.output)
    draft.dequantized(q, draft.output)
