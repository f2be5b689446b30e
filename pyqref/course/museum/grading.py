"""Which bugs of the museum the tests of a student find."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ..loading import SolutionError
from .bug import Bug
from .hall import bugs

__all__ = ["Grade", "grade_tests"]


@dataclass(frozen=True)
class Grade:
    """Bugs that the tests of :func:`grade_tests` noticed, and those that they missed.

    Attributes
    ----------
    passed
        Whether all tests pass without a bug.
    found, missed
        Names of bugs. Both are empty where the tests do not pass by themselves.

    Examples
    --------
    >>> print(Grade(True, ("wraps",), ("half-away",)))
    1 of 2 bugs are found.
      found   wraps
      missed  half-away
    """

    passed: bool
    found: tuple[str, ...]
    missed: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {"passed": self.passed, "found": list(self.found), "missed": list(self.missed)}

    def __str__(self) -> str:
        if not self.passed:
            return "The tests must pass on pyqref as it is, before bugs are planted: correct them."
        return "\n".join(
            [
                f"{len(self.found)} of {len(self.found) + len(self.missed)} bugs are found.",
                *(f"  found   {each}" for each in self.found),
                *(f"  missed  {each}" for each in self.missed),
            ]
        )


def grade_tests(
    file: str | Path, *, seconds: float = 60.0, names: Sequence[str] | None = None
) -> Grade:
    r"""Run a file of tests without a bug, then with each bug of the museum.

    The tests call functions of :mod:`pyqref.numerics`, where the bugs are planted; what is compiled
    has none of them.

    Parameters
    ----------
    file
        Tests for pytest. It is run with all that it does, in processes of its own.
    seconds
        For each run. A run that takes longer has found the bug.
    names
        Of the bugs that are planted; all if None.

    Raises
    ------
    SolutionError
        There is no such file, pytest is not installed, or Python cannot split processes (Windows).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "test_mine.py")
    ...     _ = file.write_text(
    ...         "from pyqref.numerics import qparams\n"
    ...         "def test_middle():\n"
    ...         "    assert 128 == qparams.symmetric_zero_point(False)\n")
    ...     grade = grade_tests(file, names=["midpoint-127", "half-away"])
    >>> grade
    Grade(passed=True, found=('midpoint-127',), missed=('half-away',))
    """
    file = Path(file)
    if not file.is_file():
        raise SolutionError(f"{file} is no file")
    if not hasattr(os, "fork"):
        raise SolutionError("grade-tests splits processes, which this system cannot")
    try:
        import pytest
    except ImportError:
        raise SolutionError("grade-tests needs pytest, of the extra pyqref[testing]") from None
    del pytest
    for bug in bugs().values():
        bug.original()  # imported once, here
    if _exit_code(file, None, seconds) != 0:
        return Grade(False, (), ())
    chosen = bugs() if names is None else {name: bugs()[name] for name in names}
    results = {name: _exit_code(file, bug, seconds) for name, bug in chosen.items()}
    found = tuple(name for name, code in results.items() if code != 0)
    return Grade(True, found, tuple(name for name in results if name not in found))


def _exit_code(file: Path, bug: Bug | None, seconds: float) -> int:
    """Exit code of pytest in a process that has the bug."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        _run(file, bug)
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL
        time.sleep(0.02)


def _run(file: Path, bug: Bug | None) -> NoReturn:
    """Run the tests. This is the child."""
    code = 70
    try:
        import pytest

        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        with bug.planted() if bug else nullcontext():
            options = ["-q", "-x", "--import-mode=importlib", "-p", "no:cacheprovider"]
            code = int(pytest.main([*options, "--rootdir", str(file.parent), str(file)]))
    finally:
        os._exit(code)
