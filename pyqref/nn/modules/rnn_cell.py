"""Single steps of recurrent layers: RNNCell, LSTMCell, GRUCell."""

from __future__ import annotations

import math
from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...tape import rnn as tape
from ...tensor.arguments import as_flag, described
from ...tensor.creation import empty
from ...tensor.dispatch import apply, require_tensor
from ...tensor.parameter import Parameter
from ...tensor.refusal import refuse_quantized
from .. import init
from .arguments import sizes, word
from .module import Module
from .rnn_base import pair_of_states

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """One step of a recurrent layer.

    Attributes
    ----------
    weight_ih, weight_hh : Parameter
        Shapes `(chunks hidden_size, input_size)` and `(chunks hidden_size, hidden_size)`.
    bias_ih, bias_hh : Parameter or None
        Shape `(chunks hidden_size,)`. All are uniform in ``±1 / sqrt(hidden_size)``.

    Examples
    --------
    >>> import pyqref
    >>> isinstance(pyqref.nn.LSTMCell(2, 3), pyqref.nn.RNNCellBase)
    True
    """

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        input_size, hidden_size = sizes(input_size=input_size, hidden_size=hidden_size)
        bias = as_flag(bias, "bias")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, input_size),
            "weight_hh": (rows, hidden_size),
            "bias_ih": (rows,),
            "bias_hh": (rows,),
        }
        for name, shape in shapes.items():
            if bias or name.startswith("weight"):
                setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
            else:
                self.register_parameter(name, None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """The sizes, and what differs from its default."""
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias is True else f"{text}, bias={self.bias}"

    def _step(self, operation: Any, input: Any, states: tuple[Any, ...] | None, *rest: Any) -> Any:
        """The states after one step, for `(N, input_size)` or `(input_size,)`."""
        name = type(self).__name__
        require_tensor(name, "input", input)
        refuse_quantized(input)
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{name}: input has inconsistent input_size: got {input.shape[-1]}, expected "
                f"{self.input_size}"
            )
        batched = input if input.ndim == 2 else input.unsqueeze(0)
        shape = (batched.shape[0], self.hidden_size)
        if states is None:
            before = [batched.new_zeros(shape)] * (2 if operation is tape.LstmLayer else 1)
        else:
            for state in states:
                _require_state(name, state)
            before = [s if s.ndim == 2 else s.unsqueeze(0) for s in states]
            for state in before:
                if tuple(state.shape) != shape:
                    raise RuntimeError(
                        f"{name}: expected hidden state of shape {list(shape)}, got "
                        f"{list(state.shape)}"
                    )
        _, *after = apply(
            operation,
            batched,
            *before,
            self.weight_ih,
            self.weight_hh,
            self.bias_ih,
            self.bias_hh,
            *rest,
            (shape[0],),
            False,
        )
        return after if input.ndim == 2 else [state.squeeze(0) for state in after]


def _require_state(name: str, state: Any) -> None:
    require_tensor(name, "hx", state)
    refuse_quantized(state)
    if state.ndim not in (1, 2):
        raise RuntimeError(f"{name}: a state in hx must be 1D or 2D, got {described(state)}")


class RNNCell(RNNCellBase):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu in place of tanh.

    Parameters
    ----------
    input_size, hidden_size
        Features of the input and of the hidden state.
    bias
        Add a bias to both products.
    nonlinearity
        ``"tanh"`` or ``"relu"``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.RNNCell(10, 20)(pyqref.zeros(3, 10)).shape
    pyqref.Size([3, 20])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = word(nonlinearity, "nonlinearity", ("tanh", "relu"))

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The hidden state after the step, `(N, hidden_size)`."""
        states = None if hx is None else (hx,)
        return self._step(tape.RnnLayer, input, states, self.nonlinearity)[0]

    def extra_repr(self) -> str:
        """The sizes, and what differs from its default."""
        text = super().extra_repr()
        if self.nonlinearity == "tanh":
            return text
        return f"{text}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`: the new hidden and cell state, both `(N, hidden_size)`.

    Parameters
    ----------
    input_size, hidden_size
        Features of the input and of the hidden state.
    bias
        Add a bias to both products.

    Examples
    --------
    >>> import pyqref
    >>> h, c = pyqref.nn.LSTMCell(10, 20)(pyqref.zeros(3, 10))
    >>> h.shape, c.shape
    (pyqref.Size([3, 20]), pyqref.Size([3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Hidden and cell state after the step; ``hx`` is the pair before it."""
        states = pair_of_states(hx)
        h, c = self._step(tape.LstmLayer, input, states, None)
        return h, c


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`: the new hidden state, `(N, hidden_size)`.

    Parameters
    ----------
    input_size, hidden_size
        Features of the input and of the hidden state.
    bias
        Add a bias to both products.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.GRUCell(10, 20)(pyqref.zeros(3, 10)).shape
    pyqref.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The hidden state after the step, `(N, hidden_size)`."""
        return self._step(tape.GruLayer, input, None if hx is None else (hx,))[0]
