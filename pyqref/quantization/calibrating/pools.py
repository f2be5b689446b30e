"""Who runs the pieces: this process, processes of this machine, or a cluster.

Each is a generator that gives what was seen in the order of the pieces, so that the result of
merging does not depend on who ran them. The model is sent once to each process, its pieces one
after the other.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from pyqref._kernels.threads import get_num_threads, set_num_threads
from pyqref.nn.modules.module import Module
from pyqref.numerics.types import IntArray

from .pieces import CalibrationError, Seen, observe_piece
from .shipping import pack, unpack

__all__ = ["in_process", "on_cluster", "on_workers"]

#: Pieces that wait for a worker: enough that none is idle, few enough to bound the memory.
AHEAD = 2
#: How often a piece is sent again after the cluster lost it.
TRIES = 5

#: The number of the first batch, and the batches.
Piece = tuple[int, list[Any]]


def in_process(model: Module, pieces: Iterator[Piece]) -> Iterator[Seen]:
    """Run the pieces here, one after the other, on a model that saw nothing."""
    for first, batches in pieces:
        yield observe_piece(model, first, batches)


def on_workers(model: Module, pieces: Iterator[Piece], workers: int) -> Iterator[Seen]:
    """Run the pieces in processes of this machine, by joblib.

    When the generator is closed, for one because of Ctrl-C, the processes are ended.
    """
    try:
        import joblib
        from joblib.externals.loky import get_reusable_executor
    except ImportError as error:
        raise ImportError(
            f"calibrate: workers={workers} needs joblib: pip install 'pyqref[workers]', or use "
            "workers=1"
        ) from error
    packed, key = _packed(model)
    threads = max(1, get_num_threads() // workers)
    # An array of more than a megabyte is written to a file once, which the processes map.
    parallel = joblib.Parallel(workers, return_as="generator", pre_dispatch=AHEAD * workers)
    call = joblib.delayed(_observe_packed)
    results = parallel(call(packed, key, first, batches, threads) for first, batches in pieces)
    finished = False
    try:
        yield from results
        finished = True
    finally:
        if not finished:
            results.close()
            get_reusable_executor().shutdown(wait=True, kill_workers=True)


def on_cluster(model: Module, pieces: Iterator[Piece], client: Any) -> Iterator[Seen]:
    """Run the pieces on the workers of a ``dask.distributed.Client``.

    The batches of a piece stay here until its result has come, so that a worker that is lost costs
    only time: its pieces are sent again.
    """
    cluster = _Cluster(client, model)
    waiting: deque[tuple[Piece, Any]] = deque()
    try:
        for piece in pieces:
            waiting.append((piece, cluster.send(piece)))
            if len(waiting) >= AHEAD * max(1, sum(client.nthreads().values())):
                yield cluster.result(waiting)
        while waiting:
            yield cluster.result(waiting)
    finally:
        client.cancel([future for _, future in waiting], force=True)


class _Cluster:
    """A client, and the model that lies with its workers."""

    def __init__(self, client: Any, model: Module) -> None:
        self.client = client
        self.packed, self.key = _packed(model)
        self.scatter()

    def scatter(self) -> None:
        """Give each worker the model; one that joins later gets it from another one."""
        self.there = self.client.scatter(self.packed, broadcast=True, hash=False)

    def send(self, piece: Piece) -> Any:
        return self.client.submit(
            _observe_packed, self.there, self.key, *piece, None, pure=False, retries=TRIES
        )

    def result(self, waiting: deque[tuple[Piece, Any]]) -> Seen:
        """The result of the piece that was sent first; it is sent again if the cluster lost it."""
        piece, future = waiting[0]
        for _ in range(TRIES):
            try:
                seen: Seen = future.result()
            except CalibrationError:
                raise
            except Exception as error:
                if not _is_loss(error):
                    raise
                lost = error
                self.scatter()
                future = self.send(piece)
                continue
            waiting.popleft()
            return seen
        raise CalibrationError(
            f"calibrate: the cluster lost the piece that begins with batch {piece[0]} {TRIES} "
            f"times ({type(lost).__name__}: {lost}); look at the memory of its workers, or use a "
            "smaller piece"
        ) from lost


def _is_loss(error: Exception) -> bool:
    """Return True for what dask raises where a worker, and not the work, failed."""
    names = {each.__name__ for each in type(error).__mro__}
    return bool(
        names & {"KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError"}
    )


def _packed(model: Module) -> tuple[IntArray, str]:
    """The bytes of a model, as an array, and a name that no other model has."""
    packed = pack(model)
    return np.frombuffer(packed, np.uint8), hashlib.sha256(packed).hexdigest()


#: The model of this thread of a worker, and the name of its bytes.
_own = threading.local()


def _observe_packed(
    packed: IntArray, key: str, first: int, batches: list[Any], threads: int | None
) -> Seen:
    """Run a piece in a worker, which keeps the model for the next one."""
    if threads is not None:
        set_num_threads(threads)
    if getattr(_own, "key", None) != key:
        _own.model, _own.key = unpack(packed.data), key
    return observe_piece(_own.model, first, batches)
