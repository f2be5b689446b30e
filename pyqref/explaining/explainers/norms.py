"""Normalization: exact sums of integers, then one real map of each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand
from .grids import on_grid, quantized_after
from .requantization import round_and_clamp

_BATCH = ("batch_norm", "batch_norm1d", "batch_norm2d", "batch_norm3d")


def _parameter(draft: Draft, name: str, channel: int, missing: float) -> Operand:
    given = draft.record.arguments[name]
    number = np.float32(missing) if given is None else np.float32(given.array[channel])
    return Operand(name, number)


@explains(*(f"quantized.{name}{relu}" for name in _BATCH for relu in ("", "_relu")))
def batch_norm(draft: Draft) -> None:
    """Slope and offset of the channel, one fused multiply-add."""
    steps, out, x = draft.steps, draft.output, draft.argument("qx")
    channel = draft.index[1]
    q = draft.element("x", x, draft.index)
    weight = _parameter(draft, "weight", channel, 1)
    bias = _parameter(draft, "bias", channel, 0)
    mean, variance = (_parameter(draft, name, channel, 0) for name in ("mean", "var"))
    eps = Operand("eps", np.float32(draft.record.arguments["eps"]))
    total = steps.add("variance and eps", "plus32", variance, eps, symbol="e")
    root = steps.add("its root", "root32", total, symbol="d")
    inverse = steps.add("reciprocal", "reciprocal32", root, symbol="i")
    slope = steps.add("slope", "times32", inverse, weight, symbol="a")
    product = steps.add("mean times slope", "times32", mean, slope, symbol="m")
    offset = steps.add("offset", "minus32", bias, product, symbol="b")
    s_x, s_y = Operand("s_x", np.float64(x.scale)), Operand("s_y", np.float64(out.scale))
    label = "eq-batch-norm-coefficients"
    scaled = steps.add("slope in units of the input", "times64", slope, s_x, symbol="a'")
    wide = steps.add("and of the output", "over64", scaled, s_y, symbol="a''")
    alpha = steps.add("slope in integers", "single", wide, symbol="alpha", label=label)
    wide = steps.add("offset in units of the output", "over64", offset, s_y, symbol="b'")
    beta = steps.add("offset in integers", "single", wide, symbol="beta", label=label)
    zero = Operand("z_x", x.zero_point)
    centred = steps.add("less the zero point", "difference", q, zero, symbol="c")
    single = steps.add("as float32", "single", centred, symbol="f")
    value = steps.add("in units of the output", "fma32", alpha, single, beta, symbol="v")
    relu, grid = draft.record.operation.endswith("_relu"), out.quantizer.grid
    low = grid.lowest[0] if relu else grid.quant_min
    ends = low, grid.quant_max, "eq-quantized-batch-norm", relu
    draft.dequantized(round_and_clamp(draft, value, out.zero_point, *ends), out)


def _normalized(
    draft: Draft, x: Value, places: np.ndarray, weight: Any, bias: Any, label: str
) -> None:
    """One element of a row: ``places`` are those of the row."""
    steps, out = draft.steps, draft.output
    q = Operand("x", x.number(draft.index))
    row = draft.elements("x", x, places)
    n = Operand("n", np.float32(places.size))
    sums = [("sum", "S"), ("sum of squares", "Q")]
    means = []
    for rule, symbol in sums:
        total = steps.add(rule, rule, row, symbol=symbol)
        single = steps.add("as float32", "single", total, symbol="f")
        name = "mean" if symbol == "S" else "mean of squares"
        means.append(steps.add(name, "over32", single, n, symbol=f"m_{symbol}"))
    minus = steps.add("minus the mean", "negative32", means[0], symbol="-m")
    variance = steps.add("variance", "fma32", minus, means[0], means[1], symbol="v")
    zero = Operand("0", np.float32(0))
    variance = steps.add(
        "not negative", "max32", variance, zero, symbol="v", label="eq-quantized-moments"
    )
    s = steps.single("scale", "s", x.scale)
    once = steps.add("times the scale", "times32", variance, s, symbol="v s")
    twice = steps.add("and again", "times32", once, s, symbol="v s s")
    eps = Operand("eps", np.float32(draft.record.arguments["eps"]))
    total = steps.add("variance and eps", "plus32", twice, eps, symbol="e")
    root = steps.add("its root", "root32", total, symbol="d")
    inverse = steps.add("factor", "over32", s, root, symbol="i")
    single = steps.add("element as float32", "single", q, symbol="f_x")
    centred = steps.add("less the mean", "minus32", single, means[0], symbol="c")
    y = steps.add(
        "normalized", "times32", centred, inverse, symbol="y", label="eq-quantized-standardize"
    )
    if weight is not None or bias is not None:
        w = Operand("w", np.float32(1 if weight is None else weight))
        b = Operand("b", np.float32(0 if bias is None else bias))
        y = steps.add("weight and bias", "fma32", y, w, b, symbol="g", label=label)
    narrow = np.dtype(out.quantizer.grid.storage).itemsize == 1
    result = quantized_after(draft, y, out) if narrow else on_grid(draft, y, out)
    draft.dequantized(result, out)


@explains("quantized.layer_norm")
def layer_norm(draft: Draft) -> None:
    """The last axes together."""
    given, x = draft.record.arguments, draft.argument("input")
    lengths = given["normalized_shape"]
    count = len(lengths) if isinstance(lengths, list | tuple) else 1
    front, place = draft.index[:-count], draft.index[-count:]
    places = np.arange(x.array.size).reshape(x.shape)[front].ravel()
    factors = [
        None if given[name] is None else given[name].array.reshape(x.shape[-count:])[place]
        for name in ("weight", "bias")
    ]
    _normalized(draft, x, places, factors[0], factors[1], "eq-quantized-layer-norm")


@explains("quantized.group_norm", "quantized.instance_norm")
def group_norm(draft: Draft) -> None:
    """The channels of a group together; of an instance norm each has its own."""
    given, x = draft.record.arguments, draft.argument("input")
    groups = int(given.get("num_groups", x.shape[1]))
    image, channel = draft.index[:2]
    width = x.shape[1] // groups
    group = channel // width
    every = np.arange(x.array.size).reshape(x.shape)
    places = every[image, group * width : (group + 1) * width].ravel()
    factors = [
        None if given[name] is None else given[name].array[channel] for name in ("weight", "bias")
    ]
    _normalized(draft, x, places, factors[0], factors[1], "eq-quantized-group-norm")
