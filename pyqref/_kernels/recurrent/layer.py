"""Recurrent layers and cells by the kernel in use: with int8 weights, all steps in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import in_groups
from pyqref._kernels.qgemm.dynamic import Projection
from pyqref.numerics import recurrent as reference
from pyqref.numerics.types import FloatArray

from .cells import KINDS, gru_step, lstm_step, rnn_step

__all__ = ["NoGridError", "recurrent_cell", "recurrent_layer", "recurrent_loop"]

#: Bytes of rows and their projections that are kept at a time, for each thread: of the inputs, and
#: once more of the hidden states.
_HELD = 15 << 15


class NoGridError(ValueError):
    """The inputs or a hidden state hold nan or infinity.

    The arguments are the smallest and largest number, and whether it is the inputs.
    """


def recurrent_loop(
    kind: str,
    from_input: FloatArray,
    project: Callable[[FloatArray], FloatArray],
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool = False,
) -> tuple[FloatArray, list[FloatArray]]:
    """Run :func:`pyqref.numerics.recurrent.recurrent_layer` with the steps of the kernel in use."""
    return reference.recurrent_layer(
        kind, from_input, project, states, batch_sizes, reverse, lstm=lstm_step, gru=gru_step
    )


def recurrent_layer(
    kind: str,
    x: FloatArray,
    of_input: Projection,
    of_hidden: Projection,
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool = False,
    out: FloatArray | None = None,
    grid: tuple[float, int] | None = None,
) -> FloatArray:
    """Compute :func:`recurrent_loop` with two int8 projections (``eq-recurrent-layer``).

    Parameters
    ----------
    kind, batch_sizes, reverse
        As in :func:`pyqref.numerics.recurrent.recurrent_layer`.
    states
        float32 in C order; they become those at the end.
    x
        The inputs of all steps below each other, ``(rows, K)`` or ``(steps, rows, K)``, quantized
        over the range of all of them.
    of_input, of_hidden
        The weights of both projections.
    out
        Where the outputs go, float32 whose rows may be apart; None: into an array of their own.
    grid
        None, or scale and zero point of ``x``, which then holds uint8, a row in one piece: those of
        the range that they had. Its memory may be that of ``out``.

    Returns
    -------
    The outputs.

    Raises
    ------
    NoGridError
        The inputs or a hidden state are not finite.
    """
    if out is None:
        out = np.empty((sum(batch_sizes), states[0].shape[1]), np.float32)
    kernel = _kernel(of_input, of_hidden)
    if kernel is None:
        outputs, ends = recurrent_loop(
            kind,
            _project(of_input, x.reshape(-1, x.shape[-1]), True, grid),
            lambda hidden: _project(of_hidden, hidden, False),
            states,
            batch_sizes,
            reverse,
        )
        out[...] = outputs
        _replace(states, ends)
    else:
        _run(kernel, kind, x, of_input, of_hidden, states, batch_sizes, reverse, out, grid)
    return out


def recurrent_cell(
    kind: str,
    x: FloatArray,
    of_input: Projection,
    of_hidden: Projection,
    states: Sequence[FloatArray],
) -> None:
    """Change states by one step: as a layer that has no other, of ``x (B, K)``.

    Kinds are those of layers, and ``"RNN"`` with tanh (``eq-rnn-step``).
    """
    kernel = _kernel(of_input, of_hidden)
    if kernel is not None:
        _run(kernel, kind, x, of_input, of_hidden, states, [len(x)], False, states[0])
        return
    both = _project(of_input, x, True), _project(of_hidden, states[0], False)
    if kind == "LSTM":
        _replace(states, lstm_step(*both, states[1]))
    else:
        _replace(states, [gru_step(*both, states[0]) if kind == "GRU" else rnn_step(*both)])


def _project(
    weight: Projection, x: Any, is_input: bool, grid: tuple[float, int] | None = None
) -> FloatArray:
    """Project rows on the grid of all of them (``eq-linear-dynamic``), or bytes on theirs."""
    if grid is not None:
        return weight.of_bytes(x, *grid)
    y, low, high = weight.of(x)
    _require_grid(low, high, is_input)
    return y


def _replace(states: Sequence[FloatArray], ends: Sequence[FloatArray]) -> None:
    for state, end in zip(states, ends, strict=True):
        state[...] = end


def _kernel(of_input: Projection, of_hidden: Projection) -> Any:
    has_buffer = of_input.has_buffer and of_hidden.has_buffer
    return registry.twin("recurrent") if has_buffer else None


def _run(
    kernel: Any,
    kind: str,
    x: FloatArray,
    of_input: Projection,
    of_hidden: Projection,
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool,
    out: FloatArray,
    grid: tuple[float, int] | None = None,
) -> None:
    """Change states in place, and write outputs."""
    rows = x[np.newaxis] if grid is not None else in_groups(x)
    if rows is None:  # floats at odd addresses
        rows = np.array(x, order="C")
    n_threads = threads.limit
    columns = of_hidden.columns
    buffers = [
        np.empty((max(1, min(count, n_threads * _HELD // (4 * columns + depth))), columns), "f4")
        for count, depth in ((len(out), x.shape[-1]), (len(states[0]), states[0].shape[1]))
    ]
    low, high, is_input = kernel.recurrent_layer(
        KINDS[kind],
        rows,
        grid,
        np.array(batch_sizes, np.int64),
        reverse,
        (of_input.quant_max, of_input.weight),
        (of_hidden.quant_max, of_hidden.weight),
        *buffers,
        states[0],
        states[1] if kind == "LSTM" else None,
        out,
        n_threads,
    )
    _require_grid(low, high, is_input)


def _require_grid(low: float, high: float, is_input: bool) -> None:
    if not (isfinite(low) and isfinite(high)):
        raise NoGridError(low, high, is_input)
