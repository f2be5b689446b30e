"""Element by element: sums, products, ReLU and other clamps, activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.elementwise import zero_is_coarse
from ..draft import Draft, Elsewhere, explains
from ..elsewhere import clamped_elsewhere, near, quantized_elsewhere
from ..record import Value
from ..steps import Operand
from .grids import on_grid, quantized, quantized_after
from .requantization import round_and_clamp

__all__ = ["dequantized_fused"]


def dequantized_fused(
    draft: Draft, q: Operand, value: Value, symbol: str, exact_zero: bool = True
) -> Operand:
    """Dequantize by one fused multiply-add."""
    steps = draft.steps
    s = steps.single("scale", f"s_{symbol}", value.scale)
    z = Operand(f"z_{symbol}", value.zero_point)
    if exact_zero and q.value == value.zero_point:
        zero = steps.add("less the zero point", "difference", q, z, symbol=f"d_{symbol}")
        return steps.add(
            "real zero, exactly", "single", zero, symbol=symbol, label="eq-dequantize-fused"
        )
    shift = steps.add(
        "minus the zero point in reals",
        "times32",
        Operand(f"-z_{symbol}", np.float32(-value.zero_point)),
        s,
        symbol=f"o_{symbol}",
    )
    single = steps.add("as float32", "single", q, symbol=f"f_{symbol}")
    return steps.add(
        "real number", "fma32", single, s, shift, symbol=symbol, label="eq-dequantize-fused"
    )


def _pair(draft: Draft) -> tuple[Value, Value]:
    return draft.argument("qa"), draft.argument("qb")


def _of_two(method: str, draft: Draft, a: Value, b: Value, relu: bool) -> Elsewhere:
    """Return a function that computes the same two elements in another system."""
    left, right, out = near(a, draft), near(b, draft), draft.output.quantizer.grid
    given = left, a.quantizer.grid, right, b.quantizer.grid, out, relu
    return lambda model, note: getattr(model, method)(*given, note)


@explains("quantized.add", "quantized.add_relu")
def add(draft: Draft) -> None:
    """Dequantize both, add, quantize; on qnnpack in integers."""
    a, b = _pair(draft)
    if not isinstance(a, Value) or not isinstance(b, Value):
        add_number(draft)
        return
    out, relu = draft.output, draft.record.operation.endswith("_relu")
    qa = draft.element("a", a, draft.aligned(a, draft.index))
    qb = draft.element("b", b, draft.aligned(b, draft.index))
    draft.elsewhere = _of_two("add", draft, a, b, relu)
    if draft.engine == "qnnpack" and np.dtype(out.quantizer.grid.storage) == np.uint8:
        _add_fixed_point(draft, (qa, a), (qb, b), out, relu)
        return
    exact_zero = zero_is_coarse(a.quantizer.grid, b.quantizer.grid, out.quantizer.grid)
    left = dequantized_fused(draft, qa, a, "A", exact_zero)
    right = dequantized_fused(draft, qb, b, "B", exact_zero)
    total = draft.steps.add("sum", "plus32", left, right, symbol="t", label="eq-quantized-add")
    q = quantized_after(draft, total, out, relu=relu)
    draft.dequantized(q, out)


def _add_fixed_point(
    draft: Draft, left: tuple[Operand, Value], right: tuple[Operand, Value], out: Value, relu: bool
) -> None:
    """The ratios of the scales as integers with a common shift."""
    steps = draft.steps
    s_y = steps.single("scale of the output", "s_y", out.scale)
    ratios = []
    for symbol, (_, value) in (("a", left), ("b", right)):
        s = steps.single("scale", f"s_{symbol}", value.scale)
        ratios.append(steps.add("ratio of scales", "over32", s, s_y, symbol=f"r_{symbol}"))
    shift = 22 - int(np.frexp(max(each.value for each in ratios))[1])
    terms = []
    for symbol, ratio, (q, value) in zip("ab", ratios, (left, right), strict=True):
        power = Operand("2^t", np.float64(2.0**shift))
        scaled = steps.add("in units of 2^-t", "times64", ratio, power, symbol=f"p_{symbol}")
        factor = steps.add("multiplier", "half even", scaled, symbol=f"m_{symbol}")
        z = Operand(f"z_{symbol}", value.zero_point)
        centred = steps.add("less the zero point", "difference", q, z, symbol=f"d_{symbol}")
        terms.append(steps.add("product", "times", factor, centred, symbol=f"t_{symbol}"))
    total = steps.add("sum", "plus", *terms, symbol="t", label="eq-add-fixed-point")
    if shift < 0:
        more = Operand("2^-t", 2**-shift)
        total = steps.add("shifted left", "times", total, more, symbol="t'")
        shift = 0
    rounded = steps.add(
        "shifted right, rounded",
        "right shift",
        total,
        Operand("t", min(shift, 62)),
        symbol="r",
        label="eq-round-shift-right",
    )
    z_y = Operand("z_y", out.zero_point)
    shifted = steps.add("zero point added", "plus", rounded, z_y, symbol="p")
    grid = out.quantizer.grid
    low = grid.lowest[0] if relu else grid.quant_min
    ends = Operand("low", low), Operand("high", grid.quant_max)
    draft.dequantized(steps.add("clamped", "clamp", shifted, *ends, symbol="q"), out)


@explains("quantized.mul", "quantized.mul_relu")
def mul(draft: Draft) -> None:
    """A product of integers, and one multiplier."""
    a, b = _pair(draft)
    if not isinstance(a, Value) or not isinstance(b, Value):
        multiply_by_number(draft)
        return
    steps, out, relu = draft.steps, draft.output, draft.record.operation.endswith("_relu")
    draft.elsewhere = _of_two("mul", draft, a, b, relu)
    centred, scales = [], []
    for symbol, value in (("a", a), ("b", b)):
        q = draft.element(symbol, value, draft.aligned(value, draft.index))
        z = Operand(f"z_{symbol}", value.zero_point)
        centred.append(steps.add("less the zero point", "difference", q, z, symbol=f"d_{symbol}"))
        scales.append(steps.single("scale", f"s_{symbol}", value.scale))
    product = steps.add("product", "times", *centred, symbol="p")
    unit = steps.add("unit of the product", "times32", *scales, symbol="A")
    s_y = steps.single("scale of the output", "s_y", out.scale)
    inverse = steps.add("reciprocal", "reciprocal32", s_y, symbol="i_y", label="eq-reciprocal")
    multiplier = steps.add("multiplier", "times32", unit, inverse, symbol="M")
    single = steps.add("as float32", "single", product, symbol="f")
    scaled = steps.add("in units of the output", "times32", single, multiplier, symbol="v")
    grid = out.quantizer.grid
    low = grid.lowest[0] if relu else grid.quant_min
    q = round_and_clamp(
        draft, scaled, out.zero_point, low, grid.quant_max, "eq-quantized-mul", relu
    )
    draft.dequantized(q, out)


def _number_and_tensor(draft: Draft) -> tuple[Value, float]:
    arguments = draft.record.arguments
    given = arguments["qa"], arguments["b"] if "b" in arguments else arguments["qb"]
    first, second = given if isinstance(given[0], Value) else given[::-1]
    return first, float(second)


def _relu_after(draft: Draft, q: Operand) -> Operand:
    if draft.record.operation.endswith("_relu"):
        zero = Operand("z_y", draft.output.zero_point)
        q = draft.steps.add("ReLU", "max", q, zero, symbol="q", label="eq-quantized-relu")
    return q


@explains("quantized.add_scalar", "quantized.add_scalar_relu")
def add_number(draft: Draft) -> None:
    """The zero point moves; where it would leave the range, the scale grows."""
    x, number = _number_and_tensor(draft)
    steps, grid, out = draft.steps, x.quantizer.grid, draft.output
    q = draft.element("x", x, draft.index)
    s = Operand("s", np.float64(grid.scale))
    ratio = steps.add("in steps", "over64", Operand("c", np.float64(number)), s, symbol="t")
    rounded = steps.add("rounded", "half even", ratio, symbol="r", label="eq-round-half-even")
    zero = Operand("z", grid.zero_point)
    moved = steps.add(
        "zero point moved", "difference", zero, rounded, symbol="z'", label="eq-add-scalar"
    )
    if out.scale == grid.scale:
        q = steps.add("integer kept", "take", q, symbol="q")
    else:
        steps.decide("beyond the range: the scale grows")
        new = steps.single("new scale", "s''", out.scale)
        inverse = steps.add("reciprocal", "reciprocal32", new, symbol="i")
        old = steps.single("scale", "s", grid.scale)
        multiplier = steps.add("multiplier", "times32", old, inverse, symbol="M")
        centred = steps.add("less the zero point", "difference", q, moved, symbol="d")
        single = steps.add("as float32", "single", centred, symbol="f")
        value = steps.add("in new steps", "times32", single, multiplier, symbol="v")
        ends = grid.quant_min, grid.quant_max
        q = round_and_clamp(draft, value, out.zero_point, *ends, "eq-add-scalar")
    draft.dequantized(_relu_after(draft, q), out)


@explains("quantized.mul_scalar", "quantized.mul_scalar_relu")
def multiply_by_number(draft: Draft) -> None:
    """The scale changes; a negative number turns the integers over."""
    x, number = _number_and_tensor(draft)
    steps, grid, out = draft.steps, x.quantizer.grid, draft.output
    q = draft.element("x", x, draft.index)
    if number > 0:
        q = steps.add("integer kept", "take", q, symbol="q", label="eq-mul-scalar")
    elif number < 0:
        mirror = Operand("q_min + q_max", grid.quant_min + grid.quant_max)
        q = steps.add("turned over", "difference", mirror, q, symbol="q", label="eq-mul-scalar")
    else:
        zero = Operand("c", 0)
        q = steps.add("zero", "times", q, zero, symbol="q", label="eq-mul-scalar")
    draft.dequantized(_relu_after(draft, q), out)


@explains("Relu", "quantized.relu")
def relu(draft: Draft) -> None:
    """No integer below the zero point."""
    x = draft.argument("tensor", "qx")
    q = draft.element("x", x, draft.index)
    zero = Operand("z", x.zero_point)
    q = draft.steps.add("ReLU", "max", q, zero, symbol="q", label="eq-quantized-relu")
    draft.steps.decide(
        "raised to zero"
        if q.value != draft.sources[0].value.number(draft.index)
        else "not below zero: kept"
    )
    draft.dequantized(q, draft.output)


def _clamped(draft: Draft, x: Value, low: Any, high: Any, label: str) -> None:
    steps, grid = draft.steps, x.quantizer.grid
    q = draft.element("x", x, draft.index)
    draft.elsewhere = clamped_elsewhere(q.value, grid, {"low": low, "high": high})
    for rule, symbol, bound in (("max", "low", low), ("min", "high", high)):
        if bound is not None:
            on = Operand(symbol, np.float32(bound))
            wide = np.dtype(grid.storage).itemsize > 1
            ends = grid.quant_min, grid.quant_max
            edge = quantized(draft, on, grid.scale, grid.zero_point, *ends, wide)
            q = steps.add(f"held to {symbol}", rule, q, edge, symbol="q", label=label)
    draft.dequantized(q, draft.output)


@explains("Clamp", "Hardtanh", "quantized.clamp")
def clamp(draft: Draft) -> None:
    """Held to the integers of two real numbers."""
    given = draft.record.arguments
    x = draft.argument("tensor", "x", "qx")
    low = given["low"] if "low" in given else given["min"]
    high = given["high"] if "high" in given else given["max"]
    _clamped(draft, x, _real(low), _real(high), "eq-quantized-clamp")


def _real(bound: Any) -> float | None:
    if bound is None:
        return None
    number = float(bound.array) if isinstance(bound, Value) else float(bound)
    largest = float(np.finfo(np.float32).max)
    return min(max(number, -largest), largest)


@explains("quantized.relu6")
def relu6(draft: Draft) -> None:
    """Between zero and six."""
    x = draft.argument("qx")
    steps, grid = draft.steps, x.quantizer.grid
    q = draft.element("x", x, draft.index)
    draft.elsewhere = clamped_elsewhere(q.value, grid, {"low": 0.0, "high": 6.0})
    q = steps.add("ReLU", "max", q, Operand("z", x.zero_point), symbol="q")
    wide = np.dtype(grid.storage).itemsize > 1
    ends = grid.quant_min, grid.quant_max
    six = Operand("6", np.float32(6))
    edge = quantized(draft, six, grid.scale, grid.zero_point, *ends, wide)
    q = steps.add("held to 6", "min", q, edge, symbol="q", label="eq-quantized-relu6")
    draft.dequantized(q, draft.output)


@explains("MaskedFill")
def masked_fill(draft: Draft) -> None:
    """The quantized value where the mask holds."""
    given = draft.record.arguments
    x, mask = given["tensor"], given["mask"]
    if not np.broadcast_to(mask.array, x.shape)[draft.index]:
        q = draft.element("x", x, draft.index)
        q = draft.steps.add("mask is false: kept", "take", q, symbol="q")
    else:
        value = Operand("value", np.float32(_real(given["value"])))
        draft.elsewhere = quantized_elsewhere(value.value, draft.output.quantizer.grid)
        q = on_grid(draft, value, draft.output)
    draft.dequantized(q, draft.output)
