"""``calibrate``: one call that shows a prepared model any amount of data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import islice
from os import PathLike
from typing import Any

from pyqref.nn.modules.module import Module
from pyqref.quantization.diagnostics import NoEffectWarning, warn
from pyqref.quantization.eager.paths import require_module
from pyqref.quantization.merging import watchers

from .checkpoint import Checkpoint
from .pieces import forget, take_in
from .pools import Piece, in_process, on_cluster, on_workers
from .report import Report
from .sources import batches_of, grouped

__all__ = ["calibrate"]

#: The methods of a ``dask.distributed.Client`` that are called.
_OF_A_CLIENT = ("submit", "scatter", "nthreads", "cancel")


def calibrate(
    prepared: Module,
    data: object,
    *,
    workers: int = 1,
    progress: bool | Callable[[int], object] = True,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    piece: int = 8,
    batch_size: int = 32,
    transform: Callable[[Any], Any] | None = None,
) -> Module:
    """Show a prepared model data, in one process or in many, and return it.

    The batches are divided into pieces. Observers that saw nothing see each piece, and are then
    merged into those of ``prepared`` in the order of the data (:meth:`ObserverBase.merge`). So the
    result is the same, to the bit, for any number of workers and for a cluster; for observers
    whose merge is exact it is that of a plain loop over the data.

    Parameters
    ----------
    prepared
        The result of ``prepare`` or ``prepare_fx``, in eval mode. What it saw before is kept.
    data
        A ``DataLoader`` or any other iterable of batches; an array or a tensor whose first axis
        counts examples; or the path of a folder of images. A batch is a tensor or an array; a tuple
        or list, of which as many are given to ``forward`` as it takes, so that labels are left out;
        or a dictionary of arguments.
    workers
        Number of processes on this machine, at least 1; more than one need joblib (the extra
        ``workers``). The threads are divided among them.
    progress
        True shows the number of batches on a terminal; a function is called with it after each
        piece; False does neither.
    client
        A ``dask.distributed.Client`` (the extra ``cluster``), whose workers run the pieces. A
        piece that is lost with its worker is run again.
    checkpoint
        Path of a file that keeps what was seen after each piece. Where it exists, its pieces are
        left out of ``data``, which must be the same as before; remove it to begin anew.
    piece
        Batches of a piece, at least 1. A larger one costs less to send, a smaller one less to
        repeat.
    batch_size
        Examples of a batch, where ``data`` is an array.
    transform
        For a folder: makes an array ``(C, H, W)`` of each ``PIL.Image``; by default its colours,
        divided by 255.

    Returns
    -------
    Module
        ``prepared``.

    Raises
    ------
    TypeError
        ``data`` or an option is of a wrong type, or the model cannot be sent to other processes.
    ValueError
        An option is out of range, the model has no observers or is in training mode, there is no
        batch, or the checkpoint belongs to something else.
    CalibrationError
        A batch could not be run; the message has its number.
    ImportError
        An extra is missing.

    Warns
    -----
    NoEffectWarning
        ``workers`` is given together with ``client``.

    Notes
    -----
    Fake quantizers see what their predecessors let through, which depends on what those saw
    before: turn them off first (``apply(disable_fake_quant)``). After Ctrl-C the processes are
    ended, and the model keeps the pieces that were merged.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> prepared = quantization.prepare(model)
    >>> data = pyqref.arange(40.0).reshape(10, 4)
    >>> prepared = quantization.calibrate(prepared, data, batch_size=3)
    >>> by_hand = quantization.prepare(model)
    >>> for start in range(0, 10, 3):
    ...     _ = by_hand(data[start : start + 3])
    >>> str(prepared) == str(by_hand)
    True
    """
    _check(prepared, workers=workers, piece=piece, batch_size=batch_size)
    if client is not None and not all(hasattr(client, name) for name in _OF_A_CLIENT):
        raise TypeError(f"calibrate: client must be a dask.distributed.Client, got {client!r}")
    if client is not None and workers != 1:
        warn(
            f"calibrate: workers={workers} has no effect with client, whose cluster has workers of "
            "its own; leave one of them out",
            NoEffectWarning,
        )
    pieces = _numbered(grouped(batches_of(data, batch_size, transform), piece))
    kept = None if checkpoint is None else Checkpoint(checkpoint, prepared, piece)
    done = 0 if kept is None else kept.resume()
    skipped = sum(len(batches) for _, batches in islice(pieces, done))
    report = Report("calibrate", progress, "batches", skipped)
    sizes: list[int] = []
    fresh = copy.deepcopy(prepared)
    forget(fresh)
    seen = _observed(fresh, _counting(pieces, sizes), workers, client)
    try:
        for each in seen:
            take_in(prepared, each)
            done += 1
            if kept is not None:
                kept.write(done)
            report.add(sizes.pop(0))
    finally:
        seen.close()
        report.end()
    if not done:
        raise ValueError("calibrate: data held no batch; nothing was observed")
    return prepared


def _observed(fresh: Module, pieces: Iterator[Piece], workers: int, client: Any) -> Any:
    """A generator of what each piece saw, in their order."""
    if client is not None:
        return on_cluster(fresh, pieces, client)
    return in_process(fresh, pieces) if workers == 1 else on_workers(fresh, pieces, workers)


def _numbered(groups: Iterator[list[Any]]) -> Iterator[Piece]:
    first = 0
    for batches in groups:
        yield first, batches
        first += len(batches)


def _counting(pieces: Iterator[Piece], sizes: list[int]) -> Iterator[Piece]:
    """The pieces, whose sizes are noted as they are taken."""
    for first, batches in pieces:
        sizes.append(len(batches))
        yield first, batches


def _check(prepared: Module, **counts: Any) -> None:
    require_module("calibrate", prepared)
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"calibrate: {name} must be an int, got {value!r}")
        if value < 1:
            raise ValueError(f"calibrate: {name} must be at least 1, got {value}")
    if not any(True for _ in watchers(prepared)):
        raise ValueError(
            f"calibrate: the model ({type(prepared).__name__}) has no observers; call prepare or "
            "prepare_fx first"
        )
    if prepared.training:
        raise ValueError(
            "calibrate: the model is in training mode, where batch norm and dropout give other "
            "values than in use; call prepared.eval() first"
        )
