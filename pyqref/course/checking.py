"""Run what a student wrote, compare, and say what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .exercise import Case, Exercise
from .library import LIBRARIES
from .naming import by_result, named
from .notes import describe
from .outcome import DIFFERS, Outcome, attempt, difference, same, short, shown
from .result import Failure, Result

__all__ = ["all_cases", "judge", "run"]

#: How often cases are drawn: chances that one draw leaves open, the others close.
ROUNDS = 3


def all_cases(exercise: Exercise, seed: int = 0) -> tuple[Case, ...]:
    """The cases that are written down, those that are drawn from a seed, and the first again."""
    random = np.random.default_rng(seed)
    drawn = (LIBRARIES[exercise.name].draw(random) for _ in range(ROUNDS))
    again = Case("the first one again", exercise.cases[0].arguments)
    return (*exercise.cases, *chain.from_iterable(drawn), again)


def run(exercise: Exercise, function: Callable[..., Any], seed: int = 0) -> Result:
    """Try every case of an exercise in this process, and judge the outcomes.

    Parameters
    ----------
    exercise
        What was to be written.
    function
        What was written.
    seed
        Of the cases that are drawn.
    """
    cases = all_cases(exercise, seed)
    return judge(exercise, cases, [attempt(exercise, function, case) for case in cases])


def judge(exercise: Exercise, cases: Sequence[Case], got: Sequence[Outcome]) -> Result:
    """Compare outcomes with those of the model answer; name the mistakes or describe them.

    Parameters
    ----------
    exercise
        What was to be written.
    cases
        What was tried.
    got
        What came out, one for each case.
    """
    library = LIBRARIES[exercise.name]
    expected = [attempt(exercise, exercise.solution, case) for case in cases]
    failures = tuple(
        Failure(case.name, _arguments(case), *_what(exercise, right, mine))
        for case, right, mine in zip(cases, expected, got, strict=True)
        if not same(right, mine, exercise.tolerance)
    )
    if not failures:
        return Result(exercise, len(cases), (), (), _remarks(exercise, expected, got))
    explanations = named(exercise, library, cases, expected, got)
    if len(explanations) == 1:
        return Result(exercise, len(cases), failures, explanations[0])
    if explanations:
        alike = "; or ".join(" and ".join(m.name for m in each) for each in explanations[:3])
        notes = describe(exercise, library, cases, expected, got)
        notes = (f"Several mistakes give these results: {alike}.", *notes)
        return Result(exercise, len(cases), failures, (), notes)
    told, sure = by_result(exercise, library, cases, expected, got)
    notes = describe(exercise, library, cases, expected, got, sure)
    return Result(exercise, len(cases), failures, told, notes)


def _remarks(
    exercise: Exercise, expected: Sequence[Outcome], got: Sequence[Outcome]
) -> tuple[str, ...]:
    """Return remarks about right results that could be better: integers stored as real numbers."""
    right, mine = expected[0].values or (), got[0].values or ()
    return tuple(
        f"{name}: whole numbers in {theirs.dtype}; store them as integers, x.astype(int) or int(x)."
        for name, ours, theirs in zip(exercise.results, right, mine, strict=True)
        if ours.dtype.kind in "iu" and theirs.dtype.kind == "f"
    )


def _what(exercise: Exercise, right: Outcome, mine: Outcome) -> tuple[str, str, str]:
    """Expected, got, and what is to be said about the first value that is wrong."""
    expected = shown(exercise, right.values)
    if mine.values is None or right.values is None:
        return expected, "", mine.problem
    for name, *pair in zip(exercise.results, right.values, mine.values, strict=True):
        problem = difference(pair[0], pair[1], exercise.tolerance)
        if problem:
            said = "" if problem == DIFFERS else f"{name}: {problem}"
            return expected, shown(exercise, mine.values), said
    return expected, shown(exercise, mine.values), ""


def _arguments(case: Case) -> str:
    return ", ".join(short(each) for each in case.arguments)
