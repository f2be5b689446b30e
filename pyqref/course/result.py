"""Result of a check, told to a student."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from .exercise import Exercise, Mistake

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
        Known mistakes, each with whether it explains all that the function did.

    Examples
    --------
    >>> from pyqref.course import check
    >>> result = check("dequantize", lambda q, scale, zero_point: (q - zero_point) * scale)
    dequantize: 3 of 4 cases are wrong.
    The mistake: subtracts in eight bits.
      9 - 10 is 255 in uint8: widen the integers before you subtract.
      case 'below the zero point'
        of        [0, 3, 9], 0.5, 10
        expected  [-5.0, -3.5, -0.5]
        got       [123.0, 124.5, 127.5]
      case 'signed'
        of        [-128, -1, 0, 127], 0.25, 100
        expected  [-57.0, -25.25, -25.0, 6.75]
        got       [7.0, -25.25, -25.0, 6.75]
      case 'signed, negative zero point'
        of        [-128, 0, 127], 0.25, -100
        expected  [-7.0, 25.0, 56.75]
        got       [-7.0, 25.0, -7.25]
    Read about equation eq-affine-dequantize.
    >>> bool(result), len(result.failures), result.exercise.label
    (False, 3, 'eq-affine-dequantize')
    """

    exercise: Exercise
    cases: int
    failures: tuple[Failure, ...]
    mistakes: tuple[tuple[Mistake, bool], ...]

    @property
    def passed(self) -> bool:
        """Return True if every case is right."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        name = self.exercise.name
        if self.passed:
            return (
                f"{name}: all {self.cases} cases are right.\n"
                f"Compare with {self.exercise.reference}, equation {self.exercise.label}."
            )
        lines = [f"{name}: {len(self.failures)} of {self.cases} cases are wrong."]
        for mistake, explains_all in self.mistakes:
            certainty = "The mistake" if explains_all else "Perhaps"
            lines += [f"{certainty}: {mistake.name}.", wrapped(mistake.explanation, "  ")]
        lines += [str(failure) for failure in self.failures[:3]]
        if len(self.failures) > 3:
            others = ", ".join(f"'{failure.case}'" for failure in self.failures[3:])
            lines.append(f"  and {others}")
        lines.append(f"Read about equation {self.exercise.label}.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "passed" if self.passed else f"{len(self.failures)} of {self.cases} wrong"
        return f"<{self.exercise.name}: {state}>"
