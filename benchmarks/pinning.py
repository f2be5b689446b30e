"""Each thread of each library on a processor of its own, as every pool would have it alone.

A scheduler may wake a sleeping thread on the processor of the thread that woke it, and leave both
there for milliseconds although another processor idles: in virtual machines, where a halted
processor looks like one that was taken away, it does so often. Then two threads are slower than
one, by chance, in whichever library is looked at. So nobody is left to that chance.
"""

from __future__ import annotations

import os
from pathlib import Path

TASKS = Path("/proc/self/task")
CPUS = Path("/sys/devices/system/cpu")


def _place_in_core(processor: int) -> int:
    """0 for the first of the processors that share a core, 1 for the second."""
    file = CPUS / f"cpu{processor}/topology/core_cpus_list"
    if not file.exists():
        return 0
    parts = [part.partition("-") for part in file.read_text().strip().split(",")]
    sharing = [n for low, _, high in parts for n in range(int(low), int(high or low) + 1)]
    return sharing.index(processor)


def _processors() -> list[int]:
    """Return the processors of the process: one of each core, then the others."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0), key=lambda each: (_place_in_core(each), each))


#: Found once: a thread that is pinned later, and those that it starts, see one.
PROCESSORS = _processors()


def awake() -> bool:
    """Return True if a thread of this process other than the first runs, or is ready to."""
    for task in TASKS.iterdir() if TASKS.exists() else ():
        try:
            state = (task / "stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        if state == "R" and int(task.name) != os.getpid():
            return True
    return False


class Pinned:
    """Keep the calling thread on the first processor and what others there are on the next ones.

    Pools of ``threads`` threads, of which one is the caller, are found by the order in which
    they were made. Does nothing for one thread, or where an operating system has no such calls.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.processors: list[int] = []
        self._known: set[int] = set()
        if threads > 1 and TASKS.exists():
            self.processors = PROCESSORS[:threads]

    def update(self) -> None:
        """Give each thread that is new since the last call its processor."""
        if len(self.processors) < 2:
            return
        found = {int(task.name) for task in TASKS.iterdir()}
        others = sorted(found - self._known - {os.getpid()})
        os.sched_setaffinity(os.getpid(), self.processors[:1])
        for index, thread in enumerate(others):
            place = self.processors[1 + index % (len(self.processors) - 1)]
            try:
                os.sched_setaffinity(thread, {place})
            except ProcessLookupError:  # it has ended
                continue
        self._known = found
