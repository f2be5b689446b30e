"""Run what a student wrote in a process of its own, for a limited time.

The process is a fork of this one: functions of a notebook need no name and no file. It may hang,
crash or fill its memory. What it found until then is read through a pipe, as text.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .exercise import Case, Exercise
from .loading import SolutionError
from .outcome import SKIPPED, Outcome, attempt

__all__ = ["attempts"]

#: How many numbers a result may have.
LARGEST = 1_000_000
#: Bytes that the process may use beyond those of the parent.
MEMORY = 2 * 2**30

Load = Callable[[], Callable[..., Any]]


def attempts(
    exercise: Exercise, load: Load, cases: Sequence[Case], seconds: float
) -> list[Outcome]:
    """Outcomes of all cases, whatever the student's code does.

    Parameters
    ----------
    exercise
        What was to be written.
    load
        Gives the function; called in the new process.
    cases
        What is tried.
    seconds
        How long all of it may take. Without ``os.fork`` (Windows) there is no limit, and the code
        runs in this process.

    Raises
    ------
    SolutionError
        ``load`` raised it.
    """
    if not hasattr(os, "fork"):
        function = load()
        return [attempt(exercise, function, case) for case in cases]
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks beside other threads; the child uses none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        _work(exercise, load, cases, writer)
    os.close(writer)
    try:
        lines, in_time = _read(reader, len(cases), seconds)
    finally:
        os.close(reader)
        status = _end(child)
    return _outcomes(lines, len(cases), in_time, seconds, status)


def _work(exercise: Exercise, load: Load, cases: Sequence[Case], writer: int) -> NoReturn:
    """Try all cases; write a line after each. This is the child."""
    try:
        os.setsid()
        _quieten(writer)
        try:
            function = load()
        except SolutionError as error:
            _write(writer, {"load": str(error)})
            os._exit(0)
        for case in cases:
            _write(writer, _as_text(attempt(exercise, function, case)))
    except BaseException as error:
        _write(writer, {"values": None, "problem": f"it raised {type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def _quieten(writer: int) -> None:
    """No input; what is printed goes to the errors, because results may be read from the output."""
    sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stderr
    switches = sys.modules.get("pyqref")
    if switches is not None and hasattr(switches, "set_num_threads"):
        switches.set_num_threads(1)  # the threads of OpenMP are not in the fork
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    except (ImportError, OSError, ValueError):
        return


def _as_text(outcome: Outcome) -> dict[str, Any]:
    if outcome.values is None:
        return {"values": None, "problem": outcome.problem[:1000]}
    if sum(each.size for each in outcome.values) > LARGEST:
        return {"values": None, "problem": f"it returned more than {LARGEST:,} numbers"}
    return {"values": [[each.dtype.str, each.shape, each.tolist()] for each in outcome.values]}


def _write(writer: int, line: dict[str, Any]) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def _read(reader: int, count: int, seconds: float) -> tuple[list[dict[str, Any]], bool]:
    """Lines of the child until it ends, and whether it did in time."""
    end = time.monotonic() + seconds
    data = b""
    while data.count(b"\n") < count:
        left = end - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return _lines(data), False
        part = os.read(reader, 1 << 16)
        if not part:
            break
        data += part
    return _lines(data), True


def _lines(data: bytes) -> list[dict[str, Any]]:
    """Return the lines that can be read; a broken or forged line counts for nothing."""
    found = []
    for line in data.split(b"\n")[:-1]:
        try:
            read = json.loads(line)
        except ValueError:
            break
        if not isinstance(read, dict):
            break
        found.append(read)
    return found


def _end(child: int) -> int:
    """End the child and what it started; its exit code, negative for a signal."""
    done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        time.sleep(0.01)
        done, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _outcomes(
    lines: list[dict[str, Any]], count: int, in_time: bool, seconds: float, status: int
) -> list[Outcome]:
    """One outcome for each case."""
    if lines and "load" in lines[0]:
        raise SolutionError(str(lines[0]["load"]))
    found = []
    for line in lines[:count]:
        try:
            values = line["values"]
            arrays = None if values is None else tuple(
                np.array(data, np.dtype(kind)).reshape(shape) for kind, shape, data in values
            )  # fmt: skip
        except (KeyError, TypeError, ValueError):
            found.append(Outcome(None, "its result could not be read"))
            continue
        found.append(Outcome(arrays, str(line.get("problem", ""))))
    if len(found) < count:
        if not in_time:
            reason = f"it took longer than {seconds:g} s: is there a loop that does not end?"
        elif status < 0:
            reason = f"it ended the process by {signal.Signals(-status).name}"
        else:
            reason = "it ended the process"
        found.append(Outcome(None, reason))
    found += [Outcome(None, SKIPPED)] * (count - len(found))
    return found
