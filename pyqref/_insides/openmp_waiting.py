"""Time that a thread of GNU's OpenMP waits awake for the next loop.

What
    The environment variable ``GOMP_SPINCOUNT``, set while the library is loaded, since it reads
    it once, and taken away again.
Why
    By default a thread waits for milliseconds, in which it keeps the thread that it waits for from
    a processor, where other processes want one too: layers become 30 times slower.
Where it is absent
    Other OpenMP libraries do not read the variable, and what the user has set remains. Then
    nothing is known of how long threads wait.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["SPIN_COUNT", "WAITING", "awake", "short_waiting"]

#: What says how long a thread of GNU's OpenMP waits awake for the next loop.
WAITING = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
#: About 35 microseconds: the time from one layer to the next.
SPIN_COUNT = "1000"
#: Seconds of it on which a loop may count.
AWAKE = 25e-6


def _is_set() -> bool:
    return any(name in os.environ for name in WAITING)


def awake() -> float:
    """Seconds for which a thread certainly waits awake; 0 where the user has said how long."""
    return 0.0 if _is_set() else AWAKE


@contextmanager
def short_waiting() -> Iterator[None]:
    """Set how long to wait, unless the user has, while OpenMP is loaded.

    Examples
    --------
    >>> with short_waiting():
    ...     pass
    """
    if _is_set():
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SPIN_COUNT
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
