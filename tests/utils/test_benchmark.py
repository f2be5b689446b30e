"""Timers run statements, on a number of threads, and put back what they set."""

from __future__ import annotations

import time
from typing import Any

import pytest

import pyqref
from pyqref.utils.benchmark import Compare, Measurement, Timer


def test_a_timer_measures() -> None:
    """Seconds a run; a block is long enough; the threads are those that were asked for."""
    before = pyqref.get_num_threads()
    threads: list[int] = []

    def sleeps(seconds: float) -> None:
        threads.append(pyqref.get_num_threads())
        time.sleep(seconds)

    timer = Timer("sleeps(y)", "y = 0.002", globals={"sleeps": sleeps}, num_threads=1)
    found = timer.timeit(3)
    assert (3, 1) == (found.number_per_run, len(found.times))
    assert 0.002 <= found.mean == found.median < 1
    found = timer.blocked_autorange(min_run_time=0.05)
    assert 0.05 <= sum(found.raw_times)
    assert timer.adaptive_autorange(0.5, max_run_time=0.2).median >= 0.002
    assert {1} == set(threads)
    assert before == pyqref.get_num_threads()


def test_statements_know_torch_and_lose_their_indent() -> None:
    found = Timer(
        """
        y = torch.exp(x)
        z = y + 1
        """,
        setup="x = torch.ones(3)",
        label="two",
        sub_label="steps",
        description="here",
    ).timeit(2)
    assert "two: steps" == found.title
    assert found.stmt.startswith("y = ")
    for text in ("two: steps", "here", "setup: x = torch.ones(3)", "1 measurement, 2 runs"):
        assert text in repr(found)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"language": "c++"}, "language must be"),
        ({"stmt": print}, "put objects into globals"),
        ({"num_threads": 0}, "num_threads must be"),
    ],
)
def test_what_a_timer_cannot_take(options: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Timer(**options)


def test_a_table_has_a_line_a_sublabel(capsys: pytest.CaptureFixture[str]) -> None:
    """Tables by label, blocks by threads, columns by description; the unit fits the smallest."""
    made = [
        Measurement(1, [n * 1e-6], label="mul", sub_label=size, description=name, num_threads=t)
        for n, (size, name, t) in enumerate(
            ((s, d, t) for t in (1, 2) for s in ("small", "large") for d in ("a", "b")), 1
        )
    ]
    Compare(made).print()
    printed = capsys.readouterr().out
    assert 2 == printed.count(" threads: ")
    assert "      small  |  1.0  |  2.0" in printed
    assert "microseconds" in printed
