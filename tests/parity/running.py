"""Run the parity cases, one process a processor, and keep the outcome of each."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from types import CodeType, FrameType, ModuleType
from typing import Any

from parity.harness import CASES, Case, differences, load_cases, recorded
from parity.names import names

__all__ = ["Outcome", "outcomes", "resolve"]


@dataclass
class Outcome:
    """How the results of a case compare with torch's, and which names it reaches."""

    topic: str
    name: str
    elements: int = 0
    different: int = 0
    largest: float = 0.0
    problems: list[str] = field(default_factory=list)
    reaches: set[str] = field(default_factory=set)


def outcomes(live: bool, *, reaching: bool = False) -> Iterator[Outcome]:
    """Run every case; in no order.

    Parameters
    ----------
    live
        Whether to run torch, too; otherwise its recorded answers are taken.
    reaching
        Whether to note which names of the table each case reaches.
    """
    labels = [(case.topic, case.name) for case in load_cases()]
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(os.cpu_count(), load_cases) as pool:
        yield from pool.imap_unordered(partial(_outcome, live, reaching), labels)


def _outcome(live: bool, reaching: bool, label: tuple[str, str]) -> Outcome:
    import pyqref

    warnings.simplefilter("ignore")
    case, outcome = CASES[label[0]][label[1]], Outcome(*label)
    run: Callable[[], Any] = partial(case.run, pyqref)
    try:
        theirs = _theirs(case, live)
        ours, seen = _reached(run) if reaching else (run(), set())
        found = differences(case, ours, theirs)
    except Exception as error:
        outcome.problems.append(f"{type(error).__name__}: {error}")
        return outcome
    outcome.elements = sum(each.elements for each in found.values())
    outcome.different = sum(each.different for each in found.values() if each.elements)
    outcome.largest = max((each.largest for each in found.values()), default=0.0)
    outcome.problems += [f"{path}: {d.problem}" for path, d in found.items() if d.problem]
    if reaching:
        outcome.reaches = {name for name, keys in _keys().items() if keys & seen}
    return outcome


def _theirs(case: Case, live: bool) -> Any:
    if not live:
        return recorded(case)
    import torch

    return case.run(torch)


@cache
def _keys() -> dict[str, set[Any]]:
    return {name: _keys_of(resolve(name)) for name, _ in names()}


def resolve(name: str) -> Any:
    """The object behind a dotted name below the package; None if there is none."""
    import pyqref

    found: Any = pyqref
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _keys_of(value: Any) -> set[Any]:
    """Return keys to look for in a running program: a class, or the code of a function."""
    if inspect.isclass(value):
        return {value}
    if isinstance(value, ModuleType):
        value = type(value).__dict__.get("__call__")
    if isinstance(value, property):
        value = value.fget
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    return {code} if isinstance(code, CodeType) else set()


def _reached(run: Callable[[], Any]) -> tuple[Any, set[Any]]:
    """Run something; its result, and all code and all classes that it used."""
    seen: set[Any] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            seen.add(code)
            if code.co_argcount and code.co_varnames[0] == "self":
                seen.add(type(frame.f_locals.get("self")))

    sys.setprofile(note)
    try:
        return run(), seen
    finally:
        sys.setprofile(None)
