"""Result of a check, told to a student."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from .exercise import Exercise, Mistake
from .pages import address

__all__ = ["Failure", "Result", "wrapped"]


def wrapped(text: str, indent: str = "") -> str:
    """Lines that a terminal holds."""
    return textwrap.fill(text, 88, initial_indent=indent, subsequent_indent=indent)


@dataclass(frozen=True)
class Failure:
    """A case that went wrong.

    Attributes
    ----------
    case
        Its name.
    arguments, expected, got
        As text, shortened.
    problem
        What can be said beyond the numbers, or "".

    Examples
    --------
    >>> print(Failure("a tie", "x=0.5", "0", "1", "halves go to the even integer"))
      case 'a tie'
        of        x=0.5
        expected  0
        got       1
        note      halves go to the even integer
    """

    case: str
    arguments: str
    expected: str
    got: str
    problem: str

    def __str__(self) -> str:
        lines = [f"  case '{self.case}'", f"    of        {self.arguments}"]
        lines.append(f"    expected  {self.expected}")
        if self.got:
            lines.append(f"    got       {self.got}")
        if self.problem:
            lines.append(f"    note      {self.problem}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Result:
    """Result of :func:`pyqref.course.check`; true if everything is right.

    Attributes
    ----------
    exercise
        What was to be written.
    cases
        How many cases were tried.
    failures
        Those that went wrong.
    mistakes
        Known mistakes that give the same results in every case, or one of the values returned.
    notes
        Sentences on what is wrong beside them, or a remark on what is right.

    Examples
    --------
    >>> from pyqref.course import check
    >>> forgetful = lambda q, scale, zero_point: q.astype(int) * scale
    >>> result = check("dequantize", forgetful)  # doctest: +ELLIPSIS
    dequantize: 17 of 17 cases are wrong.
    The mistake: forgets the zero point.
      The zero point stands for the real number 0: subtract it.
      case 'above the zero point'
        of        [10, 20, 255], 0.5, 10
        expected  [0.0, 5.0, 122.5]
        got       [5.0, 10.0, 127.5]
      case 'below the zero point'
        of        [0, 3, 9], 0.5, 10
        expected  [-5.0, -3.5, -0.5]
        got       [0.0, 1.5, 4.5]
      case 'signed'
        of        [-128, -1, 0, 127], 0.25, 100
        expected  [-57.0, -25.25, -25.0, 6.75]
        got       [-32.0, -0.25, 0.0, 31.75]
      and 14 other cases
    Read about it: equation eq-affine-dequantize, ...theory/affine...
    >>> bool(result), len(result.failures), result.mistakes[0].name
    (False, 17, 'forgets the zero point')
    """

    exercise: Exercise
    cases: int
    failures: tuple[Failure, ...]
    mistakes: tuple[Mistake, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return True if every case is right."""
        return not self.failures

    @property
    def share(self) -> float:
        """Share of the cases that are right, from 0 to 1."""
        return 1 - len(self.failures) / self.cases

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        name = self.exercise.name
        page = f"equation {self.exercise.label}, {address(self.exercise.label)}"
        if self.passed:
            remarks = "".join(f"\n{wrapped(each, '  ')}" for each in self.notes)
            return (
                f"{name}: all {self.cases} cases are right.{remarks}\n"
                f"Compare with {self.exercise.reference}, {page}."
            )
        lines = [f"{name}: {len(self.failures)} of {self.cases} cases are wrong."]
        if len(self.mistakes) > 1:
            lines.append(
                "Several mistakes at once:" if self.mistakes[2:] else "Two mistakes at once:"
            )
        for mistake in self.mistakes:
            lead = "The mistake" if len(self.mistakes) == 1 else "One"
            lines += [f"{lead}: {mistake.name}.", wrapped(mistake.explanation, "  ")]
        lines += [wrapped(each, "  ") for each in self.notes]
        lines += [str(failure) for failure in self.failures[:3]]
        if len(self.failures) > 3:
            others = len(self.failures) - 3
            lines.append(f"  and {others} other case{'s' if others > 1 else ''}")
        lines.append(f"Read about it: {page}.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "passed" if self.passed else f"{len(self.failures)} of {self.cases} wrong"
        return f"<{self.exercise.name}: {state}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as numbers, texts and lists, ready for JSON.

        Examples
        --------
        >>> from pyqref import course
        >>> exercise = course.get("roofline")
        >>> result = course.check("roofline", exercise.solution)  # doctest: +ELLIPSIS
        roofline: all 31 cases are right.
        Compare with pyqref.measure.roofline, equation eq-roofline, ...theory/why_integers...
        >>> result.as_dict()["passed"]
        True
        """
        return {
            "exercise": self.exercise.name,
            "passed": self.passed,
            "cases": self.cases,
            "wrong": len(self.failures),
            "mistakes": [
                {"name": each.name, "explanation": each.explanation} for each in self.mistakes
            ],
            "notes": list(self.notes),
            "equation": self.exercise.label,
            "page": address(self.exercise.label),
            "text": str(self),
        }
