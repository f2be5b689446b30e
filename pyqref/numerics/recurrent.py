"""Recurrent cells: their steps, after the two projections have been worked out, and the loop.

In a dynamically quantized layer the projection of the inputs is quantized once over
the whole sequence, the projection of the hidden state anew at each step: see
:mod:`pyqref.numerics.dynamic`. What remains, here, is float32 arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from .exponential import sigmoid
from .float_product import float_product
from .noted import noted
from .piecewise import tanh
from .types import FloatArray

__all__ = ["float_layer", "gru_step", "lstm_step", "recurrent_layer", "rnn_step", "steps"]


def lstm_step(
    from_input: FloatArray, from_hidden: FloatArray, cell: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""One step of an LSTM.

    Equation ``eq-lstm-step``, with ``eq-sigmoid`` and ``eq-piecewise``, on the sums of both
    projections:

    .. math:: c' = \sigma(f) \odot c + \sigma(i) \odot \tanh(g), \qquad
              h' = \sigma(o) \odot \tanh(c')

    Parameters
    ----------
    from_input, from_hidden
        The projections with their biases, float32 ``(B, 4 * H)``: i, f, g, o side by side.
    cell
        c, ``(B, H)``.

    Returns
    -------
    The new hidden state and the new cell state, ``(B, H)`` each.

    Examples
    --------
    >>> gates, zeros = np.float32([[-1000.0, 1000.0, 0.0, -1000.0]]), np.zeros((1, 4), np.float32)
    >>> hidden, cell = lstm_step(gates, zeros, np.float32([[0.75]]))  # kept, and not shown
    >>> hidden.tolist(), cell.tolist()
    ([[0.0]], [[0.75]])
    """
    i, f, g, o = np.split(from_input + from_hidden, 4, axis=-1)
    new_cell = noted("cell state", sigmoid(f) * cell + sigmoid(i) * tanh(g))
    return sigmoid(o) * tanh(new_cell), new_cell


def gru_step(from_input: FloatArray, from_hidden: FloatArray, hidden: FloatArray) -> FloatArray:
    r"""One step of a GRU.

    Equation ``eq-gru-step``, with ``eq-sigmoid`` and ``eq-piecewise``:

    .. math:: r = \sigma(x_r + h_r), \quad u = \sigma(x_u + h_u), \quad
              n = \tanh(x_n + r \odot h_n), \qquad h' = (h - n) \odot u + n

    Parameters
    ----------
    from_input, from_hidden
        The projections with their biases, float32 ``(B, 3 * H)``: r, u, n side by side.
    hidden
        h, ``(B, H)``.

    Examples
    --------
    >>> zeros, hidden = np.zeros((1, 3), np.float32), np.float32([[1.0]])
    >>> gru_step(zeros, zeros, hidden).tolist()
    [[0.5]]
    """
    x_reset, x_update, x_new = np.split(from_input, 3, axis=-1)
    h_reset, h_update, h_new = np.split(from_hidden, 3, axis=-1)
    reset, update = sigmoid(x_reset + h_reset), sigmoid(x_update + h_update)
    new = tanh(x_new + reset * h_new)
    return (hidden - new) * update + new


def rnn_step(
    from_input: FloatArray, from_hidden: FloatArray, nonlinearity: str = "tanh"
) -> FloatArray:
    r"""One step of a plain recurrent cell.

    Equation ``eq-rnn-step``, with ``eq-piecewise``:

    .. math:: h' = \phi(x + h), \qquad \phi \in \{\tanh, \mathrm{relu}\}

    Examples
    --------
    >>> rnn_step(np.float32([[1.0, 1.0]]), np.float32([[2.0, -2.0]]), "relu").tolist()
    [[3.0, 0.0]]
    """
    total = from_input + from_hidden
    return tanh(total) if nonlinearity == "tanh" else np.maximum(total, total.dtype.type(0))


def steps(batch_sizes: Sequence[int], reverse: bool) -> Iterator[tuple[slice, int]]:
    """Rows of each time step and their number, in the order in which they are computed.

    Examples
    --------
    >>> list(steps([3, 2, 2], reverse=False))  # three sequences, of 3, 3 and 1 steps
    [(slice(0, 3, None), 3), (slice(3, 5, None), 2), (slice(5, 7, None), 2)]
    """
    ends = np.cumsum(batch_sizes, dtype=np.int64).tolist()
    rows = [(slice(end - count, end), count) for end, count in zip(ends, batch_sizes, strict=True)]
    return reversed(rows) if reverse else iter(rows)


