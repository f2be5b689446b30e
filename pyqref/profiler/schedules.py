"""Schedule of a profiler: its action in each step of a loop."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

__all__ = ["ProfilerAction", "ProfilerActivity", "schedule", "tensorboard_trace_handler"]


class ProfilerActivity(Enum):
    """Device on which operations run; here all run on the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.profiler.ProfilerActivity.CPU in pyqref.profiler.supported_activities()
    True
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """Action of a profiler in a step.

    Examples
    --------
    >>> import pyqref
    >>> [each.name for each in pyqref.profiler.ProfilerAction]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A cycle of steps: ``wait`` without measuring, ``warmup`` too, then ``active`` measured ones.

    Parameters
    ----------
    wait, warmup, active
        Numbers of steps; ``active`` is at least 1.
    repeat
        How many cycles; 0 for no end.
    skip_first
        Steps before the first cycle.
    skip_first_wait
        Not 0, if the first cycle shall not wait.

    Returns
    -------
    callable
        From the number of a step to what the profiler does in it.

    Examples
    --------
    >>> import pyqref
    >>> plan = pyqref.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError(
            "schedule: wait, warmup, repeat and skip_first must be >= 0 and active >= 1, got "
            f"{wait}, {warmup}, {repeat}, {skip_first} and {active}"
        )

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        is_last = place == cycle - 1
        return ProfilerAction.RECORD_AND_SAVE if is_last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """A function for ``on_trace_ready`` that writes a trace into a folder.

    Parameters
    ----------
    dir_name
        The folder; made if it is not there.
    worker_name
        Begin of the file's name; by default of machine and process.
    use_gzip
        Has to be False: the file is written as it is.

    Examples
    --------
    >>> import os, pyqref, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write = pyqref.profiler.tensorboard_trace_handler(folder)
    ...     with pyqref.profiler.profile(on_trace_ready=write):
    ...         y = pyqref.ones(3).sum()
    ...     len(os.listdir(folder))
    1
    """
    if use_gzip:
        raise ValueError("tensorboard_trace_handler: use_gzip must be False; compress the file")

    def handler(profiler: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        profiler.export_chrome_trace(
            os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json")
        )

    return handler
