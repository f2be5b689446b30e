"""Base class of RNN, LSTM and GRU: layers, directions, packed sequences, parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...tensor.arguments import as_flag, as_integer, described
from ...tensor.base import TensorBase
from ...tensor.creation import empty
from ...tensor.dispatch import require_tensor
from ...tensor.joining import cat, stack
from ...tensor.memory import require_memory
from ...tensor.parameter import Parameter
from ...tensor.refusal import refuse_quantized
from .. import functional as F
from .. import init
from ..utils.packed_sequence import PackedSequence
from .arguments import layer_count, probability, sizes, word
from .module import Module

__all__ = ["RNNBase", "pair_of_states"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Layers of a recurrent network, each in one or two directions.

    Parameters
    ----------
    mode
        ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``.
    input_size, hidden_size
        Features of the input and of the hidden state.
    num_layers
        Layers on top of each other; each reads the output of the one below.
    bias
        Whether there are biases.
    batch_first
        The batch is the first dimension of input and output, not the second.
    dropout
        Probability of dropping an output of a layer, but the last, in training.
    bidirectional
        A second set of weights reads the sequence backwards; the outputs are concatenated.
    proj_size
        LSTM only: project the hidden state to this size.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0 : Parameter
        And so on for every layer, with suffix ``_reverse`` for the second direction; uniform in
        ``±1 / sqrt(hidden_size)``.

    Examples
    --------
    >>> import pyqref
    >>> isinstance(pyqref.nn.LSTM(2, 3), pyqref.nn.RNNBase)
    True
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]

    def __init__(
        self,
        mode: str,
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
        super().__init__()
        word(mode, "mode", tuple(_GATES))
        (input_size,) = sizes(input_size=input_size)
        hidden_size = as_integer(hidden_size, "hidden_size")
        num_layers = layer_count(num_layers, "num_layers", None)
        bias, batch_first = as_flag(bias, "bias"), as_flag(batch_first, "batch_first")
        bidirectional = as_flag(bidirectional, "bidirectional")
        proj_size = as_integer(proj_size, "proj_size")
        _check_arguments(mode, hidden_size, num_layers, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions = 2 if bidirectional else 1
        state_size = proj_size or hidden_size
        gates = _GATES[mode] * hidden_size
        require_memory((num_layers, gates, state_size), 4, "num_layers: a stack of weights")
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            layer_input = input_size if layer == 0 else state_size * directions
            for direction in range(directions):
                suffix = f"_l{layer}{'_reverse' if direction else ''}"
                shapes: dict[str, tuple[int, ...]] = {
                    f"weight_ih{suffix}": (gates, layer_input),
                    f"weight_hh{suffix}": (gates, state_size),
                }
                if bias:
                    shapes[f"bias_ih{suffix}"] = (gates,)
                    shapes[f"bias_hh{suffix}"] = (gates,)
                if proj_size:
                    shapes[f"weight_hr{suffix}"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(list(shapes))
        self.reset_parameters()

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing; ``torch`` rearranges memory for GPUs here."""

    def extra_repr(self) -> str:
        """The sizes, and what differs from its default."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.proj_size != 0:
            parts.append(f"proj_size={self.proj_size}")
        if self.num_layers != 1:
            parts.append(f"num_layers={self.num_layers}")
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        if self.batch_first is not False:
            parts.append(f"batch_first={self.batch_first}")
        if self.dropout != 0:
            parts.append(f"dropout={self.dropout}")
        if self.bidirectional is not False:
            parts.append(f"bidirectional={self.bidirectional}")
        return ", ".join(parts)

    # --- running ---

    def _run_direction(
        self,
        x: Any,
        states: tuple[Any, ...],
        weights: dict[str, Any],
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Any, ...]:
        """Output `(total, P)` and last states of one direction of one layer."""
        raise NotImplementedError(f"{type(self).__name__} runs no layer")

    def _run(self, input: Any, states: tuple[Any, ...] | None) -> tuple[Any, tuple[Any, ...]]:
        """Output and last states, in the form in which the input came."""
        packed = isinstance(input, PackedSequence)
        if packed:
            data, sizes, order, back = input
            refuse_quantized(data)
            batch_sizes = tuple(int(n) for n in sizes.tolist())
            batch, unbatched = batch_sizes[0], False
        else:
            _check_input(self, input)
            refuse_quantized(input)
            unbatched = input.ndim == 2
            if unbatched:
                input = input.unsqueeze(1)
                states = None if states is None else tuple(_batched(s) for s in states)
            elif self.batch_first:
                input = input.transpose(0, 1)
            length, batch = input.shape[:2]
            batch_sizes = (batch,) * length
            data, order, back = input.reshape(length * batch, input.shape[2]), None, None
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {data.shape[-1]}"
            )
        shapes = self._state_shapes(batch)
        if states is None:
            states = tuple(data.new_zeros(shape) for shape in shapes)
        else:
            _check_states(states, shapes)
            if order is not None:
                states = tuple(state.index_select(1, order) for state in states)
        output, last = self._layers(data, states, batch_sizes)
        if packed:
            if back is not None:
                last = tuple(state.index_select(1, back) for state in last)
            return PackedSequence(output, sizes, order, back), last
        output = output.reshape(len(batch_sizes), batch, output.shape[-1])
        if unbatched:
            return output.squeeze(1), tuple(state.squeeze(1) for state in last)
        return output.transpose(0, 1) if self.batch_first else output, last

    def _layers(
        self, x: Any, states: tuple[Any, ...], batch_sizes: tuple[int, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        """All layers over the steps ``x`` `(total, input_size)`."""
        directions = 2 if self.bidirectional else 1
        last: list[tuple[Any, ...]] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                index = layer * directions + direction
                names = self._all_weights[index]
                weights = {name.rpartition("_l")[0]: getattr(self, name) for name in names}
                begin = tuple(state[index] for state in states)
                output, *ends = self._run_direction(x, begin, weights, batch_sizes, direction == 1)
                outputs.append(output)
                last.append(tuple(ends))
            x = outputs[0] if directions == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        return x, tuple(stack(list(each)) for each in zip(*last, strict=True))

    def _state_shapes(self, batch: int) -> list[tuple[int, int, int]]:
        """Shapes of the hidden state and, of an LSTM, of the cell state."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        return [(count, batch, self.proj_size or self.hidden_size)]


