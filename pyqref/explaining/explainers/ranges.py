"""Ranges that observers find: the extremes of a batch, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..draft import Draft
from ..record import Value
from ..steps import Operand

__all__ = ["batch_extremes", "extremes_so_far", "moving_range", "where_extremes_lie"]

_KINDS = (("lowest", "min X", np.argmin), ("highest", "max X", np.argmax))


def _numbers(x: Value, axis: int | None, channel: int | None) -> tuple[Any, Any]:
    """The numbers of a batch, or of one of its channels, as float32; and their positions."""
    array = x.array.astype(np.float32, copy=False)
    places = np.arange(array.size).reshape(x.shape)
    if channel is not None:
        assert axis is not None
        array, places = (np.take(each, channel, axis) for each in (array, places))
    return array, places


def where_extremes_lie(x: Value, axis: int | None, channel: int | None) -> list[list[int]]:
    """The places of the lowest and of the highest number."""
    array, places = _numbers(x, axis, channel)
    chosen = (places.reshape(-1)[int(find(array))] for _, _, find in _KINDS)
    return [[int(each) for each in np.unravel_index(place, x.shape)] for place in chosen]


def batch_extremes(
    draft: Draft, x: Value, axis: int | None = None, channel: int | None = None
) -> tuple[Operand, Operand]:
    """Extremes of a batch, or of one of its channels, and where they lie."""
    array, _ = _numbers(x, axis, channel)
    row = Operand("X", array)
    ends = []
    for (rule, symbol, _), at in zip(_KINDS, where_extremes_lie(x, axis, channel), strict=True):
        place = np.ravel_multi_index(at, x.shape) if at else 0
        draft.elements(symbol, x, np.array([place]))
        ends.append(draft.steps.add(f"{rule} of the batch", rule, row, symbol=symbol))
        draft.steps.decide(f"at {at}")
    return ends[0], ends[1]


def extremes_so_far(
    draft: Draft, before: Sequence[np.float32], batch: Sequence[Operand], label: str
) -> tuple[Operand, Operand]:
    """The smallest and the largest number of the batches up to this one."""
    kinds = (("smallest so far", "min32", "x_min"), ("largest so far", "max32", "x_max"))
    ends = []
    for (name, rule, symbol), old, new in zip(kinds, before, batch, strict=True):
        known = () if np.isinf(old) else (Operand(f"{symbol}_old", old),)
        used = rule if known else "single"
        ends.append(draft.steps.add(name, used, *known, new, symbol=symbol, label=label))
    return ends[0], ends[1]


def moving_range(
    draft: Draft,
    before: Sequence[np.float32],
    batch: Sequence[Operand],
    constant: np.float32,
    label: str,
) -> tuple[Operand, Operand]:
    """The moving average of the ends; a first batch is taken as it is."""
    steps, ends = draft.steps, []
    for name, symbol, old, new in zip(
        ("low end", "high end"), ("x_min", "x_max"), before, batch, strict=True
    ):
        if np.isinf(old):
            end = steps.add(f"{name} of the first batch", "single", new, symbol=symbol, label=label)
        else:
            known = Operand(f"{symbol}_old", old)
            step = steps.add(f"how far the {name} is away", "minus32", new, known, symbol="d")
            part = steps.add("the part of it", "times32", Operand("c", constant), step, symbol="e")
            end = steps.add(f"{name} moved", "plus32", known, part, symbol=symbol, label=label)
        ends.append(end)
    return ends[0], ends[1]
