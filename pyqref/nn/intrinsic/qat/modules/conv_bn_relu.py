"""Convolution, batch norm and ReLU for quantization-aware training."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref.nn import functional as F
from pyqref.nn.intrinsic.modules.fused import ConvBnReLU1d as FloatConvBnReLU1d
from pyqref.nn.intrinsic.modules.fused import ConvBnReLU2d as FloatConvBnReLU2d
from pyqref.nn.intrinsic.modules.fused import ConvBnReLU3d as FloatConvBnReLU3d
from pyqref.nn.intrinsic.modules.fused import ConvReLU1d, ConvReLU2d, ConvReLU3d
from pyqref.nn.modules import Module, ReLU

from .conv_bn import ConvBn1d, ConvBn2d, ConvBn3d

__all__ = ["ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d"]


class ConvBnReLU1d(ConvBn1d):
    """As :class:`ConvBn1d`, followed by ReLU.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvBnReLU1d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8)).shape
    pyqref.Size([4, 2, 6])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBnReLU1d

    def forward(self, input: Any) -> Any:
        """ReLU of the normalised convolution."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with the trained batch norm folded in, as torch 2.13 gives."""
        return ConvReLU1d(super().to_float(), ReLU()).train(self.training)


class ConvBnReLU2d(ConvBn2d):
    r"""As :class:`ConvBn2d`, followed by ReLU.

    .. math:: y = \max\left(0, \mathrm{BN}\left( \frac{x * \mathrm{fq}(s W)}{s} + b \right)\right)

    Between the parts nothing is rounded: one fake quantizer follows the ReLU.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvBnReLU2d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8, 8)).shape
    pyqref.Size([4, 2, 6, 6])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBnReLU2d

    def forward(self, input: Any) -> Any:
        """ReLU of the normalised convolution."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with the trained batch norm folded in, as torch 2.13 gives."""
        return ConvReLU2d(super().to_float(), ReLU()).train(self.training)


class ConvBnReLU3d(ConvBn3d):
    """As :class:`ConvBn3d`, followed by ReLU.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvBnReLU3d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 4, 6, 6)).shape
    pyqref.Size([4, 2, 2, 4, 4])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBnReLU3d

    def forward(self, input: Any) -> Any:
        """ReLU of the normalised convolution."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with the trained batch norm folded in, as torch 2.13 gives."""
        return ConvReLU3d(super().to_float(), ReLU()).train(self.training)
