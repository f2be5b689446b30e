"""Parts of an exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._typing import Array

__all__ = ["Case", "Exercise", "Mistake"]

Function = Callable[..., Any]


def call(function: Function, *arguments: Any) -> Array | None:
    """Use what a student wrote as a function."""
    return function(*arguments)


@dataclass(frozen=True)
class Case:
    """Arguments for which the answer is known, and what they are there for.

    Attributes
    ----------
    name
        What is special about them, such as ``"ties"``.
    arguments
        Given one after another.

    Examples
    --------
    >>> import pyqref.course
    >>> pyqref.course.get('quantize').cases[0].name
    'inside the range'
    """

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Mistake:
    """A way to be wrong, as a function that is wrong in this way and in no other.

    Attributes
    ----------
    name
        As teachers call it, such as ``"casts before it clamps"``.
    explanation
        One sentence: what goes wrong, and what to do.
    function
        A solution with this mistake.

    Examples
    --------
    >>> import pyqref.course
    >>> pyqref.course.get('quantize').mistakes[2].name
    'truncates'
    """

    name: str
    explanation: str
    function: Function


@dataclass(frozen=True)
class Exercise:
    """A function, or a class, that a student is to write.

    Attributes
    ----------
    name
        As given to :func:`pyqref.course.check`.
    task
        What to write, in some sentences.
    signature
        Of the function or class.
    results
        Names of what it gives, one for each value.
    label
        The equation that it is about.
    reference
        Dotted name of pyqref's own, to be read afterwards.
    solution
        Right for every case.
    cases, mistakes
        What is tried, and what is recognized.
    use
        Calls what the student wrote with the arguments of a case.
    tolerance
        Largest relative error of results that are not integers: room for a solution in
        double where pyqref's is in float32, or the other way round.

    Examples
    --------
    >>> import pyqref.course
    >>> exercise = pyqref.course.get('quantize')
    >>> exercise.results
    ('integers',)
    >>> len(exercise.mistakes)
    9
    """

    name: str
    task: str
    signature: str
    results: tuple[str, ...]
    label: str
    reference: str
    solution: Function
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    use: Function = call
    tolerance: float = 2.0**-20
