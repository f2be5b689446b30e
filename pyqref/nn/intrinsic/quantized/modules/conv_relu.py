"""Convolution and ReLU on integers."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref.nn.intrinsic.modules.fused import ConvReLU2d as FloatConvReLU2d
from pyqref.nn.intrinsic.modules.fused import ConvReLU3d as FloatConvReLU3d
from pyqref.nn.intrinsic.qat.modules.conv_bn import ConvBnReLU2d as QATConvBnReLU2d
from pyqref.nn.intrinsic.qat.modules.conv_relu import ConvReLU2d as QATConvReLU2d
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules.conv import Conv2d, Conv3d
from pyqref.ops import quantized as ops

__all__ = ["ConvReLU2d", "ConvReLU3d"]


class ConvReLU2d(Conv2d):
    r"""Quantized 2-D convolution and ReLU in one: the clamp's lower end is the zero point.

    .. math:: q_y = \min(\max(\mathrm{rne}(v) + z_y,\; z_y),\; 255)

    with :math:`v` as in :class:`pyqref.nn.quantized.Conv2d` (equation ``eq-requantize``),
    whose parameters it shares.
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (
        FloatConvReLU2d,
        QATConvReLU2d,
        QATConvBnReLU2d,
    )

    def _get_name(self) -> str:
        return "QuantizedConvReLU2d"

    def _run(self, input: Any) -> Any:
        return ops.conv2d_relu(input, self._packed_params, self.scale, self.zero_point)


class ConvReLU3d(Conv3d):
    r"""Quantized 3-D convolution and ReLU in one: the clamp's lower end is the zero point.

    .. math:: q_y = \min(\max(\mathrm{rne}(v) + z_y,\; z_y),\; 255)

    with :math:`v` as in :class:`pyqref.nn.quantized.Conv3d` (equation ``eq-requantize``),
    whose parameters it shares.
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvReLU3d,)

    def _get_name(self) -> str:
        return "QuantizedConvReLU3d"

    def _run(self, input: Any) -> Any:
        return ops.conv3d_relu(input, self._packed_params, self.scale, self.zero_point)
