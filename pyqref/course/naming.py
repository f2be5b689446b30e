"""Find the mistake, or the two mistakes, that give the student's results in every case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .exercise import Case, Exercise, Mistake
from .library.generic import by_rule
from .library.model import Library, pairs, singles
from .outcome import RAISED, Outcome, attempt, same

__all__ = ["by_result", "named"]

Explanations = tuple[tuple[Mistake, ...], ...]


def named(
    exercise: Exercise,
    library: Library,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    got: Sequence[Outcome],
) -> Explanations:
    """Explanations, each of one mistake or of two, that give the student's results in all cases.

    More than one where several cannot be told apart; none where no known mistake fits.

    Parameters
    ----------
    exercise, library
        What was to be written, and the mistakes that are known.
    cases, expected, got
        All cases with the right outcomes and the student's.
    """
    right = [same(*pair, exercise.tolerance) for pair in zip(expected, got, strict=True)]
    if not any(mine.values is not None for mine, fine in zip(got, right, strict=True) if not fine):
        return ()  # where nothing comes out there is nothing to recognize
    order = sorted(range(len(got)), key=lambda place: right[place])  # wrong ones rule out most
    wanted = [(cases[place], got[place]) for place in order]
    return _found(exercise, library, wanted)


def by_result(
    exercise: Exercise,
    library: Library,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    got: Sequence[Outcome],
) -> tuple[tuple[Mistake, ...], frozenset[int]]:
    """Mistakes that explain the values that are returned one by one, and the places of these.

    Parameters
    ----------
    exercise, library, cases, expected, got
        As of :func:`named`.
    """
    count = len(exercise.results)
    if count == 1 or any(mine.values is None for mine in got):
        return (), frozenset()
    told: dict[str, Mistake] = {}
    sure = set()
    for place in range(count):
        rows = [
            (case, _only(mine, place), _only(right, place))
            for case, mine, right in zip(cases, got, expected, strict=True)
        ]
        rows.sort(key=lambda row: same(row[2], row[1], exercise.tolerance))
        if same(rows[0][2], rows[0][1], exercise.tolerance):
            continue  # right in every case
        wanted = [row[:2] for row in rows]
        explanations = _found(exercise, library, wanted, place=place)
        if len(explanations) == 1:
            sure.add(place)
            told |= {each.name: each for each in explanations[0]}
    return tuple(told.values()), frozenset(sure)


def _only(outcome: Outcome, place: int) -> Outcome:
    """One of the values, as if it alone had been returned."""
    return outcome if outcome.values is None else Outcome((outcome.values[place],))


def _found(
    exercise: Exercise,
    library: Library,
    wanted: Sequence[tuple[Case, Outcome]],
    *,
    place: int | None = None,
) -> Explanations:
    """Explanations of the first stage that has any."""
    precise = [(_in_double(case), mine) for case, mine in wanted]
    alone = ((each,) for each in exercise.mistakes)
    stages: list[Iterator[tuple[Mistake, ...]]] = [chain(alone, singles(library)), pairs(library)]
    stages += [by_rule(library)]
    for number, stage in enumerate(stages):
        found: dict[frozenset[str], tuple[Mistake, ...]] = {}
        for mistakes in stage:
            names = frozenset(each.name for each in mistakes)
            if names not in found and any(
                _gives(exercise, mistakes[0], rows, place) for rows in (wanted, precise)
            ):
                found[names] = mistakes
        if found:
            return tuple(found.values()) if number < 2 else tuple(found.values())[:1]
    return ()


def _gives(
    exercise: Exercise,
    mistake: Mistake,
    rows: Sequence[tuple[Case, Outcome]],
    place: int | None,
) -> bool:
    """Return True if a mistake gives the student's outcome of all rows."""
    for case, mine in rows:
        made = attempt(exercise, mistake.function, case)
        if place is not None:
            made = _only(made, place)
        if made.values is None and mine.values is None:
            both = made.problem.startswith(RAISED), mine.problem.startswith(RAISED)
            if all(both) or made.problem == mine.problem:
                continue  # loops and broadcasts that do not fit raise different errors
        if not same(made, mine, exercise.tolerance):
            return False
    return True


def _in_double(case: Case) -> Case:
    """The case as a student sees it who begins with ``np.asarray(x, float)``."""
    return Case(case.name, tuple(_widened(each) for each in case.arguments))


def _widened(value: Any) -> Any:
    single = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(np.float64) if single else value
