"""Layers that choose the grid of their input when they run."""

from __future__ import annotations

import numpy as np

from ..._typing import PackedLinear
from ...numerics.dynamic_qparams import SMALLEST_DYNAMIC_SCALE
from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand
from .requantization import Layer, requantized, unit_of_accumulator
from .weighted import Places, accumulate_integers, layer_and_places

__all__ = ["chosen_grid", "chosen_of_range", "dynamic_linear", "real_of_accumulator"]


def chosen_grid(draft: Draft, x: Value, engine: str, reduce_range: bool) -> tuple[Operand, Operand]:
    """Scale and zero point of the range of a whole input (``eq-dynamic-input``)."""
    steps, row = draft.steps, Operand("X", x.array)
    if not x.array.size:
        return Operand("s", np.float64(0.1)), Operand("z", 0)
    ends = []
    for rule, symbol, find in (("lowest", "lo", np.argmin), ("highest", "hi", np.argmax)):
        end = steps.add(f"{rule} of the input", rule, row, symbol=symbol)
        place = np.unravel_index(find(x.array), x.shape)
        steps.decide(f"at {[int(each) for each in place]}")
        ends.append(end)
    zero = Operand("0", np.float64(0))
    low = steps.add("not above zero", "min64", ends[0], zero, symbol="x-")
    high = steps.add("not below zero", "max64", ends[1], zero, symbol="x+")
    most = 127 if reduce_range and engine != "qnnpack" else 255
    return chosen_of_range(draft, low, high, 0, most)


def chosen_of_range(
    draft: Draft,
    low: Operand,
    high: Operand,
    least: int,
    most: int,
    centred: bool = False,
    single: bool = False,
) -> tuple[Operand, Operand]:
    """Scale and zero point of a range that holds zero (``eq-choose-qparams-dynamic``).

    ``centred`` puts the zero point in the middle; ``single`` rounds the scale to float32 first.
    """
    steps = draft.steps
    width = steps.add("width of the range", "minus64", high, low, symbol="R")
    span = Operand("(q_max - q_min)", np.float64(most - least))
    scale = steps.add("scale", "over64", width, span, symbol="s", label="eq-choose-qparams-dynamic")
    with np.errstate(all="ignore"):
        narrow = np.float32(scale.value)
        degenerate = narrow == 0 or np.isinf(np.float32(1) / narrow)
    if degenerate:
        steps.decide("its reciprocal overflows: 0.1 instead")
        scale = Operand("s", np.float64(0.1))
    if scale.value < SMALLEST_DYNAMIC_SCALE:
        steps.decide(f"raised to {SMALLEST_DYNAMIC_SCALE:.6g}, and the range with it")
        low, high = _grown(draft, low, high, scale, most - least)
        scale = Operand("s", np.float64(SMALLEST_DYNAMIC_SCALE))
    if single:
        scale = steps.add("scale as float32", "single", scale, symbol="s")
    if centred:
        middle = Operand("(q_min + q_max) / 2", np.float64((least + most) / 2))
        position = steps.add("zero point before rounding", "double", middle, symbol="z'")
        steps.decide("in the middle, as the scheme is symmetric")
    else:
        position = _exact_zero_point(draft, low, high, scale, least, most)
    rounded = steps.add("rounded", "half even", position, symbol="r_z", label="eq-round-half-even")
    ends = Operand("q_min", least), Operand("q_max", most)
    return scale, steps.add("zero point", "clamp", rounded, *ends, symbol="z")


def _exact_zero_point(
    draft: Draft, low: Operand, high: Operand, scale: Operand, least: int, most: int
) -> Operand:
    """The zero point before it is rounded, from the end that is met with the smaller error."""
    steps = draft.steps
    below = steps.add("low end in steps", "over64", low, scale, symbol="l")
    above = steps.add("high end in steps", "over64", high, scale, symbol="h")
    bounds = Operand("q_min", np.float64(least)), Operand("q_max", np.float64(most))
    from_low = abs(least) + abs(below.value) < abs(most) + abs(above.value)
    bound, end = (bounds[0], below) if from_low else (bounds[1], above)
    position = steps.add("zero point before rounding", "minus64", bound, end, symbol="z'")
    steps.decide(f"from the {'low' if from_low else 'high'} end, which is met more exactly")
    return position


