"""The LSTM, in parts."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Device, Dtype, QConfigLike, Tensor
from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.nn.layer_options import recurrent_options
from pyqref.nn.modules import Module, ModuleList
from pyqref.nn.modules.arguments import layer_count, probability, sizes
from pyqref.nn.modules.rnn_base import pair_of_states
from pyqref.nn.quantizable.workflow import prepare_parts
from pyqref.tensor.arguments import as_flag
from pyqref.tensor.creation import zeros
from pyqref.tensor.dispatch import require_tensor
from pyqref.tensor.joining import stack
from pyqref.tensor.memory import require_memory
from pyqref.tensor.quantized import quantize_per_tensor

from .joining import cat_on_first_grid
from .rnn_cell import LSTMCell

__all__ = ["LSTM"]


class _LSTMSingleLayer(Module):
    """One layer in one direction: a cell, step by step."""

    def __init__(self, input_dim: int, hidden_dim: int, bias: bool, **options: Any) -> None:
        super().__init__()
        self.cell = LSTMCell(input_dim, hidden_dim, bias, **options)

    def forward(self, x: Any, hidden: Any) -> tuple[Any, Any]:
        """Outputs ``(T, N, H)`` and the last states."""
        results = []
        for step in range(x.shape[0]):
            hidden = self.cell(x[step], hidden)
            results.append(hidden[0])
        return stack(results, 0), hidden


class _LSTMLayer(Module):
    """One layer, forwards and perhaps backwards."""

    def __init__(
        self, input_dim: int, hidden_dim: int, bias: bool, bidirectional: bool, **options: Any
    ) -> None:
        super().__init__()
        self.bidirectional = bidirectional
        self.layer_fw = _LSTMSingleLayer(input_dim, hidden_dim, bias, **options)
        if bidirectional:
            self.layer_bw = _LSTMSingleLayer(input_dim, hidden_dim, bias, **options)

    def forward(
        self, x: Tensor, hidden: list[tuple[Any, Any]]
    ) -> tuple[Any, list[tuple[Any, Any]]]:
        """Outputs side by side, and the last states of each direction."""
        forwards, last = self.layer_fw(x, hidden[0])
        if not self.bidirectional:
            return forwards, [last]
        backwards, last_backwards = self.layer_bw(x.flip(0), hidden[1])
        return cat_on_first_grid([forwards, backwards.flip(0)], 2), [last, last_backwards]


class LSTM(Module):
    """Long short-term memory, of parts that can be observed and quantized.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        As of :class:`pyqref.nn.LSTM`.
    device, dtype
        Of the parameters.
    split_gates : bool
        As of :class:`LSTMCell`.

    Raises
    ------
    ValueError
        ``dropout`` is no number in [0, 1].

    Notes
    -----
    Shapes as of :class:`pyqref.nn.LSTM`; no packed sequences and no projections. One
    observer sees all steps of one operation.

    Examples
    --------
    >>> import pyqref
    >>> rnn = pyqref.nn.quantizable.LSTM(10, 20, 2)
    >>> output, (hn, cn) = rnn(pyqref.randn(5, 3, 10))
    >>> tuple(output.size()), tuple(hn.size())
    ((5, 3, 20), (2, 3, 20))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = nn.LSTM

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
        *,
        split_gates: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(dropout, bool):
            raise ValueError(f"dropout must be in [0, 1], got {dropout!r}")
        dropout = probability(dropout, "dropout")
        (input_size,) = sizes(input_size=input_size)
        (hidden_size,) = sizes(1, hidden_size=hidden_size)
        num_layers = layer_count(num_layers, "num_layers")
        bias, batch_first = as_flag(bias, "bias"), as_flag(batch_first, "batch_first")
        bidirectional = as_flag(bidirectional, "bidirectional")
        stacked = (num_layers, 4 * hidden_size, hidden_size)
        require_memory(stacked, 4, "num_layers: a stack of weights")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        width = hidden_size * (2 if bidirectional else 1)
        self.layers = ModuleList(
            _LSTMLayer(
                input_size if layer == 0 else width,
                hidden_size,
                bias,
                bidirectional,
                device=device,
                dtype=dtype,
                split_gates=split_gates,
            )
            for layer in range(num_layers)
        )

    def _get_name(self) -> str:
        return "QuantizableLSTM"

    def forward(self, x: Tensor, hidden: Any = None) -> tuple[Any, tuple[Any, Any]]:
        """Outputs of the last layer, and the final hidden and cell states."""
        require_tensor(self._get_name(), "input", x)
        if x.dim() != 3 or x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{self._get_name()}: input must have 3 dimensions, the last of length "
                f"{self.input_size}, got shape {tuple(x.shape)}"
            )
        if self.batch_first:
            x = x.transpose(0, 1)
        if x.shape[0] == 0:
            raise RuntimeError(f"{self._get_name()}: expected a sequence of at least one step")
        states = self._initial_states(x, hidden)
        finals = []
        directions = 2 if self.bidirectional else 1
        for number, layer in enumerate(self.layers):
            begin = states[number * directions : (number + 1) * directions]
            x, last = layer(x, begin)
            finals.extend(last)
            if number < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        hidden, cell = (
            cat_on_first_grid([state.unsqueeze(0) for state in each])
            for each in zip(*finals, strict=True)
        )
        return (x.transpose(0, 1) if self.batch_first else x), (hidden, cell)

    def _initial_states(self, x: Any, given: Any) -> list[tuple[Any, Any]]:
        """A pair of states for each layer and direction."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        shape = (count, x.shape[1], self.hidden_size)
        if given is None:
            zero = zeros(*shape[1:], dtype=dtypes.float32 if x.is_quantized else x.dtype)
            if x.is_quantized:
                zero = quantize_per_tensor(zero, 1.0, 0, x.dtype)
            return [(zero, zero)] * count
        given = pair_of_states(given)
        for name, state in zip(("hidden[0]", "hidden[1]"), given, strict=True):
            require_tensor(self._get_name(), name, state)
            if tuple(state.shape) != shape:
                raise RuntimeError(
                    f"{self._get_name()}: {name} must have shape {shape}, got {tuple(state.shape)}"
                )
        return [(given[0][each], given[1][each]) for each in range(count)]

    @classmethod
    def from_float(
        cls, other: object, qconfig: QConfigLike | None = None, split_gates: bool = False
    ) -> Module:
        """The prepared layer with the parameters of a float LSTM.

        Parameters
        ----------
        other
            An ``nn.LSTM`` with a ``qconfig``.
        qconfig
            In its place, if it has none.
        split_gates
            As of the class.

        Returns
        -------
        LSTM
            With observers behind its parts; fake quantizers in training mode.
        """
        if not isinstance(other, nn.LSTM):
            raise TypeError(f"LSTM.from_float takes an nn.LSTM, got {type(other).__name__}")
        if not hasattr(other, "qconfig") and not qconfig:
            raise ValueError("LSTM.from_float: the float LSTM has no qconfig, and none is given")
        if getattr(other, "proj_size", 0):
            raise ValueError(f"LSTM.from_float: proj_size must be 0, got {other.proj_size}")
        observed = cls(**recurrent_options(other), split_gates=split_gates)
        observed.qconfig = getattr(other, "qconfig", qconfig)
        for number, layer in enumerate(observed.layers):
            for end, single in (("", "layer_fw"), ("_reverse", "layer_bw")):
                if hasattr(layer, single):
                    suffix = f"_l{number}{end}"
                    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                    wi, wh, bi, bh = (getattr(other, name + suffix, None) for name in names)
                    cell = LSTMCell.from_params(wi, wh, bi, bh, split_gates)
                    getattr(layer, single).cell = cell
        return prepare_parts(observed.train(other.training))

    @classmethod
    def from_observed(cls, other: Any) -> Module:
        """Not here: :class:`pyqref.nn.quantized.LSTM` is made of observed ones."""
        raise NotImplementedError(
            "a quantizable LSTM is observed: use nn.quantized.LSTM.from_observed to convert it"
        )
