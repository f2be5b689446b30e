"""Recurrent layers: RNN, LSTM, GRU."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...tape import rnn as tape
from ...tensor.dispatch import apply
from .arguments import word
from .rnn_base import RNNBase, pair_of_states

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RNNBase):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu in place of tanh.

    Parameters
    ----------
    input_size, hidden_size, num_layers
        Features of input and hidden state; layers.
    nonlinearity
        ``"tanh"`` or ``"relu"``.
    bias, batch_first, dropout, bidirectional
        As for :class:`LSTM`.

    Notes
    -----
    Shapes as for :class:`LSTM`, without the cell state.

    Examples
    --------
    >>> import pyqref
    >>> output, h = pyqref.nn.RNN(10, 20, 2)(pyqref.zeros(5, 3, 10))
    >>> output.shape, h.shape
    (pyqref.Size([5, 3, 20]), pyqref.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        word(nonlinearity, "nonlinearity", ("tanh", "relu"))
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def _run_direction(
        self,
        x: Any,
        states: tuple[Any, ...],
        weights: dict[str, Any],
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Any, ...]:
        return apply(
            tape.RnnLayer,
            x,
            *states,
            weights["weight_ih"],
            weights["weight_hh"],
            weights.get("bias_ih"),
            weights.get("bias_hh"),
            self.nonlinearity,
            batch_sizes,
            reverse,
        )

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Any, Any]:
        """Output after every step, hidden state after the last."""
        output, (h,) = self._run(input, None if hx is None else (hx,))
        return output, h


class GRU(RNNBase):
    """Gated recurrent units.

    ``r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)``, ``z`` likewise,
    ``n = tanh(W_in x + b_in + r * (W_hn h + b_hn))``, ``h' = (1 - z) * n + z * h``.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        As for :class:`LSTM`.

    Notes
    -----
    The rows of the weights are in the order r, z, n. Shapes as for :class:`LSTM`, without the
    cell state.

    Examples
    --------
    >>> import pyqref
    >>> output, h = pyqref.nn.GRU(10, 20)(pyqref.zeros(5, 3, 10))
    >>> output.shape, h.shape
    (pyqref.Size([5, 3, 20]), pyqref.Size([1, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def _run_direction(
        self,
        x: Any,
        states: tuple[Any, ...],
        weights: dict[str, Any],
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Any, ...]:
        return apply(
            tape.GruLayer,
            x,
            *states,
            weights["weight_ih"],
            weights["weight_hh"],
            weights.get("bias_ih"),
            weights.get("bias_hh"),
            batch_sizes,
            reverse,
        )

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Any, Any]:
        """Output after every step, hidden state after the last."""
        output, (h,) = self._run(input, None if hx is None else (hx,))
        return output, h


class LSTM(RNNBase):
    """Long short-term memory.

    ``i, f, g, o`` from ``W_ih x + b_ih + W_hh h + b_hh`` (sigmoid; tanh for ``g``),
    ``c' = f * c + i * g``, ``h' = o * tanh(c')``, then ``W_hr h'`` with ``proj_size``.

    Parameters
    ----------
    input_size, hidden_size
        Features of the input and of the hidden state.
    num_layers
        Layers on top of each other.
    bias
        Whether there are biases.
    batch_first
        The batch is the first dimension of input and output (not of the states).
    dropout
        Probability of dropping an output of a layer, but the last, in training.
    bidirectional
        Also read backwards; the outputs are concatenated.
    proj_size
        Project the hidden state to this size.

    Notes
    -----
    Input `(L, N, input_size)`, or `(L, input_size)`, or a packed sequence; output
    `(L, N, D P)`, hidden state `(D num_layers, N, P)`, cell state `(D num_layers, N, hidden_size)`
    with ``D`` directions and ``P = proj_size or hidden_size``.
    Source: documentation of ``torch.nn.LSTM``.

    Examples
    --------
    >>> import pyqref
    >>> output, (h, c) = pyqref.nn.LSTM(10, 20, 2)(pyqref.zeros(5, 3, 10))
    >>> output.shape, h.shape, c.shape
    (pyqref.Size([5, 3, 20]), pyqref.Size([2, 3, 20]), pyqref.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def _state_shapes(self, batch: int) -> list[tuple[int, int, int]]:
        (h_shape,) = super()._state_shapes(batch)
        return [h_shape, (h_shape[0], batch, self.hidden_size)]

    def _run_direction(
        self,
        x: Any,
        states: tuple[Any, ...],
        weights: dict[str, Any],
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Any, ...]:
        return apply(
            tape.LstmLayer,
            x,
            *states,
            weights["weight_ih"],
            weights["weight_hh"],
            weights.get("bias_ih"),
            weights.get("bias_hh"),
            weights.get("weight_hr"),
            batch_sizes,
            reverse,
        )

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Any, Any]]:
        """Output after every step; hidden state and cell state after the last."""
        output, (h, c) = self._run(input, pair_of_states(hx))
        return output, (h, c)
