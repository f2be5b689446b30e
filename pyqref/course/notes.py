"""Describe what is wrong where no known mistake explains it: where it shows, and by how much."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .exercise import Case, Exercise
from .library.model import Library, Trait
from .outcome import SKIPPED, Outcome, same, short, wrong
from .tracing import example

__all__ = ["describe"]

Masks = list[np.ndarray]
Pair = tuple[Case, np.ndarray, np.ndarray]


def describe(
    exercise: Exercise,
    library: Library,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    got: Sequence[Outcome],
    sure: frozenset[int] = frozenset(),
) -> tuple[str, ...]:
    """Notes that are true of the results; each is a sentence.

    Parameters
    ----------
    exercise, library
        What was to be written, and the traits of its arguments.
    cases, expected, got
        All cases with the right outcomes and the student's.
    sure
        Places of values of which enough is said elsewhere.
    """
    failed = [
        not same(right, mine, exercise.tolerance) for right, mine in zip(expected, got, strict=True)
    ]
    notes = _remembered(exercise, cases, got) + _problems(library, cases, got)
    usable = [
        (case, right.values, mine.values)
        for case, right, mine in zip(cases, expected, got, strict=True)
        if right.values is not None and mine.values is not None
    ]
    if not usable:
        return tuple(notes)
    for place, name in enumerate(exercise.results):
        if place in sure:
            continue
        rows = [(case, right[place], mine[place]) for case, right, mine in usable]
        words = _of_result(exercise, library, name, rows)
        if words and len(exercise.results) > 1:
            right = [
                other
                for index, other in enumerate(exercise.results)
                if index != place and _all_right(exercise, usable, index)
            ]
            if right:
                words.append(f"{' and '.join(right)}: right in every case.")
        notes += words
    if not notes and any(failed) and not sure:
        notes += _where(library, "It is wrong", cases, [np.asarray(each) for each in failed])
    if len(sure) < len(exercise.results):
        notes = [*notes[:5], *example(exercise, library, cases, expected, got)]
    return tuple(dict.fromkeys(notes))


def _remembered(exercise: Exercise, cases: Sequence[Case], got: Sequence[Outcome]) -> list[str]:
    """Say if the first case had another outcome when it came again."""
    again = cases[-1].arguments is cases[0].arguments and cases[1:]
    if not again or got[-1].values is None or same(got[0], got[-1], exercise.tolerance):
        return []
    return [
        (
            "The first case gave something else when it came again: something is remembered from "
            "call to call, in a global name, an attribute of the class or a default argument."
        )
    ]


def _problems(library: Library, cases: Sequence[Case], got: Sequence[Outcome]) -> list[str]:
    """Where there is no result at all."""
    failed = [each.values is None for each in got]
    if not any(failed):
        return []
    reasons = list(dict.fromkeys(each.problem for each in got if each.values is None))
    if reasons[-1] == SKIPPED:
        place = next(place for place, each in enumerate(got) if each.values is None)
        given = ", ".join(short(each) for each in cases[place].arguments)
        return [f"Case '{cases[place].name}', of {given}: {_ended(reasons[0])}"]
    if all(failed):
        return [f"There is no result in any case: {_ended(reasons[0])}"]
    found = _where(library, "There is no result", cases, [np.asarray(each) for each in failed])
    return [*found, f"The first reason: {_ended(reasons[0])}"]


def _ended(reason: str) -> str:
    return reason if reason.endswith("?") else f"{reason}."


def _all_right(exercise: Exercise, usable: Sequence[Any], place: int) -> bool:
    return not any(
        right[place].shape != mine[place].shape
        or np.any(wrong(right[place], mine[place], exercise.tolerance))
        for _, right, mine in usable
    )


def _of_result(exercise: Exercise, library: Library, name: str, rows: list[Pair]) -> list[str]:
    """Notes on one of the values that are returned."""
    if rows[0][1].dtype.kind == "U":
        return _of_lists(exercise, library, name, rows)
    shapes = [row for row in rows if row[1].shape != row[2].shape]
    if shapes:
        return _of_shapes(name, shapes, exercise.tolerance)
    masks = [wrong(right, mine, exercise.tolerance) for _, right, mine in rows]
    if not any(mask.any() for mask in masks):
        return []
    subject = f"{name}: wrong"
    notes = _where(library, subject, [row[0] for row in rows], masks)
    notes += list(_relations(exercise, name, rows, masks))[:1]
    notes += _sizes(name, rows, masks)
    return notes


def _of_shapes(name: str, rows: list[Pair], tolerance: float) -> list[str]:
    if all(
        right.T.shape == mine.shape and not np.any(wrong(right.T, mine, tolerance))
        for _, right, mine in rows
    ):
        return [f"{name}: right, but with its axes the wrong way round."]
    if all(
        right.size == mine.size and not np.any(wrong(right.ravel(), mine.ravel(), tolerance))
        for _, right, mine in rows
    ):
        return [f"{name}: the numbers are right, in their order, but under another shape."]
    _, right, mine = rows[0]
    if all(right.shape == () and mine.shape for _, right, mine in rows):
        first = all(not np.any(wrong(right, mine.flat[0], tolerance)) for _, right, mine in rows)
        which = ", of which the first is right" if first else ""
        return [f"{name}: one number is asked for, got {mine.size}{which}."]
    return [f"{name}: its shape is {mine.shape}, not {right.shape}."]


def _where(library: Library, subject: str, cases: Sequence[Case], masks: Masks) -> list[str]:
    """The narrowest trait, or two together, that all wrong elements share and others do not."""
    held = []
    for trait in library.traits:
        spread = _spread(trait, cases, masks)
        if spread is not None:
            held.append((trait.words, spread))
    flat = np.concatenate([np.ravel(mask) for mask in masks])
    if flat.mean() > 0.95:
        return [f"{subject} everywhere."]
    if sum(bool(mask.any()) for mask in masks) < 2:
        place = next(place for place, mask in enumerate(masks) if mask.any())
        return [f"{subject} in one case only, '{cases[place].name}'."]
    found: list[tuple[float, int, str]] = []
    for (one, has_one), (other, has_other) in [
        *((each, each) for each in held),
        *combinations(held, 2),
    ]:
        ways = [(" and ", has_one & has_other, 1.0), (", or ", has_one | has_other, 0.6)]
        for link, holds, worth in ways if one != other else [("", has_one, 1.0)]:
            if holds.mean() > 0.9 or np.any(flat & ~holds):
                continue
            words = f"{one}{link}{other}" if link else one
            found.append((worth * flat.sum() / holds.sum(), -len(words), words))
    if not found:
        return [f"{subject} at {flat.sum()} of {flat.size} places."]
    share, _, words = max(found, key=lambda each: (round(each[0], 2), each[1]))
    how = "exactly" if share in (1, 0.6) else "only"
    return [f"{subject} {how} where {words}."]


def _spread(trait: Trait, cases: Sequence[Case], masks: Masks) -> np.ndarray | None:
    """The trait for every element of every case; None where it does not fit the shapes."""
    parts = []
    for case, mask in zip(cases, masks, strict=True):
        try:
            with np.errstate(all="ignore"):
                holds = np.broadcast_to(np.asarray(trait.holds(*case.arguments), bool), mask.shape)
        except (ValueError, IndexError, TypeError):
            return None
        parts.append(np.ravel(holds))
    return np.concatenate(parts)


def _operations() -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    yield "plus {}", lambda right, a: right + a
    yield "minus {}", lambda right, a: right - a
    yield "times {}", lambda right, a: right * a
    yield "divided by {}", lambda right, a: right / a
    yield "plus twice {}", lambda right, a: right + 2 * a
    yield "minus twice {}", lambda right, a: right - 2 * a


CHANGED: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("with the other sign", lambda right: -right),
    ("without its sign", np.abs),
    ("plus 1", lambda right: right + 1),
    ("minus 1", lambda right: right - 1),
    ("doubled", lambda right: 2 * right),
    ("halved", lambda right: right / 2),
    ("rounded", np.rint),
    ("cut to an integer", np.trunc),
    ("with its elements in the reverse order", lambda right: right[..., ::-1]),
    ("with its axes the wrong way round", np.transpose),
    ("squared", lambda right: right * right),
    ("turned upside down, 1 / x", lambda right: 1 / right),
    ("modulo 256", lambda right: np.mod(right, 256)),
)


def _relations(exercise: Exercise, name: str, rows: list[Pair], masks: Masks) -> Iterator[str]:
    """Yield relations that turn the right numbers into the student's in every wrong case."""
    bad = [row for row, mask in zip(rows, masks, strict=True) if mask.any()]
    if all(np.all(mine == 0) for _, _, mine in rows):
        yield f"{name}: always 0."
    for words, alone in CHANGED:
        if _explains(alone, bad, exercise.tolerance):
            yield f"{name}: the right one, {words}."
    names = re.findall(r"\w+", exercise.signature.partition("(")[2])
    if len(names) != len(rows[0][0].arguments):
        return
    for place, argument in enumerate(names):
        for words, way in _operations():
            if _explains(
                lambda right, case, way=way, place=place: way(right, case.arguments[place]),
                bad,
                exercise.tolerance,
                wants_case=True,
            ):
                yield f"{name}: the right one {words.format(argument)}."


