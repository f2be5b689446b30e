"""Run what a student wrote, compare, and find the mistake."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .exercise import Case, Exercise, Mistake
from .result import Failure, Result

__all__ = ["run"]

Values = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case: values, or the reason why there are none."""

    values: Values | None
    problem: str = ""


def run(exercise: Exercise, function: Callable[..., Any]) -> Result:
    """Try every case of an exercise; compare failures with the known mistakes.

    Parameters
    ----------
    exercise
        What was to be written.
    function
        What was written.
    """
    expected = [_outcome(exercise, exercise.solution, case) for case in exercise.cases]
    got = [_outcome(exercise, function, case) for case in exercise.cases]
    failures = tuple(
        Failure(case.name, _arguments(case), *_what(exercise, right, mine))
        for case, right, mine in zip(exercise.cases, expected, got, strict=True)
        if not _same(right, mine, exercise.tolerance)
    )
    names = [failure.case for failure in failures]
    return Result(exercise, len(exercise.cases), failures, _mistakes(exercise, got, names))


def _outcome(exercise: Exercise, function: Callable[..., Any], case: Case) -> Outcome:
    """Call the function on copies, whatever it does."""
    arguments = copy.deepcopy(case.arguments)
    try:
        with np.errstate(all="ignore"):
            returned = exercise.use(function, *arguments)
    except (Exception, SystemExit) as error:  # exit(0) must not count as the checker's success
        return Outcome(None, f"it raised {type(error).__name__}: {error}")
    if not all(_unchanged(*pair) for pair in zip(case.arguments, arguments, strict=True)):
        return Outcome(None, "it changed its arguments: work on copies")
    return _read(exercise, returned)


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
        return Outcome(None, f"it should return {', '.join(names)}, got {_short(returned)}")
    values = []
    for name, value in zip(names, returned, strict=True):
        value = value.numpy() if hasattr(value, "numpy") else value
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.asarray(None)
        if array.dtype.kind not in "biufU":
            return Outcome(None, f"{name} should be numbers, got {_short(value)}")
        values.append(array)
    return Outcome(tuple(values))


def _same(right: Outcome, mine: Outcome, tolerance: float) -> bool:
    if right.values is None or mine.values is None:
        return right.values is None and mine.values is None
    return not any(
        _difference(*pair, tolerance) for pair in zip(right.values, mine.values, strict=True)
    )


def _difference(right: np.ndarray, mine: np.ndarray, tolerance: float) -> str:
    """Describe what is wrong with one value, or return ""."""
    if right.dtype.kind == "U" or mine.dtype.kind == "U":
        return "" if np.array_equal(right, mine) else "it differs"
    if right.shape != mine.shape:
        return f"its shape is {mine.shape}, not {right.shape}"
    if right.dtype.kind in "iu":
        if mine.dtype.kind not in "iu":
            return f"it should be integers, got {mine.dtype}"
        return "" if np.array_equal(right, mine) else "it differs"
    real, other = right.astype(np.float64), mine.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(real - other) <= tolerance * np.abs(real)
    return "" if np.all(near | (real == other)) else "it differs"


def _what(exercise: Exercise, right: Outcome, mine: Outcome) -> tuple[str, str, str]:
    """Expected, got, and what is to be said about the first value that is wrong."""
    expected = _shown(exercise, right.values)
    if mine.values is None or right.values is None:
        return expected, "", mine.problem
    for name, *pair in zip(exercise.results, right.values, mine.values, strict=True):
        problem = _difference(pair[0], pair[1], exercise.tolerance)
        if problem:
            said = "" if problem == "it differs" else f"{name}: {problem}"
            return expected, _shown(exercise, mine.values), said
    return expected, _shown(exercise, mine.values), ""


def _shown(exercise: Exercise, values: Values | None) -> str:
    if values is None:
        return ""
    if len(values) == 1:
        return _short(values[0])
    pairs = zip(exercise.results, values, strict=True)
    return ", ".join(f"{name} {_short(value)}" for name, value in pairs)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        value = value.astype(str).astype(np.float64)  # 0.1, not the digits of its nearest float32
    text = str(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _arguments(case: Case) -> str:
    return ", ".join(_short(each) for each in case.arguments)


def _mistakes(
    exercise: Exercise, got: list[Outcome], failed: list[str]
) -> tuple[tuple[Mistake, bool], ...]:
    """Mistakes that do what the student's function did, and whether in every case.

    If one explains everything, it alone is told; else all that explain a failure.
    """
    if not failed:
        return ()
    partly = []
    for mistake in exercise.mistakes:
        outcomes = [_outcome(exercise, mistake.function, case) for case in exercise.cases]
        alike = [
            _same(theirs, mine, exercise.tolerance)
            for theirs, mine in zip(outcomes, got, strict=True)
        ]
        if all(alike):
            return ((mistake, True),)
        values = [each.values is not None for each in got]
        explained = [
            is_alike and has_values and case.name in failed
            for is_alike, has_values, case in zip(alike, values, exercise.cases, strict=True)
        ]
        if any(explained):
            partly.append((sum(explained), mistake))
    partly.sort(key=lambda pair: -pair[0])
    return tuple((mistake, False) for _, mistake in partly[:3])
