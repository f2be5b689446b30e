"""Real functions on a grid: dequantize, apply, quantize."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.affine import quantize_per_tensor
from ..draft import Draft, Elsewhere, explains
from ..functions import FUNCTIONS
from ..record import Value
from ..steps import Operand
from .elementwise import dequantized_fused
from .grids import on_grid, quantized_after
from .requantization import round_and_clamp

__all__ = ["applied"]

_LABELS = {
    "sigmoid": "eq-logistic",
    "tanh": "eq-tanh",
    "hardsigmoid": "eq-hardsigmoid",
    "hardswish": "eq-hardswish",
    "elu": "eq-elu",
    "leaky_relu": "eq-leaky-relu",
    "threshold": "eq-threshold",
}


def applied(draft: Draft, name: str, x: Operand, *parameters: float) -> Operand:
    """A named function of a real number."""
    return draft.steps.add(
        f"{name} of it",
        "function",
        Operand(name, name),
        x,
        *(Operand(f"p{n}", np.float64(each)) for n, each in enumerate(parameters)),
        symbol="g",
        label=_LABELS.get(name, ""),
    )


def _elsewhere(draft: Draft, x: Value, name: str, *parameters: Any) -> Elsewhere:
    """Return a function that computes the same element in another system."""
    q, grids = x.array[draft.index], (x.quantizer.grid, draft.output.quantizer.grid)

    def compute(real: Any) -> Any:
        return FUNCTIONS[name](real, *parameters)

    return lambda model, note: model.function(np.array([q]), *grids, compute, note)


def _pointwise(draft: Draft, x: Value, name: str, parameters: Any, table: bool = False) -> None:
    """Compute it as vector code does; with ``table``, on qnnpack, as tables are filled."""
    out = draft.output
    q = draft.element("x", x, draft.index)
    bytes_ = np.dtype(out.quantizer.grid.storage)
    draft.elsewhere = _elsewhere(draft, x, name, *parameters)
    if table and draft.engine == "qnnpack" and bytes_ == np.uint8:
        y = applied(draft, name, draft.dequantized(q, x, "X"), *parameters)
        result = on_grid(draft, y, out)
    else:
        y = applied(draft, name, dequantized_fused(draft, q, x, "X"), *parameters)
        result = quantized_after(draft, y, out) if bytes_.itemsize == 1 else on_grid(draft, y, out)
    draft.dequantized(result, out)


@explains("quantized.sigmoid", "quantized.hardswish", "Hardsigmoid")
def with_table(draft: Draft) -> None:
    """Functions that qnnpack has tables for."""
    x = draft.argument("qx", "input", "x")
    name = draft.record.operation.rpartition(".")[2].lower()
    _pointwise(draft, x, name, (), table=True)


@explains("Sigmoid", "Tanh")
def fixed_range(draft: Draft) -> None:
    """Functions of a fixed range, on a fixed grid."""
    x = draft.argument("tensor")
    q = draft.element("x", x, draft.index)
    name = draft.record.operation.lower()
    draft.elsewhere = _elsewhere(draft, x, name)
    y = applied(draft, name, draft.dequantized(q, x, "X"))
    draft.dequantized(on_grid(draft, y, draft.output), draft.output)


@explains("Gelu")
def gelu(draft: Draft) -> None:
    """Dequantized, computed, quantized."""
    x = draft.argument("x")
    q = draft.element("x", x, draft.index)
    name = "gelu" if draft.record.arguments["approximate"] == "none" else "gelu_tanh"
    draft.elsewhere = _elsewhere(draft, x, name)
    y = applied(draft, name, draft.dequantized(q, x, "X"))
    draft.dequantized(on_grid(draft, y, draft.output), draft.output)


@explains("quantized.elu", "quantized.celu")
def elu(draft: Draft) -> None:
    """ELU, and CELU, which is ELU of a scaled argument."""
    given = draft.record.arguments
    alpha = float(given["alpha"])
    if draft.record.operation.endswith("celu"):
        parameters = (alpha, 1.0, 1 / alpha)
    else:
        parameters = (alpha, float(given["scale"]), float(given["input_scale"]))
    _pointwise(draft, draft.argument("self"), "elu", parameters)


@explains("quantized.leaky_relu", "LeakyRelu")
def leaky_relu(draft: Draft) -> None:
    """A smaller slope below zero."""
    x = draft.argument("qx", "x")
    _pointwise(draft, x, "leaky_relu", (float(draft.record.arguments["negative_slope"]),))


@explains("quantized.threshold", "Threshold")
def threshold(draft: Draft) -> None:
    """A constant for all that does not exceed a number."""
    given = draft.record.arguments
    parameters = float(given["threshold"]), float(given["value"])
    _pointwise(draft, draft.argument("qx", "x"), "threshold", parameters)


@explains("quantized.prelu")
def prelu(draft: Draft) -> None:
    """A quantized slope below zero."""
    x, weight = draft.argument("qx"), draft.argument("weight")
    steps, out = draft.steps, draft.output
    q = draft.element("x", x, draft.index)
    centred = steps.add(
        "less the zero point", "difference", q, Operand("z", x.zero_point), symbol="d"
    )
    channel = draft.index[1] if len(x.shape) > 1 else draft.index[0] if x.shape else 0
    place = channel if weight.array.size > 1 else 0
    slope = draft.element("w", weight, (place,) if weight.shape else ())
    z_w = Operand("z_w", weight.zero_point)
    factor = steps.add("slope less its zero point", "difference", slope, z_w, symbol="e")
    s_x = steps.single("scale", "s_x", x.scale)
    s_w = steps.single("scale of the slope", "s_w", weight.scale)
    unit = steps.add("unit of the product", "times32", s_x, s_w, symbol="A")
    s_y = steps.single("scale of the output", "s_y", out.scale)
    inverse = steps.add("reciprocal", "reciprocal32", s_y, symbol="i_y", label="eq-reciprocal")
    if centred.value > 0 and draft.record.settings["conventions"] == "torch":
        one = int(quantize_per_tensor(np.ones((), np.float32), *weight.quantizer.grid))
        factor = Operand("one", one - weight.zero_point)
    elif centred.value > 0:
        factor, unit = Operand("one", 1), s_x
    multiplier = steps.add("multiplier", "times32", unit, inverse, symbol="M")
    product = steps.add("product", "times", centred, factor, symbol="p")
    steps.decide("above zero: slope 1" if centred.value > 0 else "not above zero: the slope")
    single = steps.add("as float32", "single", product, symbol="f")
    value = steps.add("in units of the output", "times32", single, multiplier, symbol="v")
    grid = out.quantizer.grid
    ends = grid.quant_min, grid.quant_max
    result = round_and_clamp(draft, value, out.zero_point, *ends, "eq-quantized-prelu")
    draft.dequantized(result, out)
