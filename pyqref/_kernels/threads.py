"""How many threads the kernels use."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable

from pyqref._insides.openmp_waiting import awake, short_waiting

__all__ = ["get_num_threads", "has_openmp", "set_num_threads", "together"]

# ``limit`` is how many threads an operation may use: the thin layers read it for every call.
try:
    with short_waiting():
        from . import _parallel

    _openmp, limit = _parallel.has_openmp(), _parallel.max_threads()
    _parallel.set_main_thread(threading.main_thread().ident or 0)
    _parallel.expect_waiting(awake())
except ImportError:
    _openmp, limit = False, 1

_forked = False


def has_openmp() -> bool:
    """Whether the kernels were built with OpenMP, without which they use one thread."""
    return _openmp


def get_num_threads() -> int:
    """Threads that an operation may use.

    At first what ``OMP_NUM_THREADS`` says, or else the number of processors; then what
    :func:`set_num_threads` or ``threadpoolctl.threadpool_limits`` says, whichever is less. It is 1
    without OpenMP, and in a child process made by ``os.fork``. The results do not depend on it.
    Threads wait awake for the next operation for some microseconds only, unless the
    environment sets ``GOMP_SPINCOUNT`` or ``OMP_WAIT_POLICY``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_num_threads(1)
    >>> pyqref.get_num_threads()
    1
    """
    return min(limit, _parallel.max_threads()) if _openmp else limit


def set_num_threads(n_threads: int) -> None:
    """Set how many threads an operation may use, in the whole process.

    Parameters
    ----------
    n_threads
        A positive integer. Small operations use fewer.

    Raises
    ------
    TypeError, ValueError
        Not an integer; not positive.

    Warns
    -----
    RuntimeWarning
        More than one thread was asked for where only one can be used.

    Examples
    --------
    >>> import pyqref
    >>> before = pyqref.get_num_threads()
    >>> pyqref.set_num_threads(1)
    >>> pyqref.get_num_threads()
    1
    >>> pyqref.set_num_threads(before)
    """
    if not isinstance(n_threads, int) or isinstance(n_threads, bool):
        raise TypeError(f"n_threads must be an int, got {type(n_threads).__name__}")
    if not 1 <= n_threads <= 1024:
        raise ValueError(f"n_threads must be in [1, 1024], got {n_threads}")
    global limit
    if n_threads > 1 and (_forked or not _openmp):
        reason = "in a forked process" if _openmp else "because pyqref was built without OpenMP"
        warnings.warn(f"one thread is used {reason}, not {n_threads}", RuntimeWarning, stacklevel=2)
        n_threads = 1
    limit = n_threads
    if _openmp:
        _parallel.limit_threads(n_threads)


def together(work: Callable[[], object], n_threads: int) -> None:
    """Call ``work()`` by each of so many threads of the kernels; in it, kernels use no other one.

    Threads of one's own would want the processors on which those of the kernels wait awake, and
    would get helpers of their own, more than there are processors.

    Examples
    --------
    >>> together(lambda: print("once"), 1)
    once
    """
    if n_threads == 1 or not _openmp:
        work()
    else:
        _parallel.together(work, n_threads)


def _after_fork() -> None:
    # GNU's OpenMP waits for ever in a forked child for threads that the fork left behind.
    global limit, _forked
    limit, _forked = 1, True
    if _openmp:
        _parallel.mark_forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
