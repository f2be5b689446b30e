"""Convolution and ReLU on integers."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref.nn.intrinsic.modules.fused import ConvReLU1d as FloatConvReLU1d
from pyqref.nn.intrinsic.modules.fused import ConvReLU2d as FloatConvReLU2d
from pyqref.nn.intrinsic.modules.fused import ConvReLU3d as FloatConvReLU3d
from pyqref.nn.intrinsic.qat.modules.conv_bn_relu import ConvBnReLU1d as QATConvBnReLU1d
from pyqref.nn.intrinsic.qat.modules.conv_bn_relu import ConvBnReLU2d as QATConvBnReLU2d
from pyqref.nn.intrinsic.qat.modules.conv_bn_relu import ConvBnReLU3d as QATConvBnReLU3d
from pyqref.nn.intrinsic.qat.modules.conv_relu import ConvReLU1d as QATConvReLU1d
from pyqref.nn.intrinsic.qat.modules.conv_relu import ConvReLU2d as QATConvReLU2d
from pyqref.nn.intrinsic.qat.modules.conv_relu import ConvReLU3d as QATConvReLU3d
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules.conv import Conv1d, Conv2d, Conv3d
from pyqref.ops import quantized as ops

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d"]


class ConvReLU1d(Conv1d):
    r"""Quantized 1-D convolution and ReLU in one: the clamp's lower end is the zero point.

    .. math:: q_y = \min(\max(\mathrm{rne}(v) + z_y,\; z_y),\; 255)

    with :math:`v` as in :class:`pyqref.nn.quantized.Conv1d` (equation ``eq-requantize``),
    whose parameters it shares.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.ConvReLU1d(1, 2, 3)
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 1, 8), 0.1, 128, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([2, 2, 6])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (
        FloatConvReLU1d,
        QATConvReLU1d,
        QATConvBnReLU1d,
    )
    _operation: ClassVar[Any] = staticmethod(ops.conv1d_relu)

    def _get_name(self) -> str:
        return "QuantizedConvReLU1d"


class ConvReLU2d(Conv2d):
    r"""Quantized 2-D convolution and ReLU in one: the clamp's lower end is the zero point.

    .. math:: q_y = \min(\max(\mathrm{rne}(v) + z_y,\; z_y),\; 255)

    with :math:`v` as in :class:`pyqref.nn.quantized.Conv2d` (equation ``eq-requantize``),
    whose parameters it shares.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.ConvReLU2d(1, 2, 3)
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 1, 8, 8), 0.1, 128, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([2, 2, 6, 6])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (
        FloatConvReLU2d,
        QATConvReLU2d,
        QATConvBnReLU2d,
    )
    _operation: ClassVar[Any] = staticmethod(ops.conv2d_relu)

    def _get_name(self) -> str:
        return "QuantizedConvReLU2d"


class ConvReLU3d(Conv3d):
    r"""Quantized 3-D convolution and ReLU in one: the clamp's lower end is the zero point.

    .. math:: q_y = \min(\max(\mathrm{rne}(v) + z_y,\; z_y),\; 255)

    with :math:`v` as in :class:`pyqref.nn.quantized.Conv3d` (equation ``eq-requantize``),
    whose parameters it shares.

    Raises
    ------
    RuntimeError
        As of :class:`pyqref.nn.quantized.Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.ConvReLU3d(1, 2, 3)
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 1, 4, 6, 6), 0.1, 128, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([2, 2, 2, 4, 4])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (
        FloatConvReLU3d,
        QATConvReLU3d,
        QATConvBnReLU3d,
    )
    _operation: ClassVar[Any] = staticmethod(ops.conv3d_relu)

    def _get_name(self) -> str:
        return "QuantizedConvReLU3d"
