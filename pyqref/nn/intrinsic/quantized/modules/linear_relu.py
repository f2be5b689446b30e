"""Linear layer and ReLU on integers."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Dtype
from pyqref.nn.intrinsic.modules.fused_linear import LinearReLU as FloatLinearReLU
from pyqref.nn.intrinsic.qat.modules.linear_relu import LinearReLU as QATLinearReLU
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules.linear import Linear as QuantizedLinear
from pyqref.ops import quantized as ops

__all__ = ["LinearReLU"]


class LinearReLU(QuantizedLinear):
    r"""Quantized linear layer and ReLU in one: the clamp's lower end is the zero point.

    .. math:: q_y = \min(\max(\mathrm{rne}(v) + z_y,\; z_y),\; 255)

    with :math:`v` as in :class:`pyqref.nn.quantized.Linear` (equation ``eq-requantize``).

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    dtype
        Of the weight: qint8.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Linear`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.LinearReLU(20, 30)
    >>> input = pyqref.quantize_per_tensor(pyqref.randn(128, 20), 0.1, 128, pyqref.quint8)
    >>> tuple(m(input).size())
    (128, 30)
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatLinearReLU, QATLinearReLU)
    _operation: ClassVar[Any] = staticmethod(ops.linear_relu)

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Dtype = dtypes.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"
