"""Fake quantization: the number that is left, and whether its gradient passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand
from .dynamic import chosen_of_range
from .ranges import batch_extremes, moving_range


def _parameter(value: Any, channel: int | None) -> float:
    array = value.array if isinstance(value, Value) else np.asarray(value)
    flat = array.reshape(-1)
    return float(flat[0 if channel is None or flat.size == 1 else channel])


@explains("fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine")
def fake_quantize(draft: Draft) -> None:
    """Quantize and dequantize; the gradient passes where nothing was clamped."""
    given, steps = draft.record.arguments, draft.steps
    per_channel = "per_channel" in draft.record.operation
    channel = draft.index[given["axis"]] if per_channel else None
    scale = steps.single("scale", "s", _parameter(given["scale"], channel))
    zero_point = _parameter(given["zero_point"], channel)
    on_grid_and_back(draft, scale, Operand("z", np.float32(zero_point)), per_channel)


def on_grid_and_back(draft: Draft, s: Operand, zero_point: Operand, per_channel: bool) -> None:
    """One number, quantized and dequantized with a scale and a zero point."""
    given, steps = draft.record.arguments, draft.steps
    x = draft.element("x", draft.argument("input", "self"), draft.index)
    label = "eq-fake-quantize-channel" if per_channel else "eq-fake-quantize"
    inverse = steps.add("reciprocal", "reciprocal32", s, symbol="i", label="eq-reciprocal")
    z = replace(zero_point, value=np.float32(zero_point.value))
    whole = replace(zero_point, value=_whole(float(zero_point.value)))
    wide = "64" if isinstance(x.value, np.float64) else "32"
    if draft.record.settings["conventions"] == "torch":
        product = steps.add("in steps", f"times{wide}", x, inverse, symbol="t")
        rounded = steps.add("rounded", "half even", product, symbol="r")
        position = steps.add("zero point added", "plus", rounded, whole, symbol="v")
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
    difference = steps.add("less the zero point", "difference", clamped, whole, symbol="d")
    product = steps.add("times the scale", "times64", difference, s, symbol="p")
    y = steps.add("real number", "single", product, symbol="y")
    if wide == "64":
        steps.add("as float64", "double", y, symbol="y")


_LEARNABLE = "_fake_quantize_learnable_"


@explains(f"{_LEARNABLE}per_tensor_affine", f"{_LEARNABLE}per_channel_affine")
def learnable(draft: Draft) -> None:
    """Explain a learned scale and zero point: the zero point is rounded first."""
    given, steps = draft.record.arguments, draft.steps
    per_channel = "per_channel" in draft.record.operation
    channel = draft.index[given["axis"]] if per_channel else None
    scale = steps.single("scale", "s", _parameter(given["scale"], channel))
    learned = Operand("z'", np.float64(_parameter(given["zero_point"], channel)))
    ends = Operand("q_min", int(given["quant_min"])), Operand("q_max", int(given["quant_max"]))
    rounded = steps.add("zero point rounded", "half even", learned, symbol="r_z")
    label = "eq-learnable-zero-point"
    z = steps.add("zero point", "clamp", rounded, *ends, symbol="z", label=label)
    on_grid_and_back(draft, scale, z, per_channel)


def _whole(zero_point: float) -> int | np.float32:
    return int(zero_point) if zero_point == int(zero_point) else np.float32(zero_point)


@explains("fused_moving_avg_obs_fake_quant")
def fused(draft: Draft) -> None:
    """Observe, choose scale and zero point, quantize and dequantize (``eq-fused-observe``)."""
    given, steps = draft.record.arguments, draft.steps
    x, per_row = given["input"], bool(given["per_row_fake_quant"])
    axis = int(given["ch_axis"]) % max(len(x.shape), 1)
    channel = draft.index[axis] if per_row else None
    before = [_end(given[name], channel) for name in ("running_min", "running_max")]
    ends: tuple[Operand, Operand]
    if _is_on(given["observer_on"]):
        steps.section = "the range"
        batch = batch_extremes(draft, x, axis if per_row else None, channel)
        constant = np.float32(given["averaging_const"])
        ends = moving_range(draft, before, batch, constant, "eq-fused-average")
    else:
        ends = Operand("x_min", before[0]), Operand("x_max", before[1])
        draft.notes.append("the observer is off: the range is the one from before")
    steps.section = "scale and zero point"
    scale, zero_point = _chosen(draft, *ends)
    steps.section = "quantized and back"
    on_grid_and_back(draft, scale, zero_point, per_row)


def _is_on(switch: Any) -> bool:
    return bool(np.asarray(switch.array if isinstance(switch, Value) else switch).item() == 1)


def _end(running: Value, channel: int | None) -> np.float32:
    """One end of a running range; that of a channel that was never observed is infinite."""
    if running.array.size == 0:
        return np.float32(np.inf)
    return np.float32(_parameter(running, channel))


def _chosen(draft: Draft, low: Operand, high: Operand) -> tuple[Operand, Operand]:
    """Scale and zero point as the fused observer chooses them."""
    given, steps = draft.record.arguments, draft.steps
    least, most = int(given["quant_min"]), int(given["quant_max"])
    if low.value == high.value and draft.record.settings["conventions"] == "documented":
        scale = steps.add("scale of one point", "single", Operand("1", 1), symbol="s")
        return scale, steps.add("zero point of one point", "take", Operand("0", 0), symbol="z")
    centred = bool(given["symmetric_quant"]) and low.value < 0 < high.value
    if centred:
        half = (most - least) // 2
        sides = []
        for end, count, symbol in ((low, half + 1, "l"), (high, half, "h")):
            words = Operand("n", np.float32(-count if end is low else count))
            sides.append(steps.add("step of this side", "over32", end, words, symbol=symbol))
        step = steps.add("larger step", "max32", *sides, symbol="S", label="eq-symmetric-range")
        counts = Operand("n", np.float32(-half - 1)), Operand("n", np.float32(half))
        low = steps.add("low end, widened", "times32", counts[0], step, symbol="x_min")
        high = steps.add("high end, widened", "times32", counts[1], step, symbol="x_max")
    zero = Operand("0", np.float64(0))
    low = steps.add("not above zero", "min64", low, zero, symbol="x-")
    high = steps.add("not below zero", "max64", high, zero, symbol="x+")
    return chosen_of_range(draft, low, high, least, most, centred, single=True)
