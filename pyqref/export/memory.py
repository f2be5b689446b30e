"""Where the buffers of a plan lie in memory: the smallest peak that is found."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .plan import Buffer, Plan, Step, Value

__all__ = ["Life", "least_memory", "place", "placed"]

#: How many comparisons of buffers the search may take.
_EFFORT = 2_000_000


@dataclass(frozen=True)
class Life:
    """A buffer, from the step that first writes it to the one that last reads it.

    Examples
    --------
    >>> Life(0, 2, 10).meets(Life(2, 3, 10)), Life(0, 2, 10).meets(Life(3, 4, 10))
    (True, False)
    """

    first: int
    last: int
    size: int

    def meets(self, other: Life) -> bool:
        """Return True if there is a step at which both hold something."""
        return self.first <= other.last and other.first <= self.last


def least_memory(lives: Sequence[Life]) -> int:
    """Bytes that are held at once at some step, which no order of buffers goes below.

    Examples
    --------
    >>> least_memory([Life(0, 1, 4), Life(1, 2, 8), Life(2, 3, 4)])
    12
    """
    ends = [0] * (max((each.last for each in lives), default=0) + 2)
    for each in lives:
        ends[each.first] += each.size
        ends[each.last + 1] -= each.size
    return int(np.cumsum(ends).max(initial=0))


def placed(lives: Sequence[Life]) -> tuple[list[int], int]:
    """Offsets of buffers such that no two that are held at once overlap, and the peak.

    Each buffer goes into the lowest gap that is large enough, in several orders; it ends as soon
    as the peak is the least there can be.

    Examples
    --------
    >>> placed([Life(0, 1, 4), Life(1, 2, 8), Life(2, 3, 4)])
    ([8, 0, 8], 12)
    """
    least, numbers = least_memory(lives), range(len(lives))
    spans = [each.last - each.first + 1 for each in lives]
    order = sorted(numbers, key=lambda n: (-lives[n].size, -spans[n]))
    best = _in_order(lives, order)
    others = [
        sorted(numbers, key=lambda n: (-lives[n].size * spans[n], n)),
        sorted(numbers, key=lambda n: (-spans[n], -lives[n].size)),
        list(numbers),
    ]
    chance = random.Random(0)
    for attempt in range(min(400, _EFFORT // max(1, len(lives)) ** 2)):
        if best[1] == least:
            break
        if attempt >= len(others):  # the best order so far, with two buffers exchanged
            tried = list(order)
            one, other = chance.randrange(len(tried)), chance.randrange(len(tried))
            tried[one], tried[other] = tried[other], tried[one]
        else:
            tried = others[attempt]
        found = _in_order(lives, tried)
        if found[1] <= best[1]:
            best, order = found, tried
    return best


def _in_order(lives: Sequence[Life], order: Iterable[int]) -> tuple[list[int], int]:
    offsets, done, peak = [0] * len(lives), list[int](), 0
    for n in order:
        life, at = lives[n], 0
        taken = sorted((offsets[k], lives[k].size) for k in done if lives[k].meets(life))
        for offset, size in taken:
            if at + life.size <= offset:
                break
            at = max(at, offset + size)
        offsets[n] = at
        peak = max(peak, at + life.size)
        done.append(n)
    return offsets, peak


def place(plan: Plan) -> None:
    """Give every buffer of a plan its place, and the plan its peak.

    A step that may work in place does so where nothing reads its input later.
    """
    _put_outputs(plan)
    _merge(plan)
    spans: dict[int, tuple[Buffer, list[int]]] = {}
    for n, step in enumerate(plan.steps):
        for value in (step.out, *step.inputs):
            if value.buffer.place == "memory":
                spans.setdefault(id(value.buffer), (value.buffer, []))[1].append(n)
    buffers = [buffer for buffer, _ in spans.values()]
    lives = [Life(min(at), max(at), buffer.size) for buffer, at in spans.values()]
    offsets, plan.peak = placed(lives)
    plan.least = least_memory(lives)
    for buffer, offset in zip(buffers, offsets, strict=True):
        buffer.offset = offset


def _put_outputs(plan: Plan) -> None:
    """Let the last steps write where the caller wants the results."""
    for n, value in enumerate(plan.outputs):
        if value.buffer.place == "memory":
            value.buffer.place, value.buffer.offset = "out", n
            continue
        copied = Value(value.name, value.shape, value.grid, Buffer(value.buffer.size, "out", n))
        plan.steps.append(Step("copy", value.name, "output", (), [value], copied))
        plan.outputs[n] = copied


def _merge(plan: Plan) -> None:
    """Let steps write over inputs that nothing reads later."""
    last = {id(value.buffer): n for n, step in enumerate(plan.steps) for value in step.inputs}
    for n, step in enumerate(plan.steps):
        if not step.in_place:
            continue
        out = step.out.buffer
        for value in step.inputs:
            old = value.buffer
            ends_here = last[id(old)] == n and old.place == "memory"
            if ends_here and old is not out and old.size == out.size:
                _replace(plan, old, out)
                break


def _replace(plan: Plan, old: Buffer, new: Buffer) -> None:
    for step in plan.steps:
        for value in (step.out, *step.inputs):
            if value.buffer is old:
                value.buffer = new
