"""One step of an LSTM, in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Device, Dtype, Tensor
from pyqref.nn.modules import Linear, Module, ModuleDict, Sigmoid, Tanh
from pyqref.nn.modules import LSTMCell as FloatLSTMCell
from pyqref.nn.modules.arguments import sizes
from pyqref.nn.modules.rnn_base import pair_of_states
from pyqref.nn.parameter import Parameter
from pyqref.nn.quantized.modules.functional_modules import FloatFunctional
from pyqref.tensor.arguments import as_flag
from pyqref.tensor.creation import zeros
from pyqref.tensor.dispatch import require_tensor
from pyqref.tensor.joining import chunk
from pyqref.tensor.quantized import quantize_per_tensor
from pyqref.tensor.transcendental import tanh

__all__ = ["LSTMCell"]

_GATES = ("input", "forget", "cell", "output")


class LSTMCell(Module):
    r"""One step of an LSTM, of parts that can be observed and quantized.

    Equation ``eq-lstm-step`` on the gates
    :math:`i, f, g, o = W_{ih} x + b_{ih} + W_{hh} h + b_{hh}`.

    Parameters
    ----------
    input_dim, hidden_dim : int
        Features of input and hidden state.
    bias : bool
    device, dtype
        Of the parameters.
    split_gates : bool
        A linear layer for each gate, so that each has a grid of its own.

    Notes
    -----
    Shapes: input ``(N, input_dim)``, states ``(N, hidden_dim)``.

    Examples
    --------
    >>> import pyqref
    >>> h, c = pyqref.nn.quantizable.LSTMCell(10, 20)(pyqref.randn(3, 10))
    >>> tuple(h.size()), tuple(c.size())
    ((3, 20), (3, 20))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatLSTMCell
    #: One observer is meant to see what one of the parts gives in all steps.
    used_at_each_step: ClassVar[bool] = True

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
        *,
        split_gates: bool = False,
    ) -> None:
        super().__init__()
        input_dim, hidden_dim = sizes(input_dim=input_dim, hidden_dim=hidden_dim)
        bias, split_gates = as_flag(bias, "bias"), as_flag(split_gates, "split_gates")
        self.input_size = input_dim
        self.hidden_size = hidden_dim
        self.bias = bias
        self.split_gates = split_gates
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        if split_gates:
            self.igates: Module = ModuleDict(
                {gate: Linear(input_dim, hidden_dim, **options) for gate in _GATES}
            )
            self.hgates: Module = ModuleDict(
                {gate: Linear(hidden_dim, hidden_dim, **options) for gate in _GATES}
            )
            self.gates: Module = ModuleDict({gate: FloatFunctional() for gate in _GATES})
        else:
            self.igates = Linear(input_dim, 4 * hidden_dim, **options)
            self.hgates = Linear(hidden_dim, 4 * hidden_dim, **options)
            self.gates = FloatFunctional()
        self.input_gate = Sigmoid()
        self.forget_gate = Sigmoid()
        self.cell_gate = Tanh()
        self.output_gate = Sigmoid()
        self.fgate_cx = FloatFunctional()
        self.igate_cgate = FloatFunctional()
        self.fgate_cx_igate_cgate = FloatFunctional()
        self.ogate_cy = FloatFunctional()
        # The grid of a state of zeros, where none is given.
        self.initial_hidden_state_qparams: tuple[float, int] = (1.0, 0)
        self.initial_cell_state_qparams: tuple[float, int] = (1.0, 0)
        self.hidden_state_dtype = dtypes.quint8
        self.cell_state_dtype = dtypes.quint8

    def _get_name(self) -> str:
        return "QuantizableLSTMCell"

    def forward(self, x: Tensor, hidden: Sequence[Tensor] | None = None) -> tuple[Any, Any]:
        """Hidden and cell state after one step; ``hidden`` is the pair before it."""
        require_tensor(self._get_name(), "input", x)
        if x.dim() != 2:
            raise RuntimeError(
                f"{self._get_name()}: input must have 2 dimensions, got shape {tuple(x.shape)}"
            )
        hidden = pair_of_states(hidden)
        if hidden is None or hidden[0] is None or hidden[1] is None:
            hidden = self.initialize_hidden(x.shape[0], x.is_quantized)
        h_before, c_before = hidden
        for name, state in (("hx[0]", h_before), ("hx[1]", c_before)):
            require_tensor(self._get_name(), name, state)
            if tuple(state.shape) != (x.shape[0], self.hidden_size):
                raise RuntimeError(
                    f"{self._get_name()}: {name} must have shape "
                    f"{(x.shape[0], self.hidden_size)}, got {tuple(state.shape)}"
                )
        input_gate, forget_gate, cell_gate, output_gate = self._gates(x, h_before)
        input_gate = self.input_gate(input_gate)
        forget_gate = self.forget_gate(forget_gate)
        cell_gate = self.cell_gate(cell_gate)
        output_gate = self.output_gate(output_gate)
        cell = self.fgate_cx_igate_cgate.add(
            self.fgate_cx.mul(forget_gate, c_before),
            self.igate_cgate.mul(input_gate, cell_gate),
        )
        return self.ogate_cy.mul(output_gate, tanh(cell)), cell

    def _gates(self, x: Any, hidden: Any) -> list[Any]:
        igates: Any = self.igates
        hgates: Any = self.hgates
        gates: Any = self.gates
        if self.split_gates:
            return [gates[gate].add(igates[gate](x), hgates[gate](hidden)) for gate in _GATES]
        return list(chunk(gates.add(igates(x), hgates(hidden)), 4, 1))

    def initialize_hidden(self, batch_size: int, is_quantized: bool = False) -> tuple[Any, Any]:
        """Two states of zeros ``(batch_size, hidden_size)``."""
        h, c = zeros(batch_size, self.hidden_size), zeros(batch_size, self.hidden_size)
        if not is_quantized:
            return h, c
        return (
            quantize_per_tensor(h, *self.initial_hidden_state_qparams, self.hidden_state_dtype),
            quantize_per_tensor(c, *self.initial_cell_state_qparams, self.cell_state_dtype),
        )

    @classmethod
    def from_params(
        cls,
        wi: Any,
        wh: Any,
        bi: Any = None,
        bh: Any = None,
        split_gates: bool = False,
    ) -> Module:
        """A cell with these weights and biases.

        Parameters
        ----------
        wi, wh
            ``(4 * hidden_dim, input_dim)`` and ``(4 * hidden_dim, hidden_dim)``.
        bi, bh
            ``(4 * hidden_dim,)``, both or neither.
        split_gates
            As of the class.
        """
        if (bi is None) != (bh is None):
            raise ValueError("LSTMCell.from_params: give both biases, bi and bh, or neither")
        cell = cls(wi.shape[1], wh.shape[1], bias=bi is not None, split_gates=split_gates)
        gates: tuple[Any, ...] = (cell.igates, cell.hgates)
        for layers, weight, bias in zip(gates, (wi, wh), (bi, bh), strict=True):
            count = 4 if split_gates else 1
            parts: Any = layers.values() if split_gates else [layers]
            weights = chunk(weight.detach(), count, 0)
            biases = [None] * count if bias is None else chunk(bias.detach(), count, 0)
            for layer, own_weight, own_bias in zip(parts, weights, biases, strict=True):
                layer.weight = Parameter(own_weight.clone())
                if own_bias is not None:
                    layer.bias = Parameter(own_bias.clone())
        return cell

    @classmethod
    def from_float(
        cls, other: object, use_precomputed_fake_quant: bool = False, split_gates: bool = False
    ) -> Module:
        """The cell with the parameters of a float cell that has a ``qconfig``."""
        if type(other) is not cls._FLOAT_MODULE:
            raise TypeError(f"LSTMCell.from_float takes an nn.LSTMCell, got {type(other).__name__}")
        if not hasattr(other, "qconfig"):
            raise ValueError("LSTMCell.from_float: the float cell must have a qconfig")
        bias_ih, bias_hh = (other.bias_ih, other.bias_hh) if other.bias else (None, None)
        made = cls.from_params(
            other.weight_ih, other.weight_hh, bias_ih, bias_hh, split_gates=split_gates
        )
        made.qconfig = other.qconfig
        for functional in made.modules():
            if isinstance(functional, FloatFunctional):
                functional.qconfig = other.qconfig
        return made.train(other.training)
