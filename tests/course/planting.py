"""Plant each bug of the museum, run the test that is to find it, and print what pytest returned.

A process of its own, which the state of a long run of tests cannot reach. It collects the tests
once, so that their files and all that they import are loaded, and runs none; the test of each bug
then runs in a fork, and no bug sees what another one left behind.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pyqref.course.museum import Bug, bugs

ROOT = Path(__file__).parents[2]
#: An installed pyqref has a plugin of pytest, and is imported already.
OPTIONS = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
OPTIONS += ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]


@contextmanager
def silence() -> Iterator[None]:
    """Let nothing that pytest says reach the output."""
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        sys.stdout.flush()  # into nothing, where the output is kept until there is much of it
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


def collect() -> None:
    """Load the files of all tests that are to find a bug."""
    tests = dict.fromkeys(str(ROOT / bug.test) for bug in bugs().values())
    with silence():
        code = pytest.main([*OPTIONS, "--collect-only", *tests])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"pytest could not collect {', '.join(tests)}: {code!r}")


def outcome(bug: Bug) -> int:
    """Return the exit status of pytest while the bug is planted."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            with silence(), bug.planted():
                code = int(pytest.main([*OPTIONS, str(ROOT / bug.test)]))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    collect()
    print(json.dumps({bug.name: outcome(bug) for bug in bugs().values()}))
