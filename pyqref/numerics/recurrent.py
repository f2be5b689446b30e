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
        return one / (one + np.exp(-x))


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
    i, f, g, o = np.split(gates, 4, axis=-1)
    new_cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(new_cell), new_cell


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
    xr, xu, xn = np.split(from_input, 3, axis=-1)
    hr, hu, hn = np.split(from_hidden, 3, axis=-1)
    reset, update = sigmoid(xr + hr), sigmoid(xu + hu)
    new = np.tanh(xn + reset * hn)
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
