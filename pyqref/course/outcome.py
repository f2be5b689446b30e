"""Outcome of one case: what came out, and how it differs from what was expected."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .exercise import Case, Exercise

__all__ = ["Outcome", "attempt", "difference", "same", "short", "shown"]

Values = tuple[np.ndarray, ...]
DIFFERS = "it differs"
#: How the problem of a function begins that raised an error.
RAISED = "it raised"
#: The problem of cases behind one that ended the process.
SKIPPED = "not tried after that"


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case: values, or the reason why there are none."""

    values: Values | None
    problem: str = ""


def attempt(exercise: Exercise, function: Callable[..., Any], case: Case) -> Outcome:
    """Call the function on copies, whatever it does."""
    arguments = copy.deepcopy(case.arguments)
    try:
        with np.errstate(all="ignore"):
            returned = exercise.use(function, *arguments)
    except (Exception, SystemExit) as error:  # exit(0) must not count as the checker's success
        return Outcome(None, f"{RAISED} {type(error).__name__}: {error}{_line(error)}")
    if not all(_unchanged(*pair) for pair in zip(case.arguments, arguments, strict=True)):
        return Outcome(None, "it changed its arguments: work on copies")
    return _read(exercise, returned)


def _line(error: BaseException) -> str:
    """Say in which line of the student's the error was raised, where that can be known."""
    lines = [each for each in traceback.extract_tb(error.__traceback__) if each.line]
    here = Path(__file__).parents[1]
    own = [each for each in lines if here not in Path(each.filename).parents]
    own = [each for each in own if "numpy" not in Path(each.filename).parts]
    return f" (line {own[-1].lineno}: {own[-1].line})" if own else ""


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, np.ndarray):
        return np.array_equal(before, after)
    return bool(before == after)


def _read(exercise: Exercise, returned: Any) -> Outcome:
    """The returned values as arrays."""
    names = exercise.results
    if returned is None:
        return Outcome(None, "it returned None: is there a return?")
    if len(names) == 1:
        returned = (returned,)
    elif not isinstance(returned, tuple | list) or len(returned) != len(names):
        return Outcome(None, f"it should return {', '.join(names)}, got {short(returned)}")
    values = []
    for name, value in zip(names, returned, strict=True):
        value = value.numpy() if hasattr(value, "numpy") else value
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.asarray(None)
        if array.dtype.kind not in "biufU":
            return Outcome(None, f"{name} should be numbers, got {short(value)}")
        values.append(array)
    return Outcome(tuple(values))


def same(right: Outcome, mine: Outcome, tolerance: float) -> bool:
    """Return True if both have the same values, or fail for the same reason."""
    if right.values is None or mine.values is None:
        reasons = (each.problem.split(":")[0] for each in (right, mine))
        return right.values is None and mine.values is None and len(set(reasons)) == 1
    return not any(
        difference(*pair, tolerance) for pair in zip(right.values, mine.values, strict=True)
    )


def difference(right: np.ndarray, mine: np.ndarray, tolerance: float) -> str:
    """Describe what is wrong with one value, or return "".

    Numbers count, not the type that holds them: 3.0 is the integer 3.
    """
    if right.dtype.kind == "U" or mine.dtype.kind == "U":
        return "" if np.array_equal(right, mine) else DIFFERS
    if right.shape != mine.shape:
        if right.shape or mine.size != 1:
            return f"its shape is {mine.shape}, not {right.shape}"
        mine = mine.reshape(())
    if right.dtype.kind in "iu":
        if np.array_equal(right, mine):
            return ""
        whole = mine.dtype.kind != "f" or np.array_equal(mine, np.rint(mine))
        return DIFFERS if whole else "it should be integers, got fractions"
    return "" if not np.any(wrong(right, mine, tolerance)) else DIFFERS


def wrong(right: np.ndarray, mine: np.ndarray, tolerance: float) -> np.ndarray:
    """Which elements differ. Real ones may by a share of the largest, as sums do in float32."""
    if right.dtype.kind in "iu":
        return np.asarray(right != mine)
    real, other = right.astype(np.float64), mine.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        room = tolerance * np.max(np.abs(real[np.isfinite(real)]), initial=0.0)
        near = (np.abs(real - other) <= room) | (real == other)
        return np.asarray(~(near | (np.isnan(real) & np.isnan(other))))


def shown(exercise: Exercise, values: Values | None) -> str:
    """Values as text, with their names where there are several."""
    if values is None:
        return ""
    if len(values) == 1:
        return short(values[0])
    pairs = zip(exercise.results, values, strict=True)
    return ", ".join(f"{name} {short(value)}" for name, value in pairs)


def short(value: Any) -> str:
    """A value as text, cut where it is long."""
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        value = value.astype(str).astype(np.float64)  # 0.1, not the digits of its nearest float32
    text = str(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
