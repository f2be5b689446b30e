"""``check_implementation``: run an implementation on the cases, and name its mistake."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from .._typing import Dtype
from ..course import Mistake
from .case import Case, given_to
from .conformance_set import conformance, operation_of
from .equality import as_array, difference
from .program import read_answers

__all__ = ["Conformance", "Failed", "check_implementation"]

#: Answers of an implementation: an array for each case, or the reason why there is none.
Answer = Any


@dataclass(frozen=True)
class Failed:
    """A case that an implementation gets wrong.

    Attributes
    ----------
    case : Case
        The case.
    got : ndarray, optional
        What the implementation gave; None if it gave nothing of use.
    problem : str
        What differs, in some lines.
    derivation : str
        How the first element that differs comes about; empty if shapes or types differ.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref.testing import check_implementation
    >>> result = check_implementation(lambda x, scale: x * np.float32(scale), "dequantize")
    >>> failed = result.failures[0]
    >>> failed.case.name, failed.got.dtype, failed.problem[:26]
    ('every integer', dtype('float32'), '256 of 256 elements differ')
    """

    case: Case
    got: np.ndarray | None
    problem: str
    derivation: str


@dataclass(frozen=True)
class Conformance:
    """Result of :func:`check_implementation`; true if everything is right.

    Attributes
    ----------
    operation, engine : str
        What was checked, and against whose integers.
    cases : int
        How many cases were tried.
    failures : tuple of Failed
        Those that went wrong.
    mistakes : tuple
        Known mistakes, each with the number of failures that it explains to the bit. A mistake
        that does what the implementation does in every case stands alone.
    is_whole : bool
        Whether it does.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref.testing import check_implementation
    >>> result = check_implementation(lambda x, scale: x * np.float32(scale), "dequantize")
    >>> bool(result), len(result.failures), result.mistake
    (False, 3, 'forgets the zero point')
    """

    operation: str
    engine: str
    cases: int
    failures: tuple[Failed, ...]
    mistakes: tuple[tuple[Mistake, int], ...]
    is_whole: bool = False

    @property
    def mistake(self) -> str:
        """Name of the mistake that explains every case; empty if there is no such."""
        return self.mistakes[0][0].name if self.is_whole else ""

    @property
    def passed(self) -> bool:
        """Return True if every case is right."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        what = f"{self.operation} on {self.engine}"
        if self.passed:
            return f"{what}: all {self.cases} cases are right."
        lines = [f"{what}: {len(self.failures)} of {self.cases} cases are wrong."]
        for mistake, count in self.mistakes:
            if self.is_whole:
                lines.append(f"The mistake: {mistake.name}. {mistake.explanation}")
            else:
                lines.append(
                    f"Perhaps: {mistake.name} ({count} of the failures). {mistake.explanation}"
                )
        names = ", ".join(repr(each.case.name) for each in self.failures)
        first = self.failures[0]
        lines += [f"Wrong: {names}.", f"First, the case {first.case.name!r}:"]
        lines += [f"  {line}" for line in first.problem.splitlines()]
        lines += [f"    {line}" for line in first.derivation.splitlines()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "passed" if self.passed else f"{len(self.failures)} of {self.cases} wrong"
        named = f", {self.mistake}" if self.mistake else ""
        return f"<{self.operation} on {self.engine}: {state}{named}>"

    def raise_if_wrong(self) -> None:
        """Raise AssertionError, with what :func:`str` says, unless everything is right."""
        if self.failures:
            raise AssertionError(str(self))


def check_implementation(
    implementation: Any,
    operation: str,
    engine: str = "fbgemm",
    *,
    dtype: Dtype | str = "uint8",
    without: Iterable[str] = (),
) -> Conformance:
    """Run an implementation on the cases of an operation, and name its mistake.

    A mistake is recognized by a deliberately wrong variant of the equations that gives the same
    results, to the bit. Where none does so in all cases, those are named that explain some
    failures, and the first element that differs is derived step by step.

    Parameters
    ----------
    implementation
        A function that is called with those arguments of a case that its parameters name, and
        returns an array; what :func:`from_library` or :func:`from_program` makes; or the path of
        an ``.npz`` file with the results of the cases that :func:`write_cases` wrote.
    operation, engine, dtype, without
        As :func:`conformance` takes them.

    Returns
    -------
    Conformance
        True if every case is right; as text, what is wrong.

    Raises
    ------
    TypeError
        The implementation cannot be called, or asks for an argument that no case has.
    ValueError
        There is no such operation, engine, dtype or condition, or nothing is left to try.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref.testing import check_implementation
    >>> def quantize(x, scale, zero_point, quant_min, quant_max):
    ...     whole = np.float32(np.round(x * np.float32(1 / np.float32(scale)))) + zero_point
    ...     return np.clip(whole, quant_min, quant_max).astype(np.uint8)
    >>> result = check_implementation(quantize, "quantize")
    >>> result.passed, result.mistake
    (False, 'adds the zero point after rounding')
    >>> print(str(result).partition("The mistake")[0])
    quantize on fbgemm: 2 of 8 cases are wrong.
    <BLANKLINE>
    """
    cases = conformance(operation, engine, dtype=dtype, without=without)
    if not cases:
        raise ValueError(f"without leaves no case of {operation}: name fewer conditions")
    answers = _answers(implementation, cases)
    failures = []
    for case, answer in zip(cases, answers, strict=True):
        failed = _failed(case, answer)
        if failed is not None:
            failures.append(failed)
    mistakes, is_whole = _mistakes(cases, answers, failures)
    return Conformance(operation, engine, len(cases), tuple(failures), mistakes, is_whole)


def _answers(implementation: Any, cases: list[Case]) -> list[Answer]:
    if isinstance(implementation, str | PathLike):
        return read_answers(implementation, cases)
    batch = getattr(implementation, "answers", None)
    if callable(batch):
        return list(batch(cases))
    if not callable(implementation):
        raise TypeError(
            "implementation must be a function, from_library(...), from_program(...) or the path "
            f"of an .npz file, got {type(implementation).__name__}"
        )
    names = _parameters(implementation, cases[0])
    return [_called(implementation, names, case) for case in cases]


def _parameters(function: Callable[..., Any], case: Case) -> list[str]:
    """Names of the arguments that a function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return list(case.arguments)
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return list(case.arguments)
    names = [each.name for each in parameters if each.kind is not each.VAR_POSITIONAL]
    missing = [
        each.name
        for each in parameters
        if each.name not in case.arguments and each.default is each.empty and each.name in names
    ]
    if missing:
        raise TypeError(
            f"the implementation asks for {', '.join(missing)}; {case.operation} has the arguments "
            f"{', '.join(case.arguments)}"
        )
    return [name for name in names if name in case.arguments]


def _called(function: Callable[..., Any], names: list[str], case: Case) -> Answer:
    arguments = given_to({name: case.arguments[name] for name in names})
    try:
        return function(**arguments)
    except Exception as error:
        return f"it raised {type(error).__name__}: {error}"


def _failed(case: Case, answer: Answer) -> Failed | None:
    if isinstance(answer, str) or answer is None:
        problem = answer or "it returned None: is there a return?"
        return Failed(case, None, problem, "")
    array = as_array(answer)
    if array.dtype.kind not in "biuf":
        return Failed(case, None, f"it should return numbers, got {type(answer).__name__}", "")
    if case.expected.dtype.kind in "iu" and array.dtype.kind == "f":
        return Failed(case, array, f"it should return integers, got {array.dtype}", "")
    problem, first = difference(array, case.expected, case.stages.scaled, True)
    if not problem:
        return None
    derivation = ""
    if first is not None:
        derivation = f"element {list(first)}, step by step:\n{case.derive(first)}"
    return Failed(case, array, problem, derivation)


def _mistakes(
    cases: list[Case], answers: list[Answer], failures: list[Failed]
) -> tuple[tuple[tuple[Mistake, int], ...], bool]:
    """Mistakes with the number of failures that each explains, and whether one explains all."""
    wrong = {each.case.name: each.got for each in failures}
    if not any(got is not None for got in wrong.values()):
        return (), False
    mistakes = tuple(operation_of(cases[0].operation).mistakes(cases[0].engine))
    results = [(case, wrong.get(case.name, case.expected)) for case in cases]
    failed = [pair for pair in results if pair[0].name in wrong]
    if all(got is not None for got in wrong.values()):
        # Failures first: nearly every mistake is ruled out by the first of them.
        ordered = failed + [pair for pair in results if pair[0].name not in wrong]
        for mistake in mistakes:
            if all(_alike(mistake, case, got) for case, got in ordered):
                return ((mistake, len(failures)),), True
    partly = [(mistake, _explained(mistake, failed)) for mistake in mistakes]
    found: dict[str, tuple[Mistake, int]] = {}
    for mistake, count in sorted(partly, key=lambda pair: -pair[1]):
        if count:
            found.setdefault(mistake.name, (mistake, count))
    return tuple(found.values())[:3], False


def _explained(mistake: Mistake, failed: list[tuple[Case, np.ndarray | None]]) -> int:
    """How many failures a mistake explains."""
    return sum(got is not None and _alike(mistake, case, got) for case, got in failed)


def _alike(mistake: Mistake, case: Case, got: np.ndarray | None) -> bool:
    """Return True if a mistake gives the results of an implementation."""
    if got is None:
        return False
    with np.errstate(all="ignore"):
        try:
            other = mistake.function(given_to(case.arguments))
        except (ArithmeticError, IndexError, TypeError, ValueError):
            return False  # it is no mistake that can be made here
        return _same_numbers(np.asarray(other), got, case.expected.dtype.kind)


def _same_numbers(other: np.ndarray, got: np.ndarray, kind: str) -> bool:
    if other.shape != got.shape:
        return False
    if kind == "f":
        return not difference(got.astype(np.float32), other.astype(np.float32))[0]
    if got.dtype.kind == "f":
        return False
    whole = other.astype(np.int64)
    # What an eight-bit type keeps of a number that was not clamped counts as well.
    return np.array_equal(whole, got) or np.array_equal(whole.astype(got.dtype), got)
