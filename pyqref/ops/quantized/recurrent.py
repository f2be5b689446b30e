"""Recurrent layers with quantized weights and float states: one step, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels import gru_step, lstm_step, rnn_step
from pyqref.tensor.arguments import described
from pyqref.tensor.base import wrap

from .checks import require_float
from .input import require_finite_range
from .linear_dynamic import PackedLinearFloat16, run_dynamic
from .packed import PackedLinear

__all__ = [
    "quantized_gru_cell_dynamic",
    "quantized_lstm_cell_dynamic",
    "quantized_rnn_relu_cell_dynamic",
    "quantized_rnn_tanh_cell_dynamic",
    "run_recurrent_layer",
]


def quantized_lstm_cell_dynamic(
    input: Any, hx: Sequence[Any], w_ih: Any, w_hh: Any, bias_ih: Any = None, bias_hh: Any = None
) -> tuple[Any, Any]:
    r"""One step of an LSTM: equation ``eq-lstm-step`` on two projections ``eq-linear-dynamic``.

    Parameters
    ----------
    input
        float32 ``(B, K)``.
    hx
        Hidden and cell state, float32 ``(B, H)`` each.
    w_ih, w_hh
        Packed weights ``(4 * H, K)`` and ``(4 * H, H)``, with their biases.
    bias_ih, bias_hh
        Not looked at, as in torch: the packed weights hold the biases.

    Returns
    -------
    The new hidden and cell state.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(8, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.zeros(8))
    >>> x, state = pyqref.ones(1, 2), (pyqref.zeros(1, 2), pyqref.ones(1, 2))
    >>> cell = pyqref.ops.quantized.quantized_lstm_cell_dynamic
    >>> h, c = cell(x, state, packed, packed, None, None)
    >>> c.tolist()  # all gates are half open
    [[0.5, 0.5]]
    """
    name = "quantized.quantized_lstm_cell_dynamic"
    if not isinstance(hx, list | tuple) or len(hx) != 2:
        wrong = RuntimeError if isinstance(hx, list | tuple) else TypeError
        raise wrong(f"{name}: hx must be a hidden and a cell state, got {described(hx)}")
    from_input, from_hidden = _projections(name, input, hx[0], w_ih, w_hh, 4)
    _require_state(name, "hx[1]", hx[1], input, w_hh)
    hidden, cell = lstm_step(from_input, from_hidden, hx[1]._array)
    return wrap(hidden), wrap(cell)


def quantized_gru_cell_dynamic(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """One step of a GRU (``eq-gru-step``); arguments as of the LSTM, with one state.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(6, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.zeros(6))
    >>> x, h = pyqref.ones(1, 2), pyqref.ones(1, 2)
    >>> cell = pyqref.ops.quantized.quantized_gru_cell_dynamic
    >>> cell(x, h, packed, packed, None, None).tolist()  # all gates are half open
    [[0.5, 0.5]]
    """
    name = "quantized.quantized_gru_cell_dynamic"
    return wrap(gru_step(*_projections(name, input, hx, w_ih, w_hh, 3), hx._array))


def quantized_rnn_tanh_cell_dynamic(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """One step of a plain cell (``eq-rnn-step``) with tanh.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(2, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.tensor([1.0, -1.0]))
    >>> cell = pyqref.ops.quantized.quantized_rnn_tanh_cell_dynamic
    >>> h = cell(pyqref.ones(1, 2), pyqref.zeros(1, 2), packed, packed, None, None)
    >>> [round(each, 3) for each in h.flatten().tolist()]
    [0.964, -0.964]
    """
    name = "quantized.quantized_rnn_tanh_cell_dynamic"
    return wrap(rnn_step(*_projections(name, input, hx, w_ih, w_hh, 1), "tanh"))


def quantized_rnn_relu_cell_dynamic(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """One step of a plain cell (``eq-rnn-step``) with ReLU.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(2, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.tensor([1.0, -1.0]))
    >>> cell = pyqref.ops.quantized.quantized_rnn_relu_cell_dynamic
    >>> h = cell(pyqref.ones(1, 2), pyqref.zeros(1, 2), packed, packed, None, None)
    >>> [round(each, 3) for each in h.flatten().tolist()]
    [2.0, 0.0]
    """
    name = "quantized.quantized_rnn_relu_cell_dynamic"
    return wrap(rnn_step(*_projections(name, input, hx, w_ih, w_hh, 1), "relu"))


def _projections(
    name: str, input: Any, hidden: Any, w_ih: Any, w_hh: Any, gates: int
) -> tuple[np.ndarray, np.ndarray]:
    for label, packed in (("w_ih", w_ih), ("w_hh", w_hh)):
        if not isinstance(packed, PackedLinear | PackedLinearFloat16):
            raise TypeError(
                f"{name}: {label} must come from quantized.linear_prepack, got {described(packed)}"
            )
    rows, width = w_hh.shape
    if rows != gates * width or w_ih.shape[0] != rows:
        raise RuntimeError(
            f"{name}: w_ih and w_hh must have {gates} times as many rows as the hidden state has "
            f"features, got shapes {w_ih.shape} and {w_hh.shape}"
        )
    require_float(name, input)
    if input.dim() != 2 or input.shape[1] != w_ih.shape[1]:
        raise RuntimeError(
            f"{name}: input must have shape (B, {w_ih.shape[1]}), got {tuple(input.shape)}"
        )
    _require_state(name, "hx", hidden, input, w_hh)
    return run_dynamic(input._array, w_ih), run_dynamic(hidden._array, w_hh, what="hx")


def _require_state(name: str, label: str, state: Any, input: Any, w_hh: Any) -> None:
    require_float(name, state, label)
    shape = (input.shape[0], w_hh.shape[1])
    if tuple(state.shape) != shape:
        raise RuntimeError(f"{name}: {label} must have shape {shape}, got {tuple(state.shape)}")


def run_recurrent_layer(
    kind: str,
    from_input: np.ndarray,
    packed: PackedLinear | PackedLinearFloat16,
    states: Sequence[np.ndarray],
    batch_sizes: Sequence[int],
    reverse: bool,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """One layer in one direction, in arrays: equation ``eq-recurrent-layer``.

    ``packed`` is the weight of the hidden state; the other arguments and the results are those of
    :func:`pyqref.numerics.recurrent.recurrent_layer`.
    """
    what = "the hidden state"
    if isinstance(packed, PackedLinearFloat16):
        return _kernels.recurrent_loop(
            kind,
            from_input,
            lambda hidden: run_dynamic(hidden, packed, what=what),
            states,
            batch_sizes,
            reverse,
        )
    try:
        return packed.run_recurrent(kind, from_input, states, batch_sizes, reverse)
    except _kernels.NoGridError as error:
        low, high = error.args
        require_finite_range(low, high, what)
        raise
