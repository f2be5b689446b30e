"""Fake quantization: the number that is left, and whether its gradient passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand


def _parameter(value: Any, channel: int | None) -> float:
    array = value.array if isinstance(value, Value) else np.asarray(value)
    flat = array.reshape(-1)
    return float(flat[0 if channel is None or flat.size == 1 else channel])


@explains("fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine")
def fake_quantize(draft: Draft) -> None:
    """Quantize and dequantize; the gradient passes where nothing was clamped."""
    given, steps = draft.record.arguments, draft.steps
    x = draft.element("x", given["input"], draft.index)
    per_channel = "per_channel" in draft.record.operation
    channel = draft.index[given["axis"]] if per_channel else None
    label = "eq-fake-quantize-channel" if per_channel else "eq-fake-quantize"
    scale = _parameter(given["scale"], channel)
    zero_point = _parameter(given["zero_point"], channel)
    s = steps.single("scale", "s", scale)
    inverse = steps.add("reciprocal", "reciprocal32", s, symbol="i", label="eq-reciprocal")
    z = Operand("z", np.float32(zero_point))
    wide = "64" if isinstance(x.value, np.float64) else "32"
    if draft.record.settings["conventions"] == "torch":
        product = steps.add("in steps", f"times{wide}", x, inverse, symbol="t")
        rounded = steps.add("rounded", "half even", product, symbol="r")
        position = steps.add("zero point added", "plus", rounded, _whole(zero_point), symbol="v")
    elif per_channel or wide == "64":
        product = steps.add("in steps", f"times{wide}", x, inverse, symbol="t")
        shifted = steps.add("zero point added", f"plus{wide}", product, z, symbol="u")
        position = steps.add("rounded", "half even", shifted, symbol="v", label=label)
    else:
        shifted = steps.add("in steps, zero point added", "fma32", x, inverse, z, symbol="u")
        position = steps.add("rounded", "half even", shifted, symbol="v", label=label)
    low, high = int(given["quant_min"]), int(given["quant_max"])
    clamped = steps.add(
        "clamped",
        "clamp",
        position,
        Operand("low", low),
        Operand("high", high),
        symbol="q",
        label="eq-fake-quantize-mask",
    )
    passes = low <= position.value <= high
    steps.decide("so the gradient passes" if passes else "so the gradient is 0 here")
    difference = steps.add(
        "less the zero point", "difference", clamped, _whole(zero_point), symbol="d"
    )
    product = steps.add("times the scale", "times64", difference, s, symbol="p")
    y = steps.add("real number", "single", product, symbol="y")
    if wide == "64":
        steps.add("as float64", "double", y, symbol="y")


def _whole(zero_point: float) -> Operand:
    return Operand(
        "z", int(zero_point) if zero_point == int(zero_point) else np.float32(zero_point)
    )