def _explains(
    way: Callable[..., Any], rows: list[Pair], tolerance: float, wants_case: bool = False
) -> bool:
    for case, right, mine in rows:
        try:
            with np.errstate(all="ignore"):
                real = right.astype(np.float64)
                made = np.asarray(way(real, case) if wants_case else way(real), np.float64)
        except (TypeError, ValueError, IndexError):
            return False
        if made.shape != mine.shape or np.any(wrong(made, mine.astype(np.float64), tolerance)):
            return False
    return True


def _sizes(name: str, rows: list[Pair], masks: Masks) -> list[str]:
    """Too large or too small, and by how much at most."""
    with np.errstate(all="ignore"):
        off = np.concatenate(
            [
                (mine.astype(np.float64) - right.astype(np.float64))[mask]
                for (_, right, mine), mask in zip(rows, masks, strict=True)
            ]
        )
    if not np.all(np.isfinite(off)):
        return [f"{name}: some numbers are infinite or no numbers."]
    words = "too large" if np.all(off > 0) else "too small" if np.all(off < 0) else "off"
    sizes = np.unique(np.abs(off))
    if len(sizes) == 1:
        return [f"{name}: {words} by {sizes[0]:.6g}, wherever it is wrong."]
    if sizes.max() <= 2 or words != "off":
        return [f"{name}: {words}, by {sizes.max():.6g} at most."]
    return []


def _of_lists(exercise: Exercise, library: Library, name: str, rows: list[Pair]) -> list[str]:
    """Tell which entries lists have too many, and which they lack."""
    masks = [np.asarray(str(right) != str(mine)) for _, right, mine in rows]
    if not any(masks):
        return []
    notes = _where(library, f"{name}: wrong", [row[0] for row in rows], masks)
    lacking, surplus = [], []
    for _, right, mine in rows:
        try:
            wanted, given = (list(ast.literal_eval(str(each))) for each in (right, mine))
        except (ValueError, SyntaxError, TypeError):
            continue
        lacking += [each for each in wanted if each not in given]
        surplus += [each for each in given if each not in wanted]
    if lacking:
        notes.append(f"{name}: {lacking[0]} is missing{' for example' * (len(lacking) > 1)}.")
    if surplus:
        notes.append(f"{name}: {surplus[0]} does not belong there.")
    if lacking and not surplus:
        notes.append(f"{name}: what is there is right, but not all of it is there.")
    if surplus and not lacking:
        notes.append(f"{name}: all of it is there, but also more.")
    return notes
