"""Activations on integers that need no rounding."""

from __future__ import annotations

from pyqref import dtypes
from pyqref._typing import AnyModule, Self, Tensor
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.modules import Module
from pyqref.nn.modules import ReLU as FloatReLU
from pyqref.ops import quantized as ops

from .utils import require_quantized_input

__all__ = ["ReLU", "ReLU6"]

_EVERY_DTYPE = (dtypes.quint8, dtypes.qint8, dtypes.qint32)


class ReLU(FloatReLU):
    r"""Rectified linear unit on integers.

    .. math:: \mathrm{ReLU}(q) = \max(q, z)

    with :math:`z` the zero point. Scale and zero point stay as they are.

    Parameters
    ----------
    inplace : bool
        Write the result into the input.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.

    Notes
    -----
    Shapes: any. Dtypes: quint8, qint8, qint32. torch 2.13 has no such class and uses
    ``nn.ReLU``, which takes quantized tensors here as well.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.ReLU()
    >>> input = pyqref.tensor([-2.0, 2.0])
    >>> input = pyqref.quantize_per_tensor(input, 1.0, 0, dtype=pyqref.qint32)
    >>> m(input).int_repr().tolist()
    [0, 2]
    """

    def _get_name(self) -> str:
        return "QuantizedReLU"

    def forward(self, input: Tensor) -> Tensor:
        """``max(input, 0)`` on the integers."""
        require_quantized_input(self, input, _EVERY_DTYPE)
        return ops.relu(input, self.inplace)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of a float ``ReLU``."""
        require_members(cls, "from_float", mod, "inplace")
        return cls(mod.inplace)


class ReLU6(FloatReLU):
    r"""Rectified linear unit with a ceiling, on integers.

    .. math:: \mathrm{ReLU6}(q) = \min(\max(q, z),\; q(6))

    with :math:`z` the zero point and :math:`q(6)` the integer that 6 is quantized to.
    Scale and zero point stay as they are.

    Parameters
    ----------
    inplace : bool
        Write the result into the input.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.

    Notes
    -----
    Shapes: any. Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.ReLU6()
    >>> input = pyqref.tensor([-2.0, 2.0, 8.0])
    >>> input = pyqref.quantize_per_tensor(input, 1.0, 0, dtype=pyqref.qint32)
    >>> m(input).int_repr().tolist()
    [0, 2, 6]
    """

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    def forward(self, input: Tensor) -> Tensor:
        """``min(max(input, 0), 6)`` on the integers."""
        require_quantized_input(self, input, _EVERY_DTYPE)
        return ops.relu6(input, self.inplace)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of a float ``ReLU6``."""
        require_members(ReLU6, "from_float", mod, "inplace")
        return cls(bool(getattr(mod, "inplace", False)))
