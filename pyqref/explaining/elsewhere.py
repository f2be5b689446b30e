"""The steps of other systems for an operation without weights."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from ..arithmetic import get
from ..arithmetic.base import Arithmetic
from ..arithmetic.step import Note, Recorder, Step, of
from .draft import EXPLAINERS, Draft, Elsewhere
from .record import Value

__all__ = [
    "add_others",
    "averaged_elsewhere",
    "clamped_elsewhere",
    "near",
    "quantized_elsewhere",
    "rescaled_elsewhere",
]

#: Layers that multiply many times for one output.
_SILENT = re.compile(r"quantized\.quantized_.*_cell_dynamic|dynamic\..*|recurrent\..*")


def add_others(draft: Draft) -> None:
    """Put the steps of other systems beside those of a derivation.

    Raises
    ------
    LookupError
        None of those that were asked for has steps of its own.
    """
    reasons = []
    for name in draft.arithmetics:
        if name in draft.others:
            continue
        steps, reason = _steps_of(draft, get(name))
        if steps:
            draft.others[name] = steps
        else:
            reasons.append(f"{name} {reason}")
    if draft.arithmetics and not draft.others:
        what = f"{draft.record.layer} ({draft.record.operation})"
        raise LookupError(
            f"why: there are no steps of other arithmetics for {what}: {'; '.join(reasons)}; leave "
            "arithmetics out"
        )
    draft.notes.extend(reasons)


def _steps_of(draft: Draft, model: Arithmetic) -> tuple[tuple[Step, ...], str]:
    """The steps, or why there are none."""
    operation = draft.record.operation
    if _SILENT.fullmatch(operation):
        return (), "writes no steps down for recurrent layers"
    if draft.elsewhere is not None:
        note = Recorder()
        if draft.elsewhere(model, note) is not None:
            return tuple(note.steps), ""
    if model.engine is not None:
        return _as_engine(draft, model.engine), ""
    steps = draft.steps[: draft.result + 1]
    if operation == "dequantize" or all(step.kind in ("integer", "row") for step in steps):
        return _as_engine(draft, draft.engine), ""  # the same everywhere
    word = operation.rpartition(".")[2]
    return (), f"has no rule for {word}: there a model keeps the numbers of the engine"


def _as_engine(draft: Draft, engine: str) -> tuple[Step, ...]:
    """The steps of an engine, up to the integer."""
    settings = {**draft.record.settings, "engine": engine, "arithmetic": None}
    own = Draft(replace(draft.record, settings=settings), draft.index, which=draft.which)
    EXPLAINERS[draft.record.operation](own)
    steps = own.steps[: own.result + 1]
    names = [step.name for step in steps]
    return tuple(
        Step(
            f"{step.name}, {step.symbol}" if names.count(step.name) > 1 else step.name,
            step.label,
            step.numbers,
            step.value,
            step.decision,
        )
        for step in steps
    )


def near(value: Value, draft: Draft) -> np.ndarray:
    """The element of an input that broadcasts to the output, first among two.

    Some systems look at whether an input has one element or more along the last axis of the result
    that is longer than 1: the second stands there only where the input has more.
    """
    shape = draft.output.shape
    long = [axis for axis, size in enumerate(shape) if size != 1]
    own = len(value.shape) - len(shape)
    place: list[Any] = [slice(each, each + 1) for each in draft.aligned(value, draft.index)]
    if long and long[-1] + own >= 0 and value.shape[long[-1] + own] != 1:
        axis, at = long[-1] + own, draft.index[long[-1]]
        place[axis] = [at, (at + 1) % shape[long[-1]]]
    return value.array[tuple(place)]


def quantized_elsewhere(x: Any, grid: Any) -> Elsewhere:
    """A real number on a grid."""
    return lambda model, note: model.quantize(np.array([x]), grid, note)


def rescaled_elsewhere(q: int, source: Value, out: Value, relu: bool) -> Elsewhere:
    """An integer on another grid, and ReLU after it."""
    given, z = (np.array([q]), source.quantizer.grid, out.quantizer.grid), out.zero_point

    def run(model: Arithmetic, note: Note) -> Any:
        moved = model.rescale(*given, note)
        if moved is None or not relu:
            return moved
        return note(
            "ReLU", np.maximum(moved, z), "eq-quantized-relu", "max({q}, {z})", q=moved, z=z
        )

    return run


def averaged_elsewhere(window: Any, count: int, x: Value, whole: bool) -> Elsewhere:
    """The mean of the stored integers of a window, with the zero point beside the image."""
    taps = np.asarray(window).astype(np.int64).reshape(1, -1) - x.zero_point
    given = taps, np.array([count]), x.quantizer.grid, whole
    return lambda model, note: model.average(*given, note)


def clamped_elsewhere(q: int, grid: Any, bounds: dict[str, float | None]) -> Elsewhere:
    """An integer held to real bounds, ``"low"`` and ``"high"``, which are quantized."""

    def run(model: Arithmetic, note: Note) -> Any:
        held: Any = q
        for which, bound in bounds.items():
            if bound is None:
                continue
            end = model.quantize(np.array([bound], np.float32), grid, of(which, note))
            if end is None:
                return None
            word, inner = ("max", np.maximum) if which == "low" else ("min", np.minimum)
            before, held = held, inner(held, end)
            numbers = {"q": before, "end": end}
            label = "eq-quantized-clamp"
            note(f"held to {which}", held.astype(np.int64), label, word + "({q}, {end})", **numbers)
        return held

    return run