def _grown(
    draft: Draft, low: Operand, high: Operand, scale: Operand, width: int
) -> tuple[Operand, Operand]:
    """The range that the smallest scale covers."""
    steps, smallest = draft.steps, Operand("s_min", np.float32(SMALLEST_DYNAMIC_SCALE))
    span = Operand("(q_max - q_min)", np.float32(width))
    whole = steps.add("range of the smallest scale", "times32", smallest, span, symbol="R'")
    narrow = steps.add("scale as float32", "single", scale, symbol="s_0")
    ratio = steps.add("how far it grows", "over32", smallest, narrow, symbol="g")
    grown = []
    for end, other, symbol in ((low, high, "x-"), (high, low, "x+")):
        if end.value == 0:
            grown.append(end)
        elif other.value == 0:
            rule = "negative32" if end is low else "single"
            grown.append(steps.add("grown end", rule, whole, symbol=symbol))
        else:
            single = steps.add("end as float32", "single", end, symbol=symbol)
            grown.append(steps.add("grown end", "times32", single, ratio, symbol=symbol))
    return grown[0], grown[1]


def quantized_row(draft: Draft, row: Operand, scale: Operand, zero_point: Operand) -> Operand:
    """Real numbers of the input on the grid that was chosen."""
    steps = draft.steps
    narrow = steps.add("scale as float32", "single", scale, symbol="s_x")
    inverse = steps.add("reciprocal", "reciprocal32", narrow, symbol="i", label="eq-reciprocal")
    z = steps.add("zero point as float32", "single", zero_point, symbol="z_f")
    return steps.add(
        "inputs on the grid",
        "each quantized",
        row,
        inverse,
        z,
        Operand("low", 0),
        Operand("high", 255),
        symbol="x",
        label="eq-dynamic-input",
    )


def dynamic_linear(
    draft: Draft,
    x: Value,
    packed: PackedLinear,
    row: int,
    channel: int,
    grid: tuple[Operand, Operand] | None = None,
    reduce_range: bool = True,
) -> Operand:
    """One output of a linear layer with real input and output."""
    scale, zero_point = grid or chosen_grid(draft, x, packed.engine, reduce_range)
    length = packed.shape[1]
    inputs = draft.elements("X", x, row * length + np.arange(length))
    integers = quantized_row(draft, inputs, scale, zero_point)
    layer = Layer(packed, channel, float(scale.value))
    along = np.arange(length)
    places = Places(along, channel * length + along, np.ones(length, bool))
    total = accumulate_integers(
        draft, integers, zero_point, packed, layer, places, "eq-linear-accumulator"
    )
    return real_of_accumulator(draft, total, layer)


def real_of_accumulator(
    draft: Draft, total: Operand, layer: Layer, engine: str | None = None
) -> Operand:
    """The real number of an accumulator, with its bias."""
    steps = draft.steps
    unit = unit_of_accumulator(steps, layer)
    single = steps.add("as float32", "single", total, symbol="f")
    label = "eq-dynamic-output"
    if layer.bias is None:
        return steps.add("real number", "times32", single, unit, symbol="y", label=label)
    bias = Operand("b", layer.bias)
    if (engine or layer.packed.engine) != "qnnpack":
        return steps.add("real number", "fma32", single, unit, bias, symbol="y", label=label)
    product = steps.add("in real numbers", "times32", single, unit, symbol="p")
    return steps.add("with the bias", "plus32", product, bias, symbol="y", label=label)


@explains("quantized.linear_dynamic", "quantized.linear_relu_dynamic")
def linear_dynamic(draft: Draft) -> None:
    """Choose a grid, quantize, accumulate, dequantize."""
    x, packed = draft.argument("X"), draft.argument("W_prepack")
    row = int(np.ravel_multi_index(draft.index[:-1], x.shape[:-1]))
    reduced = bool(draft.record.arguments["reduce_range"])
    y = dynamic_linear(draft, x, packed, row, draft.index[-1], None, reduced)
    if "_relu" in draft.record.operation:
        zero = Operand("0", np.float32(0))
        draft.steps.add("ReLU", "max32", y, zero, symbol="y", label="eq-linear-dynamic")


_CONVS = ("conv1d", "conv2d", "conv3d", *(f"conv_transpose{n}d" for n in (1, 2, 3)))


@explains(*(f"quantized.{name}_dynamic" for name in _CONVS))
def conv_dynamic(draft: Draft) -> None:
    """A static convolution on the grid of the input, both ways."""
    x, packed = draft.argument("qx"), draft.argument("packed_weight")
    reduced = bool(draft.record.arguments["reduce_range"])
    scale, zero_point = chosen_grid(draft, x, packed.engine, reduced)
    layer, places, label = layer_and_places(packed, x, draft.index, float(scale.value))
    integers = quantized_row(draft, draft.elements("X", x, places.inputs), scale, zero_point)
    total = accumulate_integers(draft, integers, zero_point, packed, layer, places, label)
    z = int(zero_point.value)
    q = requantized(draft, total, layer, float(scale.value), z)
    difference = draft.steps.add("less the zero point", "difference", q, zero_point, symbol="d")
    s = draft.steps.add("scale as float32", "single", scale, symbol="s_y")
    draft.steps.add(
        "real number", "times32", difference, s, symbol="y", label="eq-affine-dequantize"
    )
