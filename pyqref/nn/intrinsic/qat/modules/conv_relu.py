"""Convolution and ReLU for quantization-aware training."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref.nn import functional as F
from pyqref.nn.intrinsic.modules.fused import ConvReLU1d as FloatConvReLU1d
from pyqref.nn.intrinsic.modules.fused import ConvReLU2d as FloatConvReLU2d
from pyqref.nn.intrinsic.modules.fused import ConvReLU3d as FloatConvReLU3d
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.modules import Module, ReLU
from pyqref.nn.qat.modules.conv import Conv1d as QATConv1d
from pyqref.nn.qat.modules.conv import Conv2d as QATConv2d
from pyqref.nn.qat.modules.conv import Conv3d as QATConv3d

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d"]


class ConvReLU1d(QATConv1d, _FusedModule):
    """As :class:`ConvReLU2d`, with a convolution along one dimension.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvReLU1d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8)).shape
    pyqref.Size([4, 2, 6])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvReLU1d

    def forward(self, input: Any) -> Any:
        """ReLU of the convolution with the fake-quantized weight."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with copies of the trained parameters."""
        return FloatConvReLU1d(super().to_float(), ReLU()).train(self.training)


class ConvReLU2d(QATConv2d, _FusedModule):
    r"""A 2-D convolution with fake-quantized weight, and ReLU.

    .. math:: y = \max(0, x * \mathrm{fq}(W) + b)

    Between the two nothing is rounded: one fake quantizer follows the ReLU.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        As of :class:`pyqref.nn.Conv2d`.
    qconfig : QConfig
        Its ``weight`` makes ``weight_fake_quant``.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvReLU2d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8, 8)).shape
    pyqref.Size([4, 2, 6, 6])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvReLU2d

    def forward(self, input: Any) -> Any:
        """ReLU of the convolution with the fake-quantized weight."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with copies of the trained parameters."""
        return FloatConvReLU2d(super().to_float(), ReLU()).train(self.training)


class ConvReLU3d(QATConv3d, _FusedModule):
    """As :class:`ConvReLU2d`, with a convolution along three dimensions.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvReLU3d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 4, 6, 6)).shape
    pyqref.Size([4, 2, 2, 4, 4])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvReLU3d

    def forward(self, input: Any) -> Any:
        """ReLU of the convolution with the fake-quantized weight."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with copies of the trained parameters."""
        return FloatConvReLU3d(super().to_float(), ReLU()).train(self.training)
