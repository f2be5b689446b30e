"""Observers: why the scale is what it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes import per_channel_affine_float_qparams, quint8, uint8
from ...numerics.histogram import Histogram, candidate_ranges, quantization_error
from ...numerics.qparams import symmetric_zero_point
from ..draft import Draft, Table, explains
from ..record import Record
from ..steps import Operand
from .ranges import batch_extremes, extremes_so_far, moving_range, where_extremes_lie

Ends = tuple[Operand, Operand]
_ENDS = ("min_val", "max_val")


@explains("observer")
def observer(draft: Draft) -> None:
    """The extremes of the batch, the range that is remembered, the scale and the zero point."""
    given, steps = draft.record.arguments, draft.steps
    layer, after = given["observer"], given["after"]
    if {"scale", "zero_point"} <= after.keys():
        _fixed(draft, after)
        return
    if not after.keys() >= set(_ENDS) or not hasattr(layer, "_from_range"):
        raise LookupError(
            f"why: {draft.record.layer} ({type(layer).__name__}) keeps no range that a scale "
            "follows from; ask for an observer that does"
        )
    history: Sequence[Record] = given["history"]
    number = history.index(draft.record) + 1
    steps.section = f"batch {number} of {len(history)}, in the order of this recording"
    ends = _range(draft, layer)
    if "histogram" in after and ends[0].value < ends[1].value:
        steps.section = "the search for the range that costs least"
        ends = _searched(draft, layer, ends)
    steps.section = "scale and zero point"
    low, high = (np.atleast_1d(each.value) for each in ends)
    scale, _ = layer._from_range(low, high)
    draft.stored = np.float32(np.asarray(scale).ravel()[0])
    _scale_of_range(draft, layer, *ends)


def _fixed(draft: Draft, after: dict[str, Any]) -> None:
    """A scale that no batch changes."""
    draft.stored = np.float32(after["scale"].ravel()[0])
    z = Operand("z", int(after["zero_point"].ravel()[0]))
    scale = draft.steps.add("fixed scale", "single", Operand("s", draft.stored), symbol="s")
    draft.answer = scale.step
    draft.steps.add("fixed zero point", "take", z, symbol="z")
    draft.notes.append("scale and zero point are fixed: the data does not change them")


def _remembered(state: dict[str, Any], channel: int | None) -> list[np.float32]:
    """A range that was kept: of a channel, or of all; infinite before any data."""
    ends = [state[name] for name in _ENDS]
    if any(each.size == 0 for each in ends):
        return [np.float32(np.inf), np.float32(-np.inf)]
    return [np.float32(each if channel is None else each[channel]) for each in ends]


def _range(draft: Draft, layer: Any) -> Ends:
    """The range that the observer remembers after this batch, and what made it so."""
    given, steps = draft.record.arguments, draft.steps
    channel = draft.index[0] if draft.index else None
    axis = None if channel is None else int(layer.ch_axis)
    before, after = (_remembered(given[name], channel) for name in ("before", "after"))
    kept = Operand("x_min", after[0]), Operand("x_max", after[1])
    x = given["x"]
    if not x.array.size:
        draft.notes.append("the batch is empty: the range stays")
        return kept
    batch = batch_extremes(draft, x, axis, channel)
    first = len(steps)
    if "histogram" in given["after"]:
        ends = extremes_so_far(draft, before, batch, "eq-histogram-merge")
    elif hasattr(layer, "averaging_constant"):
        constant = np.float32(layer.averaging_constant)
        ends = moving_range(draft, before, batch, constant, "eq-average-range")
    else:
        ends = extremes_so_far(draft, before, batch, "eq-running-range")
    if any(a.value != b.value for a, b in zip(ends, kept, strict=True)):
        del steps[first:]
        draft.notes.append(f"{type(layer).__name__} found its range in a way of its own")
        return kept
    if not hasattr(layer, "averaging_constant"):
        _who_set(draft, axis, channel)
    return ends


def _who_set(draft: Draft, axis: int | None, channel: int | None) -> None:
    """Note the batch and the place that each end comes from."""
    history = draft.record.arguments["history"]
    history = history[: history.index(draft.record) + 1]
    for end, name in enumerate(("smallest", "largest")):
        found = "was known before this recording"
        for number, record in reversed(list(enumerate(history, 1))):
            given = record.arguments
            old, new = (_remembered(given[each], channel)[end] for each in ("before", "after"))
            if old != new:
                place = where_extremes_lie(given["x"], axis, channel)[end]
                found = f"comes from batch {number}, at {place}"
                break
        draft.notes.append(f"the {name} number so far {found}")


def _searched(draft: Draft, layer: Any, ends: Ends) -> Ends:
    """The part of a range that the search of a histogram leaves, and the ranges it tried."""
    steps, low, high = draft.steps, *ends
    counts = draft.record.arguments["after"]["histogram"]
    seen = Histogram(counts, float(low.value), float(high.value))
    bins, target = counts.size, int(layer.dst_nbins)
    tried = list(candidate_ranges(seen, target))
    taken = [each for each in tried if each.is_taken]
    first, last = (taken[-1].first, taken[-1].last) if taken else (0, bins - 1)
    width = np.float32(high.value - low.value) / np.float32(bins)
    rows = [
        (low.value, high.value, np.float64(quantization_error(seen, 0, bins - 1, target)), "whole")
    ]
    for each in tried:
        word = "taken" if each.is_taken else "grows: end"
        word = "chosen" if taken and each is taken[-1] else word
        at = (
            low.value + width * np.float32(each.first),
            low.value + width * np.float32(each.last + 1),
        )
        rows.append((*at, np.float64(each.error), word))
    title = f"{len(tried)} ranges were tried, by their expected squared error"
    draft.tables.append(Table(title, ("from", "to", "loss", ""), tuple(rows)))
    whole = steps.add("width of the range", "minus32", high, low, symbol="R")
    of_bin = steps.add(
        "width of a bin", "over32", whole, Operand("n", np.float32(bins)), symbol="w"
    )
    found = []
    for name, symbol, place in (("low", "x_min", first), ("high", "x_max", last + 1)):
        bin_ = Operand("k", np.float32(place))
        part = steps.add(f"up to the {name} end", "times32", of_bin, bin_, symbol="e")
        steps.decide(f"bin {place} of {bins}")
        label = "eq-histogram-search"
        found.append(steps.add(f"{name} end", "plus32", low, part, symbol=symbol, label=label))
    return found[0], found[1]


def _scale_of_range(draft: Draft, layer: Any, low: Operand, high: Operand) -> None:
    steps, quant_min, quant_max = draft.steps, int(layer.quant_min), int(layer.quant_max)
    zero, eps = Operand("0", np.float32(0)), Operand("eps", np.float32(layer.eps.item()))
    if layer.qscheme is per_channel_affine_float_qparams:
        _float_parameters(draft, low, high, eps, quant_max - quant_min)
        return
    if draft.stored == 1 and low.value == high.value:
        scale = steps.add("scale of one point", "single", Operand("1", 1), symbol="s")
        draft.answer = scale.step
        steps.add("zero point", "take", Operand("0", 0), symbol="z", label="eq-choose-qparams")
        return
    bottom = steps.add("not above zero", "min32", low, zero, symbol="x-")
    top = steps.add("not below zero", "max32", high, zero, symbol="x+")
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
    if ratio.value < eps.value:
        steps.decide("the smallest scale that the observer allows")
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


def _float_parameters(draft: Draft, low: Operand, high: Operand, eps: Operand, span: int) -> None:
    """Scale and real zero point, for embeddings (``eq-float-qparams``)."""
    steps = draft.steps
    width = steps.add("width of the range", "minus32", high, low, symbol="R")
    count = Operand("(q_max - q_min)", np.float32(span))
    scale = steps.add("scale", "over32", width, count, symbol="s", label="eq-float-qparams")
    if not scale.value > eps.value:
        steps.decide(f"not above {eps.value:.6g}: 1 instead")
        scale = steps.add("scale", "single", Operand("1", 1), symbol="s")
    draft.answer = scale.step
    mirrored = steps.add("minus the low end", "negative32", low, symbol="l")
    steps.add("zero point", "over32", mirrored, scale, symbol="z", label="eq-float-qparams")
