"""Linear layer with a quantized weight, and ReLU, float in and out."""

from __future__ import annotations

from typing import ClassVar

from pyqref import dtypes
from pyqref._typing import Dtype, Tensor
from pyqref.nn.intrinsic.modules.fused_linear import LinearReLU as FloatLinearReLU
from pyqref.nn.modules import Module
from pyqref.nn.quantized.dynamic.modules.linear import Linear as DynamicLinear
from pyqref.nn.quantized.modules.utils import require_float_input
from pyqref.ops import quantized as ops

__all__ = ["LinearReLU"]


class LinearReLU(DynamicLinear):
    r""":class:`pyqref.nn.quantized.dynamic.Linear` followed by ReLU.

    .. math:: y = \max\Big(0,\; s_x s_w \sum_k (q_{x,k} - z_x)(q_{w,k} - z_w) + b\Big)

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    dtype
        Of the weight: ``qint8`` or ``float16``.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.dynamic.LinearReLU(20, 30)
    >>> tuple(m(pyqref.randn(128, 20)).size())
    (128, 30)
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatLinearReLU,)

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Dtype = dtypes.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"

    def forward(self, x: Tensor) -> Tensor:
        """The float output, not below zero."""
        require_float_input(self, x)
        packed = self._packed_params._packed_params
        if self._packed_params.dtype is dtypes.float16:
            return ops.linear_relu_dynamic_fp16(x, packed)
        return ops.linear_relu_dynamic(x, packed, reduce_range=True)
