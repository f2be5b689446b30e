"""Number of threads that the kernels use."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable

from pyqref._insides.openmp_waiting import awake, short_waiting

__all__ = ["get_num_threads", "has_openmp", "set_num_threads", "together"]

#: However the number of threads is set, it lies between 1 and this.
MOST_THREADS = 1024

# ``limit`` is how many threads an operation may use: the thin layers read it for every call.
try:
    with short_waiting():
        from . import _parallel

    _openmp, limit = _parallel.has_openmp(), min(_parallel.max_threads(), MOST_THREADS)
    _parallel.set_main_thread(threading.main_thread().ident or 0)
    _parallel.expect_waiting(awake())
except ImportError:
    _openmp, limit = False, 1

_forked = False


def has_openmp() -> bool:
    """Return True if the kernels were built with OpenMP; without it they use one thread."""
    return _openmp


def get_num_threads() -> int:
    """Return the number of threads that an operation may use, in [1, 1024].

    The number starts as the value of ``OMP_NUM_THREADS``, or as the number of processors where that
    is not set. :func:`set_num_threads` replaces it for the whole process. The context manager
    ``threadpoolctl.threadpool_limits`` lowers it, never raises it, for the Python thread that
    enters the block, until the block ends or :func:`set_num_threads` is called. The number is 1
    without OpenMP and in a child process made by ``os.fork``. Results do not depend on it.

    Idle threads spin for some microseconds only before they sleep, unless the environment sets
    ``GOMP_SPINCOUNT`` or ``OMP_WAIT_POLICY``.

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

    The number replaces the one from ``OMP_NUM_THREADS``; :func:`get_num_threads` tells how it works
    together with ``threadpoolctl``.

    Parameters
    ----------
    n_threads
        An integer in [1, 1024]. Small operations use fewer threads.

    Raises
    ------
    TypeError, ValueError
        If ``n_threads`` is not an integer; if it is outside of [1, 1024].

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
    if not 1 <= n_threads <= MOST_THREADS:
        raise ValueError(f"n_threads must be in [1, {MOST_THREADS}], got {n_threads}")
    global limit
    if n_threads > 1 and (_forked or not _openmp):
        reason = "in a forked process" if _openmp else "because pyqref was built without OpenMP"
        warnings.warn(f"one thread is used {reason}, not {n_threads}", RuntimeWarning, stacklevel=2)
        n_threads = 1
    limit = n_threads
    if _openmp:
        _parallel.limit_threads(n_threads)


def together(work: Callable[[], object], n_threads: int) -> None:
    """Call ``work()`` once on each of ``n_threads`` threads of the kernels.

    Kernels that ``work`` calls run on the calling thread alone. New Python threads would compete
    for processors with the kernels' threads, which spin between operations, and each of them would
    start further threads, so that there would be more threads than processors.

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
