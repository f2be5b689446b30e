"""Python's own processes, under the names of ``torch.multiprocessing``.

A tensor that is sent to another process is copied.
"""

from __future__ import annotations

import multiprocessing as _processes
from collections.abc import Callable
from multiprocessing import Array as Array
from multiprocessing import Event as Event
from multiprocessing import Lock as Lock
from multiprocessing import Manager as Manager
from multiprocessing import Pipe as Pipe
from multiprocessing import Pool as Pool
from multiprocessing import Process as Process
from multiprocessing import Queue as Queue
from multiprocessing import SimpleQueue as SimpleQueue
from multiprocessing import Value as Value
from multiprocessing import cpu_count as cpu_count
from multiprocessing import current_process as current_process
from multiprocessing import freeze_support as freeze_support
from multiprocessing import get_context as get_context
from multiprocessing import get_start_method as get_start_method
from multiprocessing import set_start_method as set_start_method
from typing import Any

__all__ = [
    "Array",
    "Event",
    "Lock",
    "Manager",
    "Pipe",
    "Pool",
    "Process",
    "Queue",
    "SimpleQueue",
    "Value",
    "cpu_count",
    "current_process",
    "freeze_support",
    "get_all_sharing_strategies",
    "get_context",
    "get_sharing_strategy",
    "get_start_method",
    "set_sharing_strategy",
    "set_start_method",
    "spawn",
]


def spawn(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Call ``fn(number, *args)`` in several processes.

    Parameters
    ----------
    fn
        A function of a module: each process imports it.
    args
        What it is given after the number of the process.
    nprocs
        How many processes.
    join
        Whether to wait for them.
    daemon
        Whether they end with this process.
    start_method
        ``"spawn"``, ``"fork"`` or ``"forkserver"``.

    Returns
    -------
    list of Process or None
        None if they are waited for.

    Raises
    ------
    RuntimeError
        One of them failed.

    Examples
    --------
    >>> import operator, pyqref
    >>> pyqref.multiprocessing.spawn(operator.add, (1,), nprocs=1, start_method="fork")
    """
    context: Any = _processes.get_context(start_method)
    processes = [
        context.Process(target=fn, args=(number, *args), daemon=daemon) for number in range(nprocs)
    ]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    failed = [number for number, process in enumerate(processes) if process.exitcode]
    if failed:
        raise RuntimeError(
            f"multiprocessing.spawn: process {failed[0]} ended with exit code "
            f"{processes[failed[0]].exitcode}; its error is printed above"
        )
    return None


def get_all_sharing_strategies() -> set[str]:
    """Return the ways to share memory: tensors are copied, as between all processes of Python.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.multiprocessing.get_all_sharing_strategies()
    {'copy'}
    """
    return {"copy"}


def get_sharing_strategy() -> str:
    """Return the way in which memory is shared: tensors are copied.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.multiprocessing.get_sharing_strategy()
    'copy'
    """
    return "copy"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepted: tensors are copied, whichever strategy is named.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.multiprocessing.set_sharing_strategy("file_system")
    """
