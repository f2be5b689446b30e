"""``Timer``: run a statement often enough to know its time."""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from typing import Any

from ..._kernels import get_num_threads, set_num_threads
from .measurement import Measurement

__all__ = ["Timer"]

#: The package as its users have it, for the names of statements.
_PYQREF = sys.modules[__name__.partition(".")[0]]


class Timer:
    """Measures the wall time of a statement, on a number of threads.

    Parameters
    ----------
    stmt
        A statement as text.
    setup
        What runs before, as text.
    global_setup
        Of no use here: it is for other languages.
    timer
        The clock.
    globals
        Names that the statement uses; ``torch`` and ``pyqref`` are there.
    label, sub_label, description, env
        Words for tables.
    num_threads
        Threads of pyqref's kernels while it runs.
    language
        ``"python"``.

    Raises
    ------
    ValueError
        ``language`` is another one.

    Notes
    -----
    Source: documentation of ``torch.utils.benchmark.Timer``.

    Examples
    --------
    >>> import pyqref
    >>> timer = pyqref.utils.benchmark.Timer("x.exp()", globals={"x": pyqref.ones(3)})
    >>> timer.timeit(10).number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "python",
    ) -> None:
        if str(getattr(language, "value", language)).lower() not in ("python", "py", "0"):
            raise ValueError(f"Timer: language must be 'python', got {language!r}")
        if not isinstance(stmt, str) or not isinstance(setup, str):
            raise ValueError("Timer: stmt and setup must be texts; put objects into globals=")
        if not isinstance(num_threads, int) or num_threads < 1:
            raise ValueError(f"Timer: num_threads must be an integer >= 1, got {num_threads!r}")
        names = {"pyqref": _PYQREF, "torch": _PYQREF, **(globals or {})}
        stmt = _without_indent(stmt)
        setup = _without_indent(setup)
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._words: dict[str, Any] = {
            "stmt": stmt,
            "setup": setup,
            "label": label,
            "sub_label": sub_label,
            "description": description,
            "env": env,
        }
        self._num_threads = num_threads

    def _run(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            return max(self._timer.timeit(number), 1e-9)
        finally:
            set_num_threads(before)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, num_threads=self._num_threads, **self._words)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of ``number`` runs, after some to warm up.

        Parameters
        ----------
        number
            At least 1.
        """
        self._run(max(number // 100, 1))
        return self._measured(number, [self._run(number)])

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Times of blocks of runs, until ``min_run_time`` seconds are over.

        A block takes a tenth of that time at least.

        Parameters
        ----------
        callback
            Is told the number of runs and the seconds of each block.
        min_run_time
            Seconds in all.
        """
        number = 1
        while self._run(number) < min_run_time / 10:
            number *= 10
        times: list[float] = []
        total = 0.0
        while total < min_run_time:
            took = self._run(number)
            total += took
            times.append(took)
            if callback is not None:
                callback(number, took)
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measure like :meth:`blocked_autorange`, until the times agree.

        Parameters
        ----------
        threshold
            Distance of the quartiles, as a part of the median, that is small enough.
        min_run_time, max_run_time
            Seconds, at least and at most.
        callback
            Is told the number of runs and the seconds of each block.
        """
        found = self.blocked_autorange(callback, min_run_time)
        while found.iqr > threshold * found.median and sum(found.raw_times) < max_run_time:
            took = self._run(found.number_per_run)
            found.raw_times.append(took)
            if callback is not None:
                callback(found.number_per_run, took)
        return found


def _without_indent(text: str) -> str:
    """A text in triple quotes, moved to the left."""
    lines = text.strip("\n").rstrip().splitlines() or ["pass"]
    indent = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)
