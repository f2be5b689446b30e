"""Linear layer and a smooth or leaky activation on integers."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Dtype, Tensor
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.intrinsic.modules.fused_linear import LinearLeakyReLU as FloatLinearLeakyReLU
from pyqref.nn.intrinsic.modules.fused_linear import LinearTanh as FloatLinearTanh
from pyqref.nn.modules import Module, Sequential
from pyqref.nn.modules.arguments import number
from pyqref.nn.quantized.modules.linear import Linear as QuantizedLinear
from pyqref.nn.quantized.modules.utils import require_quantized_input
from pyqref.ops import quantized as ops

__all__ = ["LinearLeakyReLU", "LinearTanh"]


class LinearLeakyReLU(QuantizedLinear):
    r"""Quantized linear layer and leaky ReLU in one, with one rounding.

    Equation ``eq-requantize-function`` with :math:`g(v) = v` where v > 0, else
    ``negative_slope * v``.

    Parameters
    ----------
    in_features, out_features : int
    negative_slope : float
    bias : bool
    dtype
        Of the weight: qint8.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Linear`.

    Notes
    -----
    torch runs it on the engine ``onednn`` only, pyqref on every one.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.LinearLeakyReLU(20, 30, negative_slope=0.1)
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(128, 20), 0.1, 128, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([128, 30])
    """

    _KEEPS_RANGE: ClassVar[bool] = False
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatLinearLeakyReLU,)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        negative_slope: float,
        bias: bool = True,
        dtype: Dtype = dtypes.qint8,
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)
        self.negative_slope = number(negative_slope, "negative_slope")

    def _get_name(self) -> str:
        return "QuantizedLinearLeakyReLU"

    def forward(self, x: Tensor) -> Tensor:
        """The quantized output, with this layer's scale and zero point."""
        require_quantized_input(self, x)
        packed = self._packed_params._packed_params
        return ops.linear_leaky_relu(x, packed, self.scale, self.zero_point, self.negative_slope)

    @classmethod
    def _like(cls, mod: Any, layer: Any, bias: bool) -> Any:
        activation = mod[1] if isinstance(mod, Sequential) and len(mod) > 1 else None
        require_members(cls, "from_reference", activation, "negative_slope")
        slope: float = getattr(activation, "negative_slope", 0.0)
        return cls(layer.in_features, layer.out_features, slope, bias)


class LinearTanh(QuantizedLinear):
    r"""Quantized linear layer and tanh in one, with one rounding.

    Equation ``eq-requantize-function`` with :math:`g = \tanh`. ``from_float`` takes scale
    2/256 and zero point 128, which cover -1 to 1.

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

    Notes
    -----
    torch runs it on the engine ``onednn`` only, pyqref on every one.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.LinearTanh(20, 30)
    >>> m.scale, m.zero_point = 2 / 256, 128
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(128, 20), 0.1, 128, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([128, 30])
    """

    _KEEPS_RANGE: ClassVar[bool] = False
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatLinearTanh,)
    _operation: ClassVar[Any] = staticmethod(ops.linear_tanh)

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Dtype = dtypes.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def _get_name(self) -> str:
        return "QuantizedLinearTanh"

    def set_output_parameters(self, activation_post_process: object) -> None:
        """Take the parameters that cover -1 to 1, whatever was observed, as torch does."""
        self.scale, self.zero_point = 2.0 / 256.0, 128
