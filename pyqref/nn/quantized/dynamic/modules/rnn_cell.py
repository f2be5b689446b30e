"""Recurrent cells with quantized weights that quantize their input while running."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyqref import dtypes
from pyqref._typing import AnyModule, Dtype, Self, Tensor
from pyqref.nn.conversion_checks import require_members, sizes_of
from pyqref.nn.modules import GRUCell as FloatGRUCell
from pyqref.nn.modules import LSTMCell as FloatLSTMCell
from pyqref.nn.modules import Module
from pyqref.nn.modules import RNNCell as FloatRNNCell
from pyqref.nn.modules.arguments import word
from pyqref.nn.modules.rnn_base import pair_of_states
from pyqref.nn.quantized.modules.utils import fits, pop_state, require_float_input, require_type
from pyqref.ops.quantized import run_recurrent_cell
from pyqref.tensor.arguments import as_flag
from pyqref.tensor.base import wrap
from pyqref.tensor.creation import zeros

from .projections import empty_weight, part_of, prepack, require_state, weight_dtype
from .utils import dynamic_weight, weight_observer_method

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]

_KEYS = ("_packed_weight_ih", "_packed_weight_hh")


class RNNCellBase(Module):
    """Base class of the cells: two packed weights, their state, and conversion.

    In a state dict each packed weight is the pair (weight, bias).
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = Module

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        num_chunks: int = 4,
        dtype: Dtype = dtypes.qint8,
    ) -> None:
        super().__init__()
        dtype, bias = weight_dtype(dtype), as_flag(bias, "bias")
        name = type(self).__name__
        hidden_size, input_size, _ = sizes_of(
            name, hidden_size=hidden_size, input_size=input_size, num_chunks=num_chunks
        )
        sizes_of(name, num_chunks=num_chunks, hidden_size=hidden_size**2)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_dtype = dtype
        rows = num_chunks * hidden_size
        offset = zeros(rows) if bias else None
        self._packed_weight_ih = prepack(empty_weight(rows, input_size, dtype), offset)
        self._packed_weight_hh = prepack(empty_weight(rows, hidden_size, dtype), offset)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self) -> str:
        """Sizes; defaults are left out."""
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else text + ", bias=False"

    def get_weight(self) -> dict[str, Any]:
        """``weight_ih`` and ``weight_hh``."""
        return {
            "weight_ih": self._packed_weight_ih.unpack()[0],
            "weight_hh": self._packed_weight_hh.unpack()[0],
        }

    def get_bias(self) -> dict[str, Any]:
        """``bias_ih`` and ``bias_hh``."""
        return {"bias_ih": self.bias_ih, "bias_hh": self.bias_hh}

    @property
    def bias_ih(self) -> Tensor | None:
        """Bias of the projection of the input, or None."""
        return self._packed_weight_ih.unpack()[1]

    @property
    def bias_hh(self) -> Tensor | None:
        """Bias of the projection of the hidden state, or None."""
        return self._packed_weight_hh.unpack()[1]

    def _weight_bias(self) -> dict[str, dict[str, Any]]:
        return {"weight": self.get_weight(), "bias": self.get_bias()}

    def set_weight_bias(self, weight_bias_dict: dict[str, dict[str, Any]]) -> None:
        """Replace weights and biases; takes what ``_weight_bias`` gives."""
        name = self._get_name()
        made = []
        for part, key in zip(("ih", "hh"), _KEYS, strict=True):
            shape = tuple(getattr(self, key).unpack()[0].shape)
            weight = part_of(name, weight_bias_dict, "weight", None)
            bias = part_of(name, weight_bias_dict, "bias", None)
            made.append(
                prepack(
                    part_of(name, weight, f"weight_{part}", shape),
                    part_of(name, bias, f"bias_{part}", shape[:1]),
                )
            )
        self._packed_weight_ih, self._packed_weight_hh = made

    def _check_input(self, input: Any) -> None:
        require_float_input(self, input)
        if input.dim() != 2 or input.shape[1] != self.input_size:
            raise RuntimeError(
                f"{self._get_name()}: input must have shape (N, {self.input_size}), "
                f"got {tuple(input.shape)}"
            )

    def _state(self, given: Any, input: Any, name: str) -> Any:
        """A state ``(N, hidden_size)`` to change; zero if none is given."""
        shape = (input.shape[0], self.hidden_size)
        if given is None:
            return np.zeros(shape, np.float32)
        require_state(self._get_name(), name, given)
        if tuple(given.shape) != shape:
            raise RuntimeError(
                f"{self._get_name()}: {name} must have shape {shape}, got {tuple(given.shape)}"
            )
        return np.array(given._array, order="C")

    def _step(self, kind: str, input: Any, *states: Any) -> list[Any]:
        """The states after one step."""
        weights = self._packed_weight_ih, self._packed_weight_hh
        run_recurrent_cell(kind, input._array, *weights, states)
        return [wrap(each) for each in states]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for key in _KEYS:
            destination[prefix + key] = getattr(self, key).unpack()

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for key in _KEYS:
            given = pop_state(state_dict, prefix + key, missing_keys)
            ours = getattr(self, key).unpack()
            if given is not None and fits(given, ours, prefix + key, error_msgs):
                setattr(self, key, prepack(*given))
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The dynamic cell of a float cell with a ``qconfig`` (None: the default one)."""
        require_type(cls, mod, (cls._FLOAT_MODULE,))
        method = weight_observer_method(cls, mod)
        dtype = dtypes.qint8 if method is None else method().dtype
        options = {"nonlinearity": mod.nonlinearity} if hasattr(mod, "nonlinearity") else {}
        cell = cls(mod.input_size, mod.hidden_size, mod.bias, dtype=dtype, **options)
        cell.set_weight_bias(
            {
                "weight": {
                    name: dynamic_weight(getattr(mod, name), method)
                    for name in ("weight_ih", "weight_hh")
                },
                "bias": {
                    name: getattr(mod, name).detach().float() if mod.bias else None
                    for name in ("bias_ih", "bias_hh")
                },
            }
        )
        return cell

    @classmethod
    def from_reference(cls, ref_mod: AnyModule) -> Self:
        """The dynamic cell of a reference cell (:mod:`pyqref.nn.quantized.reference`)."""
        require_members(cls, "from_reference", ref_mod, "get_quantized_weight_ih", "hidden_size")
        weights = {
            "weight_ih": ref_mod.get_quantized_weight_ih(),
            "weight_hh": ref_mod.get_quantized_weight_hh(),
        }
        dtype = dtypes.qint8 if weights["weight_ih"].is_quantized else dtypes.float16
        names = ("nonlinearity",) if hasattr(ref_mod, "nonlinearity") else ()
        options = {name: getattr(ref_mod, name) for name in names}
        cell = cls(ref_mod.input_size, ref_mod.hidden_size, ref_mod.bias, dtype=dtype, **options)
        biases = {
            name: getattr(ref_mod, name).detach() if ref_mod.bias else None
            for name in ("bias_ih", "bias_hh")
        }
        cell.set_weight_bias({"weight": weights, "bias": biases})
        return cell


class LSTMCell(RNNCellBase):
    """One step of :class:`pyqref.nn.quantized.dynamic.LSTM`.

    Raises
    ------
    RuntimeError
        The input is not float32 ``(N, input_size)``.
    ValueError
        ``dtype`` is neither qint8 nor float16.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.dynamic.LSTMCell(10, 20)
    >>> h, c = m(pyqref.randn(3, 10))
    >>> tuple(h.size()), tuple(c.size())
    ((3, 20), (3, 20))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatLSTMCell

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, dtype: Dtype = dtypes.qint8
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, Any]:
        """Hidden and cell state after one step."""
        self._check_input(input)
        hidden, cell = pair_of_states(hx) or (None, None)
        hidden, cell = self._state(hidden, input, "hx[0]"), self._state(cell, input, "hx[1]")
        hidden, cell = self._step("LSTM", input, hidden, cell)
        return hidden, cell


