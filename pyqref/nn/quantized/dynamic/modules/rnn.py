"""Recurrent layers with quantized weights that quantize their input while running."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from pyqref import dtypes
from pyqref._kernels.layout import PART
from pyqref._kernels.parts import parts
from pyqref._typing import Dtype, Tensor
from pyqref.nn import functional as F
from pyqref.nn import modules
from pyqref.nn.conversion_checks import require_members, sizes_of
from pyqref.nn.layer_options import recurrent_options
from pyqref.nn.modules import Module, ModuleList
from pyqref.nn.modules.arguments import layer_count, probability, word
from pyqref.nn.modules.rnn_base import pair_of_states
from pyqref.nn.quantized.modules.utils import require_float_input, require_type
from pyqref.nn.utils.packed_sequence import PackedSequence
from pyqref.ops.quantized import quantize_in_place, run_recurrent_layer
from pyqref.tensor.arguments import as_flag
from pyqref.tensor.base import wrap
from pyqref.tensor.creation import zeros
from pyqref.tensor.memory import require_memory

from .projections import (
    PackedParameter,
    PackedProjections,
    empty_weight,
    part_of,
    require_state,
    weight_dtype,
)
from .utils import dynamic_weight, weight_observer_method

__all__ = ["LSTM", "PackedParameter", "RNNBase"]


class RNNBase(Module):
    """Base class of the recurrent layers: their packed weights, names, and conversion."""

    _version = 2
    _FLOAT_MODULE: ClassVar[type[Module]] = Module
    _gates: ClassVar[dict[str, int]] = {"LSTM": 4, "GRU": 3}

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
        dtype: Dtype = dtypes.qint8,
    ) -> None:
        super().__init__()
        word(mode, "mode", tuple(self._gates))
        dtype = weight_dtype(dtype)
        dropout = probability(dropout, "dropout")
        bias, batch_first = as_flag(bias, "bias"), as_flag(batch_first, "batch_first")
        bidirectional = as_flag(bidirectional, "bidirectional")
        num_layers = layer_count(num_layers, "num_layers")
        gates = self._gates[mode]
        hidden_size, input_size, _ = sizes_of(
            mode, hidden_size=hidden_size, input_size=input_size, gates=gates
        )
        sizes_of(mode, gates=gates, hidden_size=hidden_size**2)
        stacked = (num_layers, gates * hidden_size, hidden_size)
        require_memory(stacked, 1, "num_layers: a stack of weights")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.dtype = dtype
        rows = gates * hidden_size
        directions = 2 if bidirectional else 1
        columns = [input_size] + [hidden_size * directions] * (num_layers - 1)
        self._all_weight_values = ModuleList(
            PackedParameter(
                PackedProjections(
                    empty_weight(rows, count, dtype),
                    zeros(rows) if bias else None,
                    empty_weight(rows, hidden_size, dtype),
                    zeros(rows) if bias else None,
                )
            )
            for count in columns
            for _ in range(directions)
        )

    def _get_name(self) -> str:
        return f"DynamicQuantized{self.mode}"

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def extra_repr(self) -> str:
        """Sizes; defaults are left out."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if not self.bias:
            text += ", bias=False"
        if self.batch_first:
            text += ", batch_first=True"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional:
            text += ", bidirectional=True"
        return text

    def _suffixes(self) -> list[str]:
        ends = ("", "_reverse") if self.bidirectional else ("",)
        return [f"_l{layer}{end}" for layer in range(self.num_layers) for end in ends]

    def get_weight(self) -> dict[str, Any]:
        """The weights by name, such as ``weight_ih_l0``."""
        return self._weight_bias()["weight"]

    def get_bias(self) -> dict[str, Any]:
        """The biases by name, such as ``bias_ih_l0``."""
        return self._weight_bias()["bias"]

    def _weight_bias(self) -> dict[str, dict[str, Any]]:
        weights, biases = {}, {}
        for suffix, packed in zip(self._suffixes(), self._all_weight_values, strict=True):
            w_ih, b_ih, w_hh, b_hh = packed.param.unpack()
            weights["weight_ih" + suffix], weights["weight_hh" + suffix] = w_ih, w_hh
            biases["bias_ih" + suffix], biases["bias_hh" + suffix] = b_ih, b_hh
        return {"weight": weights, "bias": biases}

    def set_weight_bias(self, weight_bias_dict: dict[str, Any]) -> None:
        """Replace weights and biases, given by name: ``weight_ih_l0``, ``bias_ih_l0``, ..."""
        name = self._get_name()
        made = []
        for suffix, packed in zip(self._suffixes(), self._all_weight_values, strict=True):
            keys = [each + suffix for each in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")]
            ours = packed.param.unpack()
            rows = ours[0].shape[0]
            shapes = (tuple(ours[0].shape), (rows,), tuple(ours[2].shape), (rows,))
            parts = [
                part_of(name, weight_bias_dict, key, shape)
                for key, shape in zip(keys, shapes, strict=True)
            ]
            made.append(PackedProjections(*parts))
        for packed, param in zip(self._all_weight_values, made, strict=True):
            packed.param = param

    def _run(self, input: Any, states: Any, names: tuple[str, ...]) -> tuple[Any, list[Any]]:
        """Output of the last layer, and the final states of all layers and directions.

        ``states`` are the initial ones, one for each name, or None; the final ones are
        stacked. A :class:`~pyqref.nn.utils.rnn.PackedSequence` gives another.
        """
        packed = isinstance(input, PackedSequence)
        data = input.data if packed else input
        self._check_input(data, 2 if packed else 3)
        if packed:
            batch_sizes = self._batch_sizes(input)
            steps = data._array
        else:
            sequence = data._array.swapaxes(0, 1) if self.batch_first else data._array
            batch_sizes = [sequence.shape[1]] * sequence.shape[0]
            steps = sequence
        given = (None,) * len(names) if states is None else states
        now = [
            self._initial_state(each, batch_sizes[0], name)
            for each, name in zip(given, names, strict=True)
        ]
        if packed and input.sorted_indices is not None:
            now = [np.take(each, input.sorted_indices._array, axis=1) for each in now]
        output = self._layers(steps, now, batch_sizes)
        if packed:
            if input.unsorted_indices is not None:
                now = [np.take(each, input.unsorted_indices._array, axis=1) for each in now]
            return input._replace(data=wrap(output)), [wrap(each) for each in now]
        output = output.reshape(*sequence.shape[:2], output.shape[1])
        output = output.swapaxes(0, 1) if self.batch_first else output
        return wrap(output), [wrap(each) for each in now]

    def _batch_sizes(self, input: PackedSequence) -> list[int]:
        """Return how many sequences have each step; raise unless the data have a row for each."""
        sizes = [int(each) for each in input.batch_sizes.tolist()]
        falls = all(one >= next_one > 0 for one, next_one in itertools.pairwise(sizes))
        if not (sizes and sizes[0] > 0 and falls and sum(sizes) == len(input.data)):
            raise RuntimeError(
                f"{self._get_name()}: batch_sizes must be positive, never grow, and add up to the "
                f"{len(input.data)} rows of data, got {sizes!r:.60}"
            )
        return sizes

    def _layers(self, output: Any, states: list[Any], batch_sizes: list[int]) -> Any:
        """All layers, of inputs ``(total, input_size)`` or ``(steps, rows, input_size)``.

        States, in C order, become those at the end.
        """
        for layer in range(self.num_layers):
            if layer > 0 and self.training and self.dropout > 0:
                for at in parts(output, whole=(1,)):
                    F.dropout(wrap(output[at]), self.dropout, inplace=True)
            output = self._layer(layer, output, states, batch_sizes)
        return output

    def _layer(self, layer: int, x: Any, states: list[Any], batch_sizes: list[int]) -> Any:
        """One layer, in one direction or two.

        It replaces what the one before it gave, row by row. Where both directions want that, it
        becomes bytes; if it cannot, what the first one gives is kept aside.
        """
        directions, size = 2 if self.bidirectional else 1, self.hidden_size
        weights: list[Any] = [
            self._all_weight_values[layer * directions + direction].param
            for direction in range(directions)
        ]
        results, grid, aside = x, None, None
        if layer == 0:
            results = np.empty((sum(batch_sizes), directions * size), np.float32)
        elif directions == 2:
            both = [one for each in weights for one in (each.of_input, each.of_hidden)]
            quantized = quantize_in_place(x, both) if x.size > PART else None
            if quantized:
                x, grid = quantized
            else:
                aside = np.empty((len(results), size), np.float32)
        for direction, packed in enumerate(weights):
            place = results[:, direction * size : (direction + 1) * size]
            run_recurrent_layer(
                self.mode,
                x,
                packed.of_input,
                packed.of_hidden,
                [each[layer * directions + direction] for each in states],
                batch_sizes,
                direction == 1,
                place if aside is None or direction == 1 else aside,
                grid,
            )
        if aside is not None:
            results[:, :size] = aside
        return results

    def _check_input(self, input: Any, dimensions: int) -> None:
        """Raise unless the input, or the data of a packed sequence, fits."""
        require_float_input(self, input)
        name = self._get_name()
        if input.dim() != dimensions:
            raise RuntimeError(
                f"{name}: input must have {dimensions} dimensions, got {input.dim()}"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{name}: input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.shape[-1]}"
            )
        if dimensions == 3 and input.shape[1 if self.batch_first else 0] == 0:
            raise RuntimeError(f"{name}: expected a sequence of at least one step")

    def _initial_state(self, given: Any, batch: int, name: str) -> Any:
        """A state ``(num_layers * directions, N, hidden_size)`` to change; zero by default."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        shape = (count, batch, self.hidden_size)
        if given is None:
            return np.zeros(shape, np.float32)
        require_state(self._get_name(), name, given)
        if tuple(given.shape) != shape:
            raise RuntimeError(
                f"{self._get_name()}: expected {name} size {shape}, got {list(given.shape)}"
            )
        return np.array(given._array, order="C")

    @classmethod
    def from_float(cls: Any, mod: Module, use_precomputed_fake_quant: bool = False) -> Module:
        """The dynamic layer of a float layer with a ``qconfig``.

        Every weight matrix gets an observer of its own. A qconfig of None stands for
        ``default_dynamic_qconfig``.
        """
        require_type(cls, mod, (cls._FLOAT_MODULE,))
        if getattr(mod, "proj_size", 0):
            raise ValueError(f"{cls.__name__}.from_float: proj_size must be 0, got {mod.proj_size}")
        method = weight_observer_method(cls, mod)
        dtype = dtypes.qint8 if method is None else method().dtype
        layer = cls(**recurrent_options(mod), dtype=dtype)
        weights = {name: dynamic_weight(getattr(mod, name), method) for name in layer.get_weight()}
        biases = {
            name: getattr(mod, name).detach().float() if mod.bias else None
            for name in layer.get_bias()
        }
        layer.set_weight_bias({**weights, **biases})
        return layer.train(mod.training)

    @classmethod
    def from_reference(cls: Any, ref_mod: Any) -> Module:
        """The dynamic layer of a reference layer (:mod:`pyqref.nn.quantized.reference`)."""
        require_members(
            cls, "from_reference", ref_mod, "get_quantized_weight_bias_dict", "num_layers"
        )
        given = ref_mod.get_quantized_weight_bias_dict()
        first = given["weight_ih_l0"]
        dtype = first.dtype if first.is_quantized else dtypes.float16
        layer = cls(**recurrent_options(ref_mod), dtype=dtype)
        biases = {name: given.get(name) for name in layer.get_bias()}
        layer.set_weight_bias({**given, **biases})
        return layer.train(ref_mod.training)


class LSTM(RNNBase):
    r"""Long short-term memory with quantized weights, float in and out.

    Equation ``eq-lstm-step``, on the gates

    .. math:: i, f, g, o = \mathrm{dyn}(x_t, W_{ih}) + b_{ih} + \mathrm{dyn}(h, W_{hh}) + b_{hh}

    where dyn is the product of :class:`pyqref.nn.quantized.dynamic.Linear`. The input
    is quantized once over the whole sequence of a layer, the hidden state at each step.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        As of :class:`pyqref.nn.LSTM`.
    dtype
        Of the weights: ``qint8`` or ``float16``.

    Raises
    ------
    RuntimeError
        The input is not float32, or has another number of dimensions or features.
    ValueError
        ``dtype`` is neither qint8 nor float16.

    Notes
    -----
    Shapes: input ``(T, N, input_size)``, or ``(N, T, input_size)`` with
    ``batch_first``, or a packed sequence; output alike with ``hidden_size`` times the
    number of directions; states ``(num_layers * directions, N, hidden_size)``.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.dynamic.LSTM(10, 20, 2)
    >>> output, (h, c) = m(pyqref.randn(5, 3, 10))
    >>> tuple(output.size()), tuple(h.size())
    ((5, 3, 20), (2, 3, 20))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = modules.LSTM

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Outputs of the last layer, and the final hidden and cell states."""
        output, finals = self._run(input, pair_of_states(hx), ("hidden[0]", "hidden[1]"))
        return output, (finals[0], finals[1])