def recurrent_layer(
    kind: str,
    from_input: FloatArray,
    project: Callable[[FloatArray], FloatArray],
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool = False,
    *,
    lstm: Callable[..., tuple[FloatArray, FloatArray]] = lstm_step,
    gru: Callable[..., FloatArray] = gru_step,
) -> tuple[FloatArray, list[FloatArray]]:
    r"""One layer in one direction over whole sequences.

    Equation ``eq-recurrent-layer``, with ``eq-lstm-step`` or ``eq-gru-step``:

    .. math:: (h_t, c_t) = \mathrm{step}\big(x_t,\, P(h_{t-1}),\, (h_{t-1}, c_{t-1})\big)

    Parameters
    ----------
    kind
        ``"LSTM"`` or ``"GRU"``.
    from_input
        x, the projections of the inputs of all steps below each other: first the first step of
        every sequence, then the second of those that have one, and so on.
    project
        P, from hidden states ``(B, H)`` to their projections.
    states
        h and, of an LSTM, c before the first step, ``(N, H)`` each.
    batch_sizes
        How many sequences have a first step, a second, and so on; never growing.
    reverse
        Begin with the last step.
    lstm, gru
        What makes a step: the kernels have twins.

    Returns
    -------
    outputs
        h after each step, below each other as ``from_input``.
    states
        h and c after the last step of each sequence.

    Examples
    --------
    >>> zeros, hidden = np.zeros((3, 3), np.float32), np.float32([[1.0]])
    >>> def project(h):
    ...     return np.zeros((len(h), 3), np.float32)
    >>> outputs, _ = recurrent_layer("GRU", zeros, project, [hidden], [1, 1, 1])
    >>> outputs.tolist()  # each step keeps half of the state
    [[0.5], [0.25], [0.125]]
    """
    outputs = np.empty((len(from_input), states[0].shape[-1]), np.float32)
    # Rows of sequences that have ended (or, backwards, not begun) stay as they are.
    states = [each.copy() for each in states]
    for rows, count in steps(batch_sizes, reverse):
        before = [each[:count] for each in states]
        both = from_input[rows], project(before[0])
        after = lstm(*both, before[1]) if kind == "LSTM" else (gru(*both, before[0]),)
        for state, new in zip(before, after, strict=True):
            state[...] = new
        outputs[rows] = after[0]
    return outputs, states


def float_layer(
    kind: str,
    from_input: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool = False,
) -> tuple[FloatArray, list[FloatArray], FloatArray, FloatArray | None]:
    r"""One layer of floats: :func:`recurrent_layer`, whose projection is a float32 product.

    The product is that of ``eq-float-product``, from the bias on: :math:`P(h) = b + h W^T`.

    Parameters
    ----------
    weight, bias
        Of the hidden states: ``(gates * H, H)`` and ``(gates * H,)``, or None.

    Returns
    -------
    outputs, states
        As of :func:`recurrent_layer`.
    from_hidden, cells
        P(h) before each step, and of an LSTM c after each, below each other as ``outputs``.

    Examples
    --------
    >>> zeros, ones = np.zeros((2, 3), np.float32), np.ones((1, 1), np.float32)
    >>> weight = np.zeros((3, 1), np.float32)
    >>> float_layer("GRU", zeros, weight, None, [ones], [1, 1])[0].tolist()
    [[0.5], [0.25]]
    """
    rows = iter(list(steps(batch_sizes, reverse)))
    from_hidden = np.empty((len(from_input), len(weight)), np.float32)
    cells = np.empty((len(from_input), weight.shape[1]), np.float32) if kind == "LSTM" else None
    at: slice

    def project(hidden: FloatArray) -> FloatArray:
        nonlocal at
        at, _ = next(rows)
        from_hidden[at] = float_product(hidden, weight.T, bias)
        return from_hidden[at]

    def lstm(x: FloatArray, h: FloatArray, cell: FloatArray) -> tuple[FloatArray, FloatArray]:
        hidden, new = lstm_step(x, h, cell)
        if cells is not None:
            cells[at] = new
        return hidden, new

    outputs, ends = recurrent_layer(
        kind, from_input, project, states, batch_sizes, reverse, lstm=lstm
    )
    return outputs, ends, from_hidden, cells
