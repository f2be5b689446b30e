"""Follow a model answer step by step, for the smallest arguments that a student got wrong."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

import numpy as np

from .exercise import Case, Exercise
from .library.model import Library, compiled
from .outcome import Outcome, attempt, difference, same, short, wrong

__all__ = ["example"]

#: Arrays with more numbers than these are not shown.
LARGEST = 4
#: Arguments with more characters than these are not shown again: cases show them.
LONGEST = 300
#: What only changes the type or the form of a value is no step.
SILENT = ("astype", "reshape", "float", "int", "len", "iinfo", "asarray")


def example(
    exercise: Exercise,
    library: Library,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    got: Sequence[Outcome],
) -> list[str]:
    """Sentences on the smallest arguments that went wrong: what came out, and how it should.

    Parameters
    ----------
    exercise, library
        What was to be written, and the model answer.
    cases, expected, got
        All cases with the right outcomes and the student's.
    """
    rows = [row for row in _smaller(exercise, cases, expected, got) if row[2].values is not None]
    if not rows:
        return []
    case, right, mine = min(rows, key=lambda row: _size(row[0]))
    if _size(case)[1] > LONGEST:
        return []
    names = _names(library.answer)
    given = case.arguments
    if len(names) == len(given):
        said = ", ".join(f"{name} = {short(each)}" for name, each in zip(names, given, strict=True))
    else:
        said = ", ".join(short(each) for each in given)
    parts = [
        f"{name} {short(theirs)}, not {short(ours)}"
        for name, ours, theirs in zip(
            exercise.results, right.values or (), mine.values or (), strict=True
        )
        if difference(ours, theirs, exercise.tolerance)
    ]
    notes = [f"The smallest example: {said} gave {'; '.join(parts)}."]
    steps = _steps(library.answer, given)
    if steps:
        notes.append(f"Step by step: {'; '.join(f'{words} = {value}' for words, value in steps)}.")
    return notes


def _smaller(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    got: Sequence[Outcome],
) -> Iterator[tuple[Case, Outcome, Outcome]]:
    """Wrong cases, cut down to one wrong number where the arguments can be cut for it."""
    for case, right, mine in zip(cases, expected, got, strict=True):
        if same(right, mine, exercise.tolerance):
            continue
        yield case, right, mine
        if right.values is None or mine.values is None:
            continue
        shape = right.values[0].shape
        if not shape or any(each.shape != shape for each in (*right.values[1:], *mine.values)):
            continue
        bad = np.any(
            [
                wrong(*pair, exercise.tolerance)
                for pair in zip(right.values, mine.values, strict=True)
            ],
            axis=0,
        )
        for place in zip(*np.nonzero(bad), strict=True):
            cut = tuple(slice(each, each + 1) for each in place)
            ours = Outcome(tuple(each[cut] for each in right.values))
            theirs = Outcome(tuple(each[cut] for each in mine.values))
            for arguments in _cuts(case.arguments, shape, cut):
                less = Case(case.name, arguments)
                if same(attempt(exercise, exercise.solution, less), ours, exercise.tolerance):
                    yield less, ours, theirs
                    break


def _cuts(
    arguments: tuple[Any, ...], shape: tuple[int, ...], cut: tuple[slice, ...]
) -> Iterator[tuple[Any, ...]]:
    """Ways to cut arguments: number by number, by the channels of an axis, by rows of products."""
    for axis in range(len(shape)):
        yield tuple(
            each if not isinstance(each, np.ndarray)
            else each[cut] if each.shape == shape
            else each[cut[axis]] if each.shape == shape[axis : axis + 1]
            else each
            for each in arguments
        )  # fmt: skip
    if len(shape) == 2:
        yield tuple(
            each if not isinstance(each, np.ndarray)
            else each[cut[0]] if number == 0
            else each[cut[1]]
            for number, each in enumerate(arguments)
        )  # fmt: skip


def _size(case: Case) -> tuple[int, int]:
    """How much there is to read: numbers, then their digits."""
    numbers = sum(np.asarray(each, object).size for each in case.arguments)
    return numbers, sum(len(short(each)) for each in case.arguments)


def _names(source: str) -> list[str]:
    """Names of the arguments of a function; of a class none."""
    made = ast.parse(source).body[-1]
    if isinstance(made, ast.FunctionDef):
        return [each.arg for each in made.args.args]
    return []


class _Noted(ast.NodeTransformer):
    """Hands the value of every step to a function that notes it."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def _wrapped(self, node: ast.expr) -> ast.expr:
        words = ast.unparse(node)
        inner = cast("ast.expr", self.generic_visit(node))
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        known = any(isinstance(each, ast.Name) and each.id != "np" for each in ast.walk(node))
        if name in SILENT or not known:
            return inner
        self.words.append(words)
        number = ast.Constant(len(self.words) - 1)
        return ast.Call(ast.Name("noted", ast.Load()), [number, inner], [])

    visit_BinOp = visit_Call = _wrapped  # noqa: N815


def _digits(value: Any) -> str:
    """Six digits of a number, or of each of some."""
    flat = [f"{each:.6g}" for each in np.ravel(np.asarray(value, np.float64))]
    return flat[0] if len(flat) == 1 else f"[{', '.join(flat)}]"


@cache
def _traced(source: str) -> tuple[Any, list[str]] | None:
    """The function that returns its steps, and their words; None where there are loops."""
    tree = ast.parse(source)
    loops = (ast.ClassDef, ast.For, ast.While, ast.comprehension, ast.Lambda)
    if any(isinstance(node, loops) for node in ast.walk(tree)):
        return None
    noted = _Noted()
    made = ast.unparse(ast.fix_missing_locations(noted.visit(copy.deepcopy(tree))))
    made = made.replace("(", "(noted, ", 1)
    return compiled(made), noted.words


def _steps(source: str, arguments: Sequence[Any]) -> list[tuple[str, str]]:
    """Words and value of every step that can be shown."""
    traced = _traced(source)
    if traced is None:
        return []
    function, words = traced
    found: list[tuple[str, str]] = []

    def noted(number: int, value: Any) -> Any:
        text = words[number].replace("np.", "")
        size = np.size(value)
        if size <= LARGEST and np.asarray(value).dtype.kind in "biuf":
            found.append((text, _digits(value)))
        return value

    try:
        with np.errstate(all="ignore"):
            function(noted, *copy.deepcopy(tuple(arguments)))
    except (ValueError, TypeError, IndexError, ZeroDivisionError):
        return []
    return found
