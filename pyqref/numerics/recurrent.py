"""The steps of recurrent cells, after their two projections have been worked out.

In a dynamically quantized layer the projection of the inputs is quantized once over
the whole sequence, the projection of the hidden state anew at each step: see
:mod:`pyqref.numerics.dynamic`. What remains, here, is float arithmetic.
"""

from __future__ import annotations

import numpy as np

from .types import FloatArray

__all__ = ["gru_step", "lstm_step", "rnn_step", "sigmoid"]


def sigmoid(x: FloatArray) -> FloatArray:
    r"""The logistic function.

    Equation ``eq-sigmoid``:

    .. math:: \sigma(x) = \frac{1}{1 + e^{-x}}

    Examples
    --------
    >>> sigmoid(np.float32([0, 1000, -1000]))
    array([0.5, 1. , 0. ], dtype=float32)
    """
    x = np.asarray(x)
    one = x.dtype.type(1)
    with np.errstate(over="ignore"):
        y = np.exp(-x)
        y += one
        return one / y


def lstm_step(gates: FloatArray, cell: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""One step of an LSTM.

    Equation ``eq-lstm-step``:

    .. math:: c' = \sigma(f) \odot c + \sigma(i) \odot \tanh(g), \qquad
              h' = \sigma(o) \odot \tanh(c')

    Parameters
    ----------
    gates
        ``(B, 4 * H)``: i, f, g, o side by side, the sum of both projections.
    cell
        c, ``(B, H)``.

    Returns
    -------
    The new hidden state and the new cell state, ``(B, H)`` each.
    """
    size = gates.shape[-1] // 4
    i, f, _, o = _parts(sigmoid(gates), 4)
    new_cell = f * cell + i * np.tanh(gates[..., 2 * size : 3 * size])
    return o * np.tanh(new_cell), new_cell


def _parts(x: FloatArray, count: int) -> list[FloatArray]:
    """So many parts of one size, side by side along the last axis."""
    size = x.shape[-1] // count
    return [x[..., part * size : (part + 1) * size] for part in range(count)]


def gru_step(from_input: FloatArray, from_hidden: FloatArray, hidden: FloatArray) -> FloatArray:
    r"""One step of a GRU.

    Equation ``eq-gru-step``:

    .. math:: r = \sigma(x_r + h_r), \quad u = \sigma(x_u + h_u), \quad
              n = \tanh(x_n + r \odot h_n), \qquad h' = (h - n) \odot u + n

    Parameters
    ----------
    from_input, from_hidden
        The projections with their biases, ``(B, 3 * H)``: r, u, n side by side.
    hidden
        h, ``(B, H)``.
    """
    size = hidden.shape[-1]
    both = from_input[..., : 2 * size] + from_hidden[..., : 2 * size]
    reset, update = _parts(sigmoid(both), 2)
    new = np.tanh(from_input[..., 2 * size :] + reset * from_hidden[..., 2 * size :])
    return (hidden - new) * update + new


def rnn_step(
    from_input: FloatArray, from_hidden: FloatArray, nonlinearity: str = "tanh"
) -> FloatArray:
    r"""One step of a plain recurrent cell.

    Equation ``eq-rnn-step``:

    .. math:: h' = \phi(x + h), \qquad \phi \in \{\tanh, \mathrm{relu}\}
    """
    total = from_input + from_hidden
    return np.tanh(total) if nonlinearity == "tanh" else np.maximum(total, total.dtype.type(0))
