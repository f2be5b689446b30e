"""The reference forms of the recurrent cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pyqref._typing import Device, Dtype, Module, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members

from .utils import ReferenceQuantizedModule

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _Cell(ReferenceQuantizedModule):
    """Base class of the cells; it precedes the float cell among their bases."""

    _saves_scheme = False
    _FLOAT: ClassVar[Any]

    def _weights(self) -> tuple[str, ...]:
        return ("weight_ih", "weight_hh")

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The states after one step with rounded weights."""
        return self._FLOAT.forward(self._float_twin(), input, hx)

    def get_weight(self) -> Any:
        """Not for cells: they have two weights."""
        raise RuntimeError(f"{self._get_name()}: use get_weight_ih() and get_weight_hh()")

    def get_quantized_weight(self) -> Any:
        """Not for cells: they have two weights."""
        raise RuntimeError(
            f"{self._get_name()}: use get_quantized_weight_ih() and get_quantized_weight_hh()"
        )

    def get_weight_ih(self) -> Any:
        """The rounded weight of the input, in float."""
        return self._rounded("weight_ih")

    def get_weight_hh(self) -> Any:
        """The rounded weight of the hidden state, in float."""
        return self._rounded("weight_hh")

    def get_quantized_weight_ih(self) -> Any:
        """The weight of the input as a quantized tensor."""
        return self._quantized("weight_ih")

    def get_quantized_weight_hh(self) -> Any:
        """The weight of the hidden state as a quantized tensor."""
        return self._quantized("weight_hh")

    @classmethod
    def from_float(
        cls,
        mod: Module,
        weight_qparams_dict: Mapping[str, Any],
        use_precomputed_fake_quant: bool = False,
    ) -> Any:
        """The reference cell of a float cell, whose parameters it shares."""
        require_members(
            cls, "from_float", mod, "input_size", "hidden_size", "weight_ih", "weight_hh"
        )
        options = {"nonlinearity": mod.nonlinearity} if hasattr(mod, "nonlinearity") else {}
        cell = cls(
            mod.input_size,
            mod.hidden_size,
            mod.bias,
            weight_qparams_dict=weight_qparams_dict,
            **options,
        )
        return cell._copy_parameters(mod)


class RNNCell(_Cell, nn.RNNCell):
    """A float plain cell that computes with rounded weights.

    Parameters
    ----------
    input_size, hidden_size, bias, nonlinearity
        As of :class:`pyqref.nn.RNNCell`.
    device, dtype
        Of the float weights.
    weight_qparams_dict : dict
        The grids of ``weight_ih`` and ``weight_hh``, each as of
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
    >>> grids = {"weight_ih": grid, "weight_hh": grid}
    >>> cell = pyqref.nn.quantized.reference.RNNCell(3, 5, weight_qparams_dict=grids)
    >>> cell(pyqref.randn(2, 3)).shape
    pyqref.Size([2, 5])
    """

    _FLOAT: ClassVar[Any] = nn.RNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams_dict: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, nonlinearity, device, dtype)
        self._init_each_weight(weight_qparams_dict)


class LSTMCell(_Cell, nn.LSTMCell):
    """A float LSTM cell that computes with rounded weights; arguments as :class:`RNNCell`.

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
    >>> grids = {"weight_ih": grid, "weight_hh": grid}
    >>> cell = pyqref.nn.quantized.reference.LSTMCell(3, 5, weight_qparams_dict=grids)
    >>> cell(pyqref.randn(2, 3))[0].shape
    pyqref.Size([2, 5])
    """

    _FLOAT: ClassVar[Any] = nn.LSTMCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams_dict: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self._init_each_weight(weight_qparams_dict)


class GRUCell(_Cell, nn.GRUCell):
    """A float GRU cell that computes with rounded weights; arguments as :class:`RNNCell`.

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
    >>> grids = {"weight_ih": grid, "weight_hh": grid}
    >>> cell = pyqref.nn.quantized.reference.GRUCell(3, 5, weight_qparams_dict=grids)
    >>> cell(pyqref.randn(2, 3)).shape
    pyqref.Size([2, 5])
    """

    _FLOAT: ClassVar[Any] = nn.GRUCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams_dict: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self._init_each_weight(weight_qparams_dict)
