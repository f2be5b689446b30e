"""Outcome of a call, to the bit, and its faults."""

from __future__ import annotations

import linecache
import sys
import traceback
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from bad_input.engine import ALLOWED, PACKAGE, _of_result

import pyqref
from pyqref import Tensor, nn

from . import planted, values, watch
from .bits import frozen
from .cases import Case
from .catalogue import UNSET

#: Kinds of faults; the parent adds ``crash`` and ``hang``.
KINDS = ("disagreement", "result", "wrong class", "warning", "memory", "raw")
NAMESPACE = {**vars(values), "planted": planted}
_FOREIGN = (RuntimeWarning, DeprecationWarning, FutureWarning, SyntaxWarning, ResourceWarning)


@dataclass
class Fault:
    """A fault: its kind, where it shows, and what was said."""

    kind: str
    place: str
    said: str


@dataclass
class Outcome:
    """The result, or the error, and the arguments afterwards."""

    value: Any
    error: BaseException | None
    after: Any
    faults: list[Fault]


def run(case: Case, caught: list[Any]) -> Outcome:
    """Make the call once; warnings are caught in a list."""
    pyqref.manual_seed(0)
    function: Any = None
    try:
        args = [_made(each) for each in case.args]
        kwargs = {key: _made(each) for key, each in case.kwargs.items()}
        if case.target.style != "method":
            function = eval(_compiled(case.target.text), NAMESPACE)
    except Exception as error:  # an argument that cannot be made
        return Outcome(None, error, None, [])
    caught.clear()
    watch.forget()
    value, wrong = None, None
    try:
        if case.target.style == "state":
            value = function(kwargs)
        elif case.target.style == "method":
            value = getattr(args[0], case.target.text[1:])(*args[1:], **kwargs)
        else:
            value = function(*args, **kwargs)
        value = _backward(case, value, args)
    except BaseException as error:
        wrong = error
    faults = [_of_warning(each) for each in caught if issubclass(each.category, _FOREIGN)]
    if wrong is not None:
        faults += of_error(wrong)
        wrong.__traceback__ = None
    else:
        try:
            said = _of_result(value) or _leaked(value) or _of_result([*args, *kwargs.values()])
            faults += [Fault("result", case.target.name, said)] if said else []
        except Exception as error:
            faults.append(broken(case, error))
    owner = getattr(function, "__self__", function)
    after: Any = [*args, *kwargs.values()]
    if isinstance(owner, nn.Module):
        try:
            after.append(frozen(owner))
            values.give_back(owner)
        except Exception as error:
            faults.append(broken(case, error))
    return Outcome(value, wrong, after, faults)


def judged(case: Case, kernel: str, *, whole: bool = True) -> tuple[bool, list[Fault]]:
    """Return whether a call was answered, and its faults, each place once.

    It is made on the reference kernel, and on another with one thread and with three. Unless it
    must be done ``whole``, it is not made again where it asked for no kernel, or for no threads.
    """
    if not whole:
        watch.start()
    outcomes: list[Outcome] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, threads, question in (
            ("reference", 1, ""),
            (kernel, 1, "kernel"),
            (kernel, 3, "threads"),
        ):
            if not whole and question and question not in watch.asked:
                break
            pyqref.set_num_threads(threads)
            with pyqref.kernels.use(name):
                outcomes.append(run(case, caught))
    found = [fault for outcome in outcomes for fault in outcome.faults]
    if len(outcomes) == 1:
        found += unfrozen(case, outcomes[0])
    if len(outcomes) > 1:
        found += compare(case, outcomes[0], outcomes[1], f"reference, {kernel}")
    if len(outcomes) > 2:
        found += compare(case, outcomes[1], outcomes[2], f"{kernel} on 1 and 3 threads")
    seen = {(each.kind, each.place): each for each in reversed(found)}
    return all(each.error is None for each in outcomes), list(seen.values())


def _made(text: str) -> Any:
    """The argument that a text stands for."""
    if type(text) is values.Recipe:
        return values.T(*text.parts)
    return eval(_compiled(text), NAMESPACE)


@lru_cache(10_000)
def _compiled(text: str) -> Any:
    return compile(text, "<argument>", "eval")


