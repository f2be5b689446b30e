"""Mixed work in threads gives what it gives alone, and memory does not grow."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import soak

HERE = Path(soak.__file__)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_three_seconds():
    """The short form of the soak."""
    program = [sys.executable, str(HERE), "--seconds", "3", "--threads", "4"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert "wrong: []" in done.stdout, done.stdout + done.stderr
    assert "flat: True" in done.stdout


def test_another_result_is_seen(monkeypatch):
    """A piece of work that gives something else in a thread than alone ends the soak."""
    numbers = itertools.count()
    monkeypatch.setattr(soak, "WORK", {"counts": lambda: min(next(numbers), 9)})
    found = soak.Soak(2, 0)
    found.run(0.2)
    assert "counts: another result than alone" in found.wrong


@pytest.mark.parametrize(
    ("memory", "flat"),
    [
        ([50, 100, 100, 100, 100, 100, 100, 100], True),
        ([100, 100, 100, 100, 101, 102, 103, 103], True),
        ([100, 100, 100, 100, 150, 150, 150, 150], False),
    ],
)
def test_growing_memory_is_seen(monkeypatch, memory, flat):
    """The last quarter is compared with the second one."""
    monkeypatch.setattr(soak, "WORK", {})
    found = soak.Soak(1, 0)
    found.memory = [each * 2**20 for each in memory]
    assert flat == found.is_flat()
