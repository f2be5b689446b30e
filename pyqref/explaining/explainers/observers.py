"""Observers: why the scale is what it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import quint8, uint8
from ...numerics.histogram import Histogram, search_range
from ...numerics.qparams import symmetric_zero_point
from ..draft import Draft, explains
from ..steps import Operand


@explains("observer")
def observer(draft: Draft) -> None:
    """The extremes of the batch, the range that is remembered, the scale and the zero point."""
    given = draft.record.arguments
    layer, after = given["observer"], given["after"]
    if "min_val" not in after or not hasattr(layer, "_from_range"):
        raise LookupError(
            f"why: {draft.record.layer} ({type(layer).__name__}) keeps no range that a scale "
            "follows from"
        )
    _batch(draft, layer)
    low, high = _range(draft, layer, after)
    scale, _ = layer._from_range(np.atleast_1d(low), np.atleast_1d(high))
    draft.stored = np.float32(np.asarray(scale).ravel()[0])
    _scale_of_range(draft, layer, np.float32(low), np.float32(high))


def _batch(draft: Draft, layer: Any) -> None:
    """Extremes of what came last, and where they lie."""
    x = draft.record.arguments["x"]
    array, places = x.array, np.arange(x.array.size).reshape(x.shape)
    if draft.index:
        axis = int(layer.ch_axis)
        array, places = (np.take(each, draft.index[0], axis) for each in (array, places))
    if not array.size:
        return
    for rule, symbol, find in (("lowest", "min X", np.argmin), ("highest", "max X", np.argmax)):
        draft.steps.add(f"{rule} of the batch", rule, Operand("X", array), symbol=symbol)
        at = np.unravel_index(places.reshape(-1)[int(find(array))], x.shape)
        draft.steps.decide(f"at {[int(each) for each in at]}")


def _range(draft: Draft, layer: Any, after: dict[str, Any]) -> tuple[Any, Any]:
    """The range that the observer remembers, or the part of it that a search left."""
    low, high = (after[name] for name in ("min_val", "max_val"))
    if draft.index:
        low, high = low[draft.index], high[draft.index]
    draft.notes.append(f"the range remembered is {float(low):.6g} to {float(high):.6g}")
    if "histogram" in after and low < high:
        seen = Histogram(after["histogram"], float(low), float(high))
        low, high = (np.float32(each) for each in search_range(seen, layer.dst_nbins))
        draft.notes.append(f"of it the search of the histogram leaves {low:.6g} to {high:.6g}")
    return low, high


def _scale_of_range(draft: Draft, layer: Any, low: np.float32, high: np.float32) -> None:
    steps, quant_min, quant_max = draft.steps, int(layer.quant_min), int(layer.quant_max)
    zero, eps = Operand("0", np.float32(0)), Operand("eps", np.float32(layer.eps.item()))
    if draft.stored == 1 and low == high:
        scale = steps.add("scale of one point", "single", Operand("1", 1), symbol="s")
        draft.answer = scale.step
        return
    bottom = steps.add("not above zero", "min32", Operand("x_min", low), zero, symbol="x-")
    top = steps.add("not below zero", "max32", Operand("x_max", high), zero, symbol="x+")
    symmetric = layer.qscheme.is_symmetric
    if symmetric:
        mirrored = steps.add("minus the low end", "negative32", bottom, symbol="-x-")
        width = steps.add("larger of both", "max32", mirrored, top, symbol="R")
        span = Operand("((q_max - q_min) / 2)", np.float32((quant_max - quant_min) / 2))
        label = "eq-symmetric-scale"
    else:
        width = steps.add("width of the range", "minus32", top, bottom, symbol="R")
        span = Operand("(q_max - q_min)", np.float32(quant_max - quant_min))
        label = "eq-affine-qparams"
    ratio = steps.add("width of a step", "over32", width, span, symbol="s'")
    scale = steps.add("scale", "max32", ratio, eps, symbol="s", label=label)
    draft.answer = scale.step
    if symmetric:
        chosen = (quant_min, quant_max) if layer.has_customized_qrange else (None, None)
        middle = symmetric_zero_point(layer.dtype not in (quint8, uint8), *chosen)
        label = "eq-symmetric-zero-point"
        steps.add("zero point", "take", Operand("middle", middle), symbol="z", label=label)
        return
    below = steps.add("low end in steps", "over32", bottom, scale, symbol="l")
    rounded = steps.add("rounded", "half even", below, symbol="r", label="eq-round-half-even")
    ends = Operand("q_min", quant_min), Operand("q_max", quant_max)
    shifted = steps.add("from the lowest integer", "difference", ends[0], rounded, symbol="p")
    steps.add("zero point", "clamp", shifted, *ends, symbol="z", label=label)
