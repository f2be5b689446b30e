"""Plant each bug of the museum, run the test that is to find it, and print what pytest returned.

A process of its own, which the state of a long run of tests cannot reach. The test of each bug
runs in a fork of it, since pytest imports a file of tests once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pyqref.course.museum import Bug, bugs

ROOT = Path(__file__).parents[2]


def outcome(bug: Bug) -> int:
    """Return the exit status of pytest while the bug is planted."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            with bug.planted():
                options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
                # An installed pyqref has a plugin of pytest, and is imported already.
                options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
                code = int(pytest.main([*options, str(ROOT / bug.test)]))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    print(json.dumps({bug.name: outcome(bug) for bug in bugs().values()}))
