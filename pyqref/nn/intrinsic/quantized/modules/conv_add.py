"""Convolution and addition on integers."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Tensor
from pyqref.nn.intrinsic.modules.conv_add import ConvAdd2d as FloatConvAdd2d
from pyqref.nn.intrinsic.modules.conv_add import ConvAddReLU2d as FloatConvAddReLU2d
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules.conv import Conv2d
from pyqref.nn.quantized.modules.utils import require_quantized_input
from pyqref.ops import quantized as ops

__all__ = ["ConvAdd2d", "ConvAddReLU2d"]


class ConvAdd2d(Conv2d):
    r"""Quantized 2-D convolution and the addition of a second input, with one rounding.

    Equation ``eq-requantize-function`` with :math:`g(v) = v + s_o (q_o - z_o)`; parameters
    as of :class:`pyqref.nn.quantized.Conv2d`.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Conv2d`.

    Notes
    -----
    Called with two quint8 tensors, the input and what is added. torch runs it on the
    engine ``onednn`` only, pyqref on every one.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.ConvAdd2d(1, 2, 3, padding=1)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> y = pyqref.quantize_per_tensor(pyqref.rand(2, 2, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> m(x, y).shape
    pyqref.Size([2, 2, 5, 5])
    """

    _KEEPS_RANGE: ClassVar[bool] = False
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvAdd2d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv2d_add)

    def _get_name(self) -> str:
        return "QuantizedConvAdd2d"

    def forward(self, input: Tensor, extra_input: Tensor) -> Tensor:  # type: ignore[override]
        """The quantized sum, with this layer's scale and zero point."""
        require_quantized_input(self, input)
        require_quantized_input(self, extra_input)
        packed = self._packed_params
        padded = self._padded(input)
        return self._operation(padded, extra_input, packed, self.scale, self.zero_point)


class ConvAddReLU2d(ConvAdd2d):
    """:class:`ConvAdd2d` followed by ReLU.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.ConvAddReLU2d(1, 2, 3, padding=1)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> y = pyqref.quantize_per_tensor(pyqref.rand(2, 2, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> m(x, y).shape
    pyqref.Size([2, 2, 5, 5])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvAddReLU2d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv2d_add_relu)

    def _get_name(self) -> str:
        return "QuantizedConvAddReLU2d"
