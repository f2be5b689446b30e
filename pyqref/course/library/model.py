"""A model answer as text, and the pieces of it that students get wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from .. import wrong
from ..exercise import Case, Mistake

__all__ = ["Change", "Library", "Trait", "compiled", "pairs", "singles"]

Swap = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """A mistake as a change of the model answer: pieces of its text, and what stands there instead.

    Attributes
    ----------
    name, explanation
        As of :class:`~pyqref.course.Mistake`.
    swaps
        What is replaced by what, one after another.
    """

    name: str
    explanation: str
    swaps: tuple[Swap, ...]


@dataclass(frozen=True)
class Trait:
    """A property of some arguments, or of some elements of the result.

    Attributes
    ----------
    words
        Completes the sentence "It is wrong only where ...".
    holds
        Of the arguments of a case: True, or an array that broadcasts against the result.
    """

    words: str
    holds: Callable[..., Any]


@dataclass(frozen=True)
class Library:
    """Knowledge of the checker about an exercise, beyond its cases.

    Attributes
    ----------
    exercise
        Its name.
    answer
        Python source of the model answer.
    changes
        Single mistakes; the checker tries them alone and in pairs.
    draw
        Makes cases from a random generator.
    traits
        Properties by which wrong results are described.

    Examples
    --------
    >>> from pyqref.course.library import LIBRARIES
    >>> LIBRARIES["quantize"].exercise
    'quantize'
    """

    exercise: str
    answer: str
    changes: tuple[Change, ...]
    draw: Callable[[np.random.Generator], tuple[Case, ...]]
    traits: tuple[Trait, ...]


@cache
def compiled(source: str) -> Callable[..., Any]:
    """The function or class that a source defines last."""
    names: dict[str, Any] = {
        "np": np,
        "math": math,
        **{name: getattr(wrong, name) for name in wrong.__all__},
    }
    before = set(names)
    exec(compile(source, "<model answer>", "exec"), names)
    made: Callable[..., Any] = next(
        names[each] for each in reversed(names) if each not in before and each != "__builtins__"
    )
    return made


#: Edges of what a change has put in: no other change reaches across them.
_OPENS, _CLOSES = "\ue000", "\ue001"


def changed(source: str, *changes: Change) -> str | None:
    """The source with all changes, or None where one finds nothing to replace."""
    for change in changes:
        made = source
        for old, new in change.swaps:
            if old not in made:
                return None
            made = made.replace(old, f"{_OPENS}{new}{_CLOSES}" if changes[1:] else new)
        source = made
    return source.replace(_OPENS, "").replace(_CLOSES, "")


def singles(library: Library) -> Iterator[tuple[Mistake, ...]]:
    """Each mistake alone, as a wrong solution."""
    for change in library.changes:
        source = changed(library.answer, change)
        if source is None:
            raise ValueError(f"{library.exercise}: '{change.name}' does not fit the model answer")
        yield (Mistake(change.name, change.explanation, compiled(source)),)


def pairs(library: Library) -> Iterator[tuple[Mistake, ...]]:
    """Two mistakes at once, wherever both find their place."""
    for one, other in combinations(library.changes, 2):
        if one.name == other.name:
            continue
        sources = (changed(library.answer, *each) for each in ((one, other), (other, one)))
        for source in dict.fromkeys(sources):
            if source is None:
                continue
            try:
                function = compiled(source)
            except SyntaxError:  # the two do not fit into one another
                continue
            yield tuple(Mistake(each.name, each.explanation, function) for each in (one, other))
