"""From an accumulator to the integer of the output, as each engine does it."""

from __future__ import annotations

import numpy as np

from ..._typing import Packed
from ..draft import Draft
from ..steps import Operand, Steps

__all__ = ["Layer", "requantized", "round_and_clamp", "unit_of_accumulator"]


class Layer:
    """A packed weight as one output channel sees it.

    Parameters
    ----------
    packed
        The packed weight.
    channel
        The output channel.
    input_scale
        Of the input.
    """

    def __init__(self, packed: Packed, channel: int, input_scale: float) -> None:
        self.packed = packed
        self.channel = channel
        self.input_scale = input_scale
        self.per_channel = np.ndim(packed.weight_scales) > 0
        at = channel if self.per_channel else ()
        self.weight_scale = float(np.asarray(packed.weight_scales)[at])
        zero_points = np.asarray(packed.weight_zero_points)
        self.weight_zero_point = int(zero_points[channel if zero_points.size > 1 else 0])
        bias = packed.bias_tensor
        self.bias = None if bias is None else np.float32(bias._array[channel])


def unit_of_accumulator(steps: Steps, layer: Layer) -> Operand:
    """Return the real value of one unit of the accumulator."""
    s_x = steps.single("scale of the input", "s_x", layer.input_scale)
    s_w = steps.single("scale of the weight", "s_w", layer.weight_scale)
    return steps.add(
        "unit of the accumulator",
        "times32",
        s_x,
        s_w,
        symbol="A",
        label="eq-accumulator-scale",
    )


def requantized(
    draft: Draft,
    accumulator: Operand,
    layer: Layer,
    scale: float,
    zero_point: int,
    relu: bool = False,
) -> Operand:
    """Steps from the accumulator of a layer to its output integer."""
    steps, packed = draft.steps, layer.packed
    with_bias = _with_bias(steps, accumulator, layer)
    unit = next(Operand("A", s.value, n) for n, s in enumerate(steps) if s.symbol == "A")
    s_y = steps.single("scale of the output", "s_y", scale)
    if packed.engine == "qnnpack":
        inverse = steps.add(
            "reciprocal of the scale", "reciprocal32", s_y, symbol="i_y", label="eq-reciprocal"
        )
        multiplier = steps.add(
            "multiplier", "times32", unit, inverse, symbol="M", label="eq-multiplier-qnnpack"
        )
    else:
        multiplier = steps.add(
            "multiplier", "over32", unit, s_y, symbol="M", label="eq-multiplier-fbgemm"
        )
    value = steps.add(
        "in units of the output",
        "times32",
        with_bias,
        multiplier,
        symbol="v",
        label="eq-requantize-bias",
    )
    low, high = packed.output_range
    return round_and_clamp(
        draft,
        value,
        zero_point,
        max(low, zero_point) if relu else low,
        high,
        "eq-requantize",
        relu,
    )


def _with_bias(steps: Steps, accumulator: Operand, layer: Layer) -> Operand:
    """The accumulator and the bias, in float32; the unit of the accumulator is a step before."""
    unit = unit_of_accumulator(steps, layer)
    if layer.bias is None:
        return steps.add("as float32", "single", accumulator, symbol="f")
    bias = Operand("b", layer.bias)
    if layer.packed.engine == "qnnpack":
        product = steps.add(
            "product of the scales",
            "times64",
            Operand("s_x", np.float64(layer.input_scale)),
            Operand("s_w", np.float64(layer.weight_scale)),
            symbol="u",
        )
        narrow = steps.add("as float32", "single", product, symbol="u'")
        inverse = steps.add("its reciprocal", "reciprocal32", narrow, symbol="i_u")
        scaled = steps.add(
            "bias in units of the accumulator", "times32", bias, inverse, symbol="b'"
        )
        rounded = steps.add("rounded to an integer", "half even", scaled, symbol="r_b")
        whole = steps.add(
            "held to 32 bits",
            "clamp",
            rounded,
            Operand("low", -(2**31)),
            Operand("high", 2**31 - 1),
            symbol="b_int",
            label="eq-bias-integer",
        )
        total = steps.add("with the bias", "plus", accumulator, whole, symbol="t")
        return steps.add("as float32", "single", total, symbol="f")
    if layer.per_channel:
        scaled = steps.add("bias in units of the accumulator", "over32", bias, unit, symbol="b'")
        single = steps.add("as float32", "single", accumulator, symbol="f")
        return steps.add("with the bias", "plus32", single, scaled, symbol="t")
    inverse = steps.add("units in one", "reciprocal32", unit, symbol="i_A")
    single = steps.add("as float32", "single", accumulator, symbol="f")
    return steps.add(
        "with the bias, rounded once", "fma32", bias, inverse, single, symbol="t", label="eq-fma"
    )


def round_and_clamp(
    draft: Draft,
    value: Operand,
    zero_point: int,
    low: int,
    high: int,
    label: str,
    relu: bool = False,
) -> Operand:
    """Round, add the zero point, clamp: the order of requantization."""
    steps = draft.steps
    rounded = steps.add("rounded", "half even", value, symbol="r", label="eq-round-half-even")
    shifted = steps.add("zero point added", "plus", rounded, Operand("z_y", zero_point), symbol="p")
    return steps.add(
        "clamped",
        "clamp",
        shifted,
        Operand("low", low),
        Operand("high", high),
        symbol="q",
        label=label,
        decision="the lower end is the zero point, by ReLU" if relu else "",
    )
