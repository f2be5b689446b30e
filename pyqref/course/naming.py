"""Find the mistake, or the two mistakes, that give the student's results in every case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from .exercise import Case, Exercise, Mistake
from .library.generic import by_rule
from .library.model import Library, pairs, singles
from .outcome import Outcome, attempt, same

__all__ = ["named"]


def named(
    exercise: Exercise,
    library: Library,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    got: Sequence[Outcome],
) -> tuple[tuple[Mistake, ...], ...]:
    """Explanations, each of one mistake or of two, that give the student's results in all cases.

    More than one where several cannot be told apart; none where no known mistake fits.

    Parameters
    ----------
    exercise, library
        What was to be written, and the mistakes that are known.
    cases, expected, got
        All cases with the right outcomes and the student's.
    """
    order = _telling_first(exercise, expected, got)
    if not any(got[place].values is not None for place in order[: _wrong(exercise, expected, got)]):
        return ()  # where nothing comes out there is nothing to recognize
    stages = (
        chain(_alone(exercise), singles(library)),
        pairs(library),
        by_rule(library),
    )
    for stage in stages:
        found: dict[frozenset[str], tuple[Mistake, ...]] = {}
        for mistakes in stage:
            function = mistakes[0].function
            if all(
                same(attempt(exercise, function, cases[place]), got[place], exercise.tolerance)
                for place in order
            ):
                found.setdefault(frozenset(each.name for each in mistakes), mistakes)
        if found:
            return tuple(found.values()) if stage in stages[:2] else tuple(found.values())[:1]
    return ()


def _alone(exercise: Exercise) -> Iterator[tuple[Mistake, ...]]:
    for mistake in exercise.mistakes:
        yield (mistake,)


def _wrong(exercise: Exercise, expected: Sequence[Outcome], got: Sequence[Outcome]) -> int:
    pairs_ = zip(expected, got, strict=True)
    return sum(not same(right, mine, exercise.tolerance) for right, mine in pairs_)


def _telling_first(
    exercise: Exercise, expected: Sequence[Outcome], got: Sequence[Outcome]
) -> list[int]:
    """Numbers of the cases, the wrong ones first: they rule out most."""
    right = [same(*pair, exercise.tolerance) for pair in zip(expected, got, strict=True)]
    return sorted(range(len(got)), key=lambda place: right[place])