def _check_arguments(
    mode: str, hidden_size: int, num_layers: int, dropout: float, proj_size: int
) -> None:
    if isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            f"element being zeroed, got {dropout!r}"
        )
    probability(dropout, "dropout")
    if hidden_size <= 0:
        raise ValueError(f"hidden_size must be greater than zero, got {hidden_size}")
    if num_layers <= 0:
        raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
    if not 0 <= proj_size < hidden_size:
        raise ValueError(
            f"proj_size must be in [0, hidden_size={hidden_size}) (0 disables it), got {proj_size}"
        )
    if proj_size and mode != "LSTM":
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            UserWarning,
            stacklevel=4,
        )


def _check_input(module: Any, input: Any) -> None:
    require_tensor(type(module).__name__, "input", input)
    if input.ndim not in (2, 3):
        raise ValueError(
            f"{type(module).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead"
        )
    if input.dtype is not module.all_weights[0][0].dtype and not input.is_quantized:
        raise ValueError(
            f"{type(module).__name__}: RNN input dtype ({input.dtype}) does not match weight dtype "
            f"({module.all_weights[0][0].dtype}). Convert input: input.to(weight.dtype)"
        )
    if input.shape[1 if module.batch_first and input.ndim == 3 else 0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")


def _batched(state: Any) -> Any:
    _require_state(state, "hx")
    if state.ndim != 2:
        raise RuntimeError(
            f"For unbatched 2-D input, hx should be 2-D but got {state.ndim}-D tensor"
        )
    return state.unsqueeze(1)


def _require_state(state: Any, name: str) -> None:
    if not isinstance(state, TensorBase):
        raise TypeError(f"{name} must be a tensor, got {described(state)}")
    refuse_quantized(state)


def pair_of_states(hx: Sequence[Tensor] | None) -> tuple[Tensor, Tensor] | None:
    """The hidden and the cell state of an LSTM, or None where none are given.

    Raises
    ------
    TypeError
        It is no pair.
    """
    if hx is not None and not (isinstance(hx, tuple | list) and len(hx) == 2):
        raise TypeError(f"hx must be a pair of tensors (h, c), got {described(hx)}")
    return None if hx is None else (hx[0], hx[1])


def _check_states(states: tuple[Any, ...], shapes: list[tuple[int, int, int]]) -> None:
    for number, (state, shape) in enumerate(zip(states, shapes, strict=True)):
        _require_state(state, f"hx: hidden[{number}]")
        if tuple(state.shape) != shape:
            raise RuntimeError(
                f"hx: Expected hidden[{number}] size {shape}, got {list(state.shape)}"
            )
