"""The reference forms of the recurrent layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pyqref._typing import Module, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.layer_options import recurrent_options

from .utils import ReferenceQuantizedModule

__all__ = ["GRU", "LSTM"]


class _Layers(ReferenceQuantizedModule):
    """Base class of LSTM and GRU; it precedes the float layer among their bases."""

    _saves_scheme = False
    _FLOAT: ClassVar[Any]

    def __init__(
        self,
        *args: int,
        weight_qparams_dict: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._init_each_weight(weight_qparams_dict)

    def _weights(self) -> tuple[str, ...]:
        return tuple(name for name in self._parameters if name.startswith("weight_"))

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Outputs and final states, with rounded weights."""
        return self._FLOAT.forward(self._float_twin(), input, hx)

    def get_weight(self) -> Any:
        """Not for recurrent layers: they have several weights."""
        raise RuntimeError(f"{self._get_name()}: use get_quantized_weight_bias_dict()")

    def get_quantized_weight(self) -> Any:
        """Not for recurrent layers: they have several weights."""
        raise RuntimeError(f"{self._get_name()}: use get_quantized_weight_bias_dict()")

    def get_quantized_weight_bias_dict(self) -> dict[str, Any]:
        """Every weight as a quantized tensor, and every bias, by name."""
        quantized = set(self._weights())
        return {
            name: self._quantized(name) if name in quantized else parameter.detach()
            for name, parameter in self._parameters.items()
            if parameter is not None
        }

    def get_flat_weights(self) -> list[Any]:
        """Every weight rounded to its grid, and every bias, in the order of the parameters."""
        quantized = set(self._weights())
        return [
            self._rounded(name) if name in quantized else parameter
            for name, parameter in self._parameters.items()
        ]

    @classmethod
    def from_float(cls, mod: Module, weight_qparams_dict: Mapping[str, Any]) -> Any:
        """The reference layer of a float layer, whose parameters it shares."""
        require_members(cls, "from_float", mod, "input_size", "num_layers", "bidirectional")
        layer = cls(**recurrent_options(mod), weight_qparams_dict=weight_qparams_dict)
        return layer._copy_parameters(mod)


class LSTM(_Layers, nn.LSTM):
    """A float LSTM that computes with rounded weights.

    Parameters
    ----------
    *args, **kwargs
        Those of :class:`pyqref.nn.LSTM`.
    weight_qparams_dict : dict
        The grid of each weight by its name, such as ``weight_ih_l0``, each as of
        :class:`pyqref.nn.quantized.reference.Linear`.

    Raises
    ------
    ValueError
        A weight has no grid, or one that lacks an entry.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> grids = {"weight_ih_l0": grid, "weight_hh_l0": grid}
    >>> rnn = pyqref.nn.quantized.reference.LSTM(3, 5, weight_qparams_dict=grids)
    >>> rnn(pyqref.randn(4, 2, 3))[0].shape
    pyqref.Size([4, 2, 5])
    """

    _FLOAT: ClassVar[Any] = nn.LSTM


class GRU(_Layers, nn.GRU):
    """A float GRU that computes with rounded weights; arguments as of :class:`LSTM`.

    Raises
    ------
    ValueError
        A weight has no grid, or one that lacks an entry.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> grids = {"weight_ih_l0": grid, "weight_hh_l0": grid}
    >>> rnn = pyqref.nn.quantized.reference.GRU(3, 5, weight_qparams_dict=grids)
    >>> rnn(pyqref.randn(4, 2, 3))[0].shape
    pyqref.Size([4, 2, 5])
    """

    _FLOAT: ClassVar[Any] = nn.GRU