def _backward(case: Case, value: Any, args: list[Any]) -> Any:
    """The result; where a gradient was asked for, those of the arguments as well."""
    leaves = [each for each in args if isinstance(each, Tensor) and each.requires_grad]
    asked = leaves and isinstance(value, Tensor) and value.requires_grad
    if not asked or case.target.short in ("backward", *UNSET) or not value.dtype.is_floating_point:
        return value
    value.sum().backward()
    return value, [each.grad for each in leaves]


def _leaked(value: Any) -> str:
    if isinstance(value, tuple | list):
        return next((found for each in value if (found := _leaked(each))), "")
    scalar = isinstance(value, np.generic)
    return f"a scalar of NumPy, {type(value).__name__}, as a result" if scalar else ""


def _of_warning(caught: Any) -> Fault:
    place = f"{caught.filename.removeprefix(PACKAGE)}:{caught.lineno}"
    return Fault("warning", place, f"{caught.category.__name__}: {caught.message}")


def of_error(error: BaseException) -> list[Fault]:
    """Return the faults of an error: its class, or that no ``raise`` of the package gave it."""
    frames = list(traceback.walk_tb(error.__traceback__))[1:]
    if not frames and isinstance(error, TypeError):
        return []  # Python binds the arguments: its message names them
    inside = [each for each in frames if each[0].f_code.co_filename.startswith(PACKAGE)]
    frame, number = (inside or frames or [(sys._getframe(), 0)])[-1]
    name = frame.f_code.co_filename
    place = f"{name.removeprefix(PACKAGE)}:{number}"
    said = f"{type(error).__name__}: {error}"[:200]
    if isinstance(error, MemoryError):
        return [Fault("memory", place, said)]
    if isinstance(error, BufferError) or frame.f_code.co_name in ("__int__", "__index__"):
        return []  # as DLPack wants it, and as ``int(inf)`` of Python
    if type(error).__module__ != "builtins" or not isinstance(error, ALLOWED):
        raw = type(error).__module__ == "builtins" and isinstance(error, Exception)
        raw = raw or type(error).__module__.startswith("numpy")
        return [Fault("raw" if raw else "wrong class", place, said)]
    last = frames[-1][0] if frames else frame
    line = linecache.getline(name, number).strip()
    if last is frame and line.startswith("raise"):
        return []
    return [Fault("raw", place, said)]


def broken(case: Case, error: Exception) -> Fault:
    """A result that cannot be looked at, or for which there was no memory any more."""
    kind = "memory" if isinstance(error, MemoryError) else "result"
    return Fault(kind, case.target.name, f"a broken result: {error!r}")


def unfrozen(case: Case, outcome: Outcome) -> list[Fault]:
    """Return a fault if the result cannot be looked at."""
    if outcome.error is None:
        try:
            frozen(outcome.value), frozen(outcome.after)
        except Exception as error:
            return [broken(case, error)]
    return []


def compare(case: Case, expected: Outcome, actual: Outcome, names: str) -> list[Fault]:
    """Where two kernels, or two numbers of threads, differ."""
    if any(_wants_memory(each.error) for each in (expected, actual)):
        return []
    said = ""
    if (expected.error is None) != (actual.error is None):
        said = f"{_short(expected)} and {_short(actual)}"
    elif expected.error is not None:
        if type(expected.error) is not type(actual.error):
            said = f"{expected.error!r} and {actual.error!r}"
    elif case.target.short not in UNSET:
        try:
            if frozen(expected.value) != frozen(actual.value):
                said = f"{_short(expected)} and {_short(actual)}"
            elif frozen(expected.after) != frozen(actual.after):
                said = "the arguments afterwards differ"
        except Exception as error:
            return [broken(case, error)]
    return [Fault("disagreement", case.target.name, f"{names}: {said}")] if said else []


def _wants_memory(error: BaseException | None) -> bool:
    return isinstance(error, MemoryError) or "the memory does not suffice" in str(error)


def _short(outcome: Outcome) -> str:
    shown = repr(outcome.value) if outcome.error is None else repr(outcome.error)
    return " ".join(shown.split())[:300]
