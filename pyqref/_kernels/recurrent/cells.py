"""One step of a cell by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import recurrent as reference
from pyqref.numerics.types import FloatArray

__all__ = ["KINDS", "gru_step", "lstm_step", "rnn_step"]

#: What kernels call a cell: the number of its gates.
KINDS = {"RNN": 1, "GRU": 3, "LSTM": 4}


def lstm_step(
    from_input: FloatArray, from_hidden: FloatArray, cell: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.recurrent.lstm_step` (``eq-lstm-step``)."""
    kernel = registry.twin("recurrent")
    if kernel is None:
        return reference.lstm_step(from_input, from_hidden, cell)
    cell = np.array(cell, order="C")
    hidden = np.empty_like(cell)
    _run(kernel, "LSTM", from_input, from_hidden, hidden, cell)
    return hidden, cell


def gru_step(from_input: FloatArray, from_hidden: FloatArray, hidden: FloatArray) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.recurrent.gru_step` (``eq-gru-step``)."""
    kernel = registry.twin("recurrent")
    if kernel is None:
        return reference.gru_step(from_input, from_hidden, hidden)
    hidden = np.array(hidden, order="C")
    _run(kernel, "GRU", from_input, from_hidden, hidden, None)
    return hidden


def rnn_step(
    from_input: FloatArray, from_hidden: FloatArray, nonlinearity: str = "tanh"
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.recurrent.rnn_step` (``eq-rnn-step``)."""
    kernel = registry.twin("recurrent")
    if kernel is None or nonlinearity != "tanh":
        return reference.rnn_step(from_input, from_hidden, nonlinearity)
    hidden = np.empty(from_input.shape, np.float32)
    _run(kernel, "RNN", from_input, from_hidden, hidden, None)
    return hidden


def _run(
    kernel: object,
    kind: str,
    from_input: FloatArray,
    from_hidden: FloatArray,
    hidden: FloatArray,
    cell: FloatArray | None,
) -> None:
    """Change the states ``(B, H)`` in place."""
    kernel.recurrent_step(  # type: ignore[attr-defined]
        KINDS[kind],
        contiguous(from_input),
        contiguous(from_hidden),
        hidden,
        cell,
        threads.limit,
    )
