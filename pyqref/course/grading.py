"""Check one answer or many, and write reports for systems that collect grades."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .catalogue import exercises, get
from .checking import all_cases, judge
from .child import Load, attempts
from .loading import SolutionError, defined, wanted
from .result import Result

__all__ = ["Report", "check", "check_all", "check_file"]

SECONDS = 10.0


def _judged(name: str, load: Load, seed: int, seconds: float) -> Result:
    exercise = get(name)
    cases = all_cases(exercise, seed)
    return judge(exercise, cases, attempts(exercise, load, cases, seconds))


def check(
    name: str, function: Callable[..., Any], *, seed: int = 0, seconds: float = SECONDS
) -> Result:
    """Try what a student wrote, and print which cases fail and why.

    Parameters
    ----------
    name
        One of :func:`exercises`.
    function
        The function, or the class where the exercise asks for one. It runs in a process of its
        own, with copies of arrays. It may raise, crash, never end or return whatever it likes:
        that is reported.
    seed
        Of the cases that are drawn in addition to those that are written down. A teacher keeps it.
    seconds
        How long all cases together may take.

    Returns
    -------
    The result, true if every case is right.

    Raises
    ------
    ValueError
        There is no such exercise.
    TypeError
        ``function`` cannot be called.

    Examples
    --------
    >>> import numpy as np
    >>> def quantize(x, scale, zero_point, quant_min, quant_max):
    ...     steps = np.floor(x / scale + zero_point + 0.5)
    ...     return np.clip(steps, quant_min, quant_max).astype(int)
    >>> result = check("quantize", quantize)  # doctest: +ELLIPSIS
    quantize: 20 of 44 cases are wrong.
    The mistake: rounds halves up.
      Ties go to the even neighbour (2.5 to 2): use np.rint, not floor(v + 0.5).
      case 'ties'
        of        [0.5, 1.5, 2.5, -0.5, -1.5, -2.5], 1.0, 0, -128, 127
        expected  [0, 2, 2, 0, -2, -2]
        got       [1, 2, 3, 0, -1, -2]
      case 'ties, odd zero point'
        of        [0.5, 1.5, 2.5], 1.0, 3, 0, 255
        expected  [4, 4, 6]
        got       [4, 5, 6]
    ...
    Read about it: equation eq-affine-quantize, ...theory/affine...
    >>> bool(result)
    False
    """
    exercise = get(name)
    if not callable(function):
        raise TypeError(f"function must be {exercise.signature}, got {function!r}")
    result = _judged(name, lambda: function, seed, seconds)
    sys.stdout.write(f"{result}\n")
    return result


def check_file(name: str, file: str | Path, *, seed: int = 0, seconds: float = SECONDS) -> Result:
    r"""Try the answer to one exercise that a file of Python holds.

    Parameters
    ----------
    name
        One of :func:`exercises`.
    file
        Defines the function or class under the name that the exercise asks for. It is run as a
        script, with all that it does, in a process of its own.
    seed, seconds
        As of :func:`check`.

    Raises
    ------
    ValueError
        There is no such exercise.
    SolutionError
        There is no such file, it cannot be run, or it does not define the name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pyqref.course import answer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.py")
    ...     _ = file.write_text("import numpy as np\n" + answer("dequantize"))
    ...     check_file("dequantize", file)
    <dequantize: passed>
    """
    looked_for = wanted(get(name).signature)
    return _judged(name, partial(defined, Path(file), looked_for), seed, seconds)


@dataclass(frozen=True)
class Report:
    """Results of several exercises, from :func:`check_all`.

    Attributes
    ----------
    results
        By the names of the exercises; None where there is no answer.
    problems
        Why there is none, by the same names.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref import course
    >>> report = course.check_all({"roofline": course.get("roofline").solution}, names=["roofline"])
    >>> report.points(), report.as_dict()["answered"]
    (1.0, 1)
    """

    results: Mapping[str, Result | None]
    problems: Mapping[str, str]

    def points(self, maximum: float = 1.0, partial_credit: bool = False) -> float:
        """Return what all of it is worth, from 0 to a maximum; every exercise counts the same.

        Parameters
        ----------
        maximum
            Points for everything right.
        partial_credit
            Count the share of the cases that are right, instead of exercises that are.
        """
        worth = [
            0.0 if each is None else each.share if partial_credit else float(each.passed)
            for each in self.results.values()
        ]
        return maximum * sum(worth) / max(len(worth), 1)

    def as_dict(self) -> dict[str, Any]:
        """Return all results as numbers, texts and lists, ready for JSON."""
        return {
            "exercises": len(self.results),
            "answered": sum(each is not None for each in self.results.values()),
            "passed": sum(bool(each) for each in self.results.values()),
            "results": {
                name: {"exercise": name, "passed": False, "problem": self.problems[name]}
                if result is None
                else result.as_dict()
                for name, result in self.results.items()
            },
        }

    def gradescope(self, maximum: float = 100.0, partial_credit: bool = False) -> dict[str, Any]:
        """Return the contents of the file ``results.json`` that Gradescope reads.

        Parameters
        ----------
        maximum, partial_credit
            As of :meth:`points`.
        """
        each_worth = maximum / max(len(self.results), 1)
        tests = []
        for name, result in self.results.items():
            alone = Report({name: result}, self.problems)
            tests.append(
                {
                    "name": name,
                    "score": round(alone.points(each_worth, partial_credit), 6),
                    "max_score": round(each_worth, 6),
                    "output": self.problems[name] if result is None else str(result),
                }
            )
        return {"score": round(self.points(maximum, partial_credit), 6), "tests": tests}

    def as_json(self) -> str:
        """Return the text of :meth:`as_dict`."""
        return json.dumps(self.as_dict(), indent=2)

    def __str__(self) -> str:
        lines = [
            self.problems[name] if result is None else str(result)
            for name, result in self.results.items()
        ]
        right = sum(bool(each) for each in self.results.values())
        return "\n\n".join([*lines, f"{right} of {len(self.results)} exercises are right."])


def check_all(
    answers: Mapping[str, Callable[..., Any]] | str | Path,
    *,
    names: tuple[str, ...] | list[str] | None = None,
    seed: int = 0,
    seconds: float = SECONDS,
) -> Report:
    """Check the answers to several exercises.

    Parameters
    ----------
    answers
        Functions by the names of their exercises, such as ``globals()`` of a notebook, or a file.
        Classes stand under the name that the exercise asks for.
    names
        Exercises that count; all that are answered if None.
    seed, seconds
        As of :func:`check`; the time is for each exercise.

    Returns
    -------
    A report. Nothing is printed.

    Raises
    ------
    ValueError
        There is no exercise of such a name.

    Examples
    --------
    >>> report = check_all({"dequantize": lambda q, scale, zero_point: q}, names=["dequantize"])
    >>> print(report.results["dequantize"].mistakes[0].name)
    gives the integers back
    """
    results: dict[str, Result | None] = {}
    problems: dict[str, str] = {}
    for name in exercises() if names is None else names:
        looked_for = wanted(get(name).signature)
        try:
            if isinstance(answers, str | Path):
                load: Load = partial(defined, Path(answers), looked_for)
            else:
                function = answers.get(looked_for, answers.get(name))
                if function is None:
                    raise SolutionError(f"there is no {looked_for}")
                load = partial(_given, function)
            results[name] = _judged(name, load, seed, seconds)
        except SolutionError as error:
            if names is None and ("must define" in str(error) or "there is no" in str(error)):
                continue
            results[name], problems[name] = None, f"{name}: {error}"
    return Report(results, problems)


def _given(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