class GRUCell(RNNCellBase):
    """One step of :class:`pyqref.nn.quantized.dynamic.GRU`.

    Raises
    ------
    RuntimeError
        The input is not float32 ``(N, input_size)``.
    ValueError
        ``dtype`` is neither qint8 nor float16.

    Examples
    --------
    >>> import pyqref
    >>> cell = pyqref.nn.quantized.dynamic.GRUCell(10, 20)
    >>> h = pyqref.zeros(3, 20)
    >>> for x in pyqref.randn(6, 3, 10):
    ...     h = cell(x, h)
    >>> h.shape
    pyqref.Size([3, 20])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatGRUCell

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, dtype: Dtype = dtypes.qint8
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Hidden state after one step."""
        self._check_input(input)
        hidden = self._state(hx, input, "hx")
        return self._step("GRU", input, hidden)[0]


class RNNCell(RNNCellBase):
    """One step of a plain recurrent network, tanh or ReLU.

    Parameters
    ----------
    input_size, hidden_size, bias
        As of :class:`pyqref.nn.RNNCell`.
    nonlinearity
        ``"tanh"`` or ``"relu"``.
    dtype
        Of the weights: ``qint8`` or ``float16``.

    Raises
    ------
    RuntimeError
        The input is not float32 ``(N, input_size)``.
    ValueError
        ``dtype`` is neither qint8 nor float16; ``nonlinearity`` neither tanh nor relu.

    Examples
    --------
    >>> import pyqref
    >>> cell = pyqref.nn.quantized.dynamic.RNNCell(10, 20, nonlinearity="relu")
    >>> h = pyqref.zeros(3, 20)
    >>> for x in pyqref.randn(6, 3, 10):
    ...     h = cell(x, h)
    >>> h.shape
    pyqref.Size([3, 20])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Dtype = dtypes.qint8,
    ) -> None:
        word(nonlinearity, "nonlinearity", ("tanh", "relu"))
        super().__init__(input_size, hidden_size, bias, num_chunks=1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        """Sizes; defaults are left out."""
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else f"{text}, nonlinearity=relu"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Hidden state after one step."""
        self._check_input(input)
        hidden = self._state(hx, input, "hx")
        kind = "ReLU" if self.nonlinearity == "relu" else "RNN"
        return self._step(kind, input, hidden)[0]
