"""One change of one layer that was tried, and helped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..tensor import from_numpy
from .book import FOLDING, Entry, Ledger
from .float_forms import run_with_weight, then
from .hybrid import Hybrid, Trial
from .running import Call
from .stages import FLOAT, Stages, TensorQParams
from .values import is_quantized, on_floats

__all__ = ["advise"]

Measure = Callable[[Callable[[Hybrid, tuple[Any, ...]], Any]], Fraction]

ENTRIES = 4
"""Entries that are looked at, worst first."""
ENOUGH = Fraction(1, 2)
"""Part of an entry that a change must win back for no other to be tried."""


class Remedy(NamedTuple):
    """Something to try: in words, and what the layer then gives."""

    words: str
    trial: Trial


def advise(book: Ledger, hybrid: Hybrid, measure: Measure, places: Mapping[str, list[int]]) -> str:
    """Try changes of the worst layers, and say what the best one of the first that help gives."""
    written = book._metric.written
    for entry in book.worst()[:ENTRIES]:
        if entry.layer == FOLDING or book.harm(entry.change) <= 0 or entry.layer not in places:
            continue
        index = places[entry.layer][0]
        stages = hybrid.stages[hybrid.order[index]]
        best: tuple[Fraction, str, Fraction] | None = None
        for remedy in _remedies(entry, stages, hybrid, index, measure):
            value = _value(measure, index, remedy.trial)
            gain = book.harm(book.after - value)
            if gain > 0 and (best is None or gain > best[0]):
                best = gain, remedy.words, value
            if gain >= ENOUGH * book.harm(entry.change):
                break
        if best is not None:
            part = f"{100 * entry.share:.0f} % of the change is {entry.cause}"
            change = f"{written(book.after)} -> {written(best[2])}"
            return f"{entry.layer}: {part}: {best[1]} would give {book.metric} {change}."
    return ""


def _remedies(
    entry: Entry, stages: Stages, hybrid: Hybrid, index: int, measure: Measure
) -> list[Remedy]:
    """Return remedies that may help against a cause, the smallest change first."""
    found: list[Remedy] = []
    if entry.cause.startswith("weight") and stages.original is not None:
        axis = 1 if getattr(stages.packed, "transposed", False) else 0
        if is_quantized(stages.weight):
            if not stages.weight.qscheme().is_per_channel:
                found.append(Remedy("a scale per channel", _with_weight(stages, axis)))
            else:
                words = "quantizing its float weight again, per channel,"
                found.append(Remedy(words, _with_weight(stages, axis)))
        found.append(Remedy("its weight in float", _with_weight(stages, None)))
    elif entry.cause == "bias" and stages.original is not None:
        found.append(Remedy("the bias of the float model", _with_bias(stages)))
    elif entry.cause.startswith("activation") and stages.output is not None:
        low, high = _seen(hybrid, index, measure)
        grid = _covering(low, high, stages.output)
        words = f"an output range of [{low:.4g}, {high:.4g}], as seen here,"
        found.append(Remedy(words, _with_grid(grid)))
        found.append(Remedy("its output in float", _in_float("bias")))
    found.append(Remedy("the layer in float", _in_float(FLOAT)))
    return found


def _value(measure: Measure, index: int, trial: Trial) -> Fraction:
    return measure(lambda hybrid, inputs: hybrid.with_trial(inputs, index, trial))


def _put_back(stages: Stages, y: Any) -> Any:
    return y if stages.output is None else stages.on_grid(y, stages.output)


def _with_weight(stages: Stages, axis: int | None) -> Trial:
    """Another weight: the float one, or that on a symmetric grid for each channel."""
    assert stages.original is not None
    weight = stages.original.weight if axis is None else _per_channel(stages.original.weight, axis)

    def trial(stages: Stages, call: Call, args: Any, kwargs: Any) -> Any:
        return _put_back(stages, _run(stages, call, args, kwargs, weight, stages.bias))

    return trial


def _with_bias(stages: Stages) -> Trial:
    assert stages.original is not None
    bias = stages.original.bias

    def trial(stages: Stages, call: Call, args: Any, kwargs: Any) -> Any:
        weight, _ = stages.parameters("bias", args)
        return _put_back(stages, _run(stages, call, args, kwargs, weight, bias))

    return trial


def _run(stages: Stages, call: Call, args: Any, kwargs: Any, weight: Any, bias: Any) -> Any:
    assert stages.packed is not None
    floats = on_floats(args)
    y = run_with_weight(stages.packed, floats[0], weight, bias, stages.module)
    return then(call.what if stages.module is None else stages.module, floats, kwargs)(y)


def _with_grid(grid: TensorQParams) -> Trial:
    def trial(stages: Stages, call: Call, args: Any, kwargs: Any) -> Any:
        return stages.on_grid(stages.exact("bias", call, args, kwargs), grid)

    return trial


def _in_float(stage: str) -> Trial:
    def trial(stages: Stages, call: Call, args: Any, kwargs: Any) -> Any:
        return stages.exact(stage, call, args, kwargs)

    return trial


def _per_channel(weight: Any, axis: int) -> Any:
    """Rounded to 8 bits with a symmetric scale for each channel."""
    array = np.asarray(weight, dtype=np.float64)
    others = tuple(each for each in range(array.ndim) if each != axis)
    largest = np.abs(array).max(axis=others, keepdims=True)
    scale = np.where(largest == 0, 1.0, largest / 127.5)
    rounded = np.clip(np.rint(array / scale), -128, 127) * scale
    return from_numpy(rounded.astype(np.float32))


def _seen(hybrid: Hybrid, index: int, measure: Measure) -> tuple[float, float]:
    """The least and the largest number that the operation gives before it is quantized."""
    ends = [np.inf, -np.inf]

    def trial(stages: Stages, call: Call, args: Any, kwargs: Any) -> Any:
        array = np.asarray(stages.exact("bias", call, args, kwargs).detach())
        ends[0] = min(ends[0], float(array.min(initial=np.inf)))
        ends[1] = max(ends[1], float(array.max(initial=-np.inf)))
        return call.run(*args, **kwargs)

    measure(lambda hybrid, inputs: hybrid.with_trial(inputs, index, trial))
    return ends[0], ends[1]


def _covering(low: float, high: float, like: TensorQParams) -> TensorQParams:
    """The grid with the integers of another that covers a range, and zero."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = max((high - low) / (like.high - like.low), 1e-12)
    zero_point = int(np.clip(round(like.low - low / scale), like.low, like.high))
    return like._replace(scale=scale, zero_point=zero_point)
