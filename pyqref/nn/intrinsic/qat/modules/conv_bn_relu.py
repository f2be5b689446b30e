"""Convolution, batch norm and ReLU for quantization-aware training."""

from __future__ import annotations

from typing import ClassVar

from pyqref.nn.intrinsic.modules.fused import ConvBnReLU1d as FloatConvBnReLU1d
from pyqref.nn.intrinsic.modules.fused import ConvBnReLU2d as FloatConvBnReLU2d
from pyqref.nn.intrinsic.modules.fused import ConvBnReLU3d as FloatConvBnReLU3d
from pyqref.nn.intrinsic.modules.fused import ConvReLU1d, ConvReLU2d, ConvReLU3d
from pyqref.nn.modules import Module

from .conv_bn import ConvBn1d, ConvBn2d, ConvBn3d
from .then_relu import ThenReLU

__all__ = ["ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d"]


class ConvBnReLU1d(ThenReLU, ConvBn1d):
    """:class:`ConvBn1d` followed by ReLU.

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
    #: The batch norm is folded into the convolution, as torch 2.13 does.
    _FLOAT_GROUP: ClassVar[type[Module]] = ConvReLU1d


class ConvBnReLU2d(ThenReLU, ConvBn2d):
    r""":class:`ConvBn2d` followed by ReLU.

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
    #: The batch norm is folded into the convolution, as torch 2.13 does.
    _FLOAT_GROUP: ClassVar[type[Module]] = ConvReLU2d


class ConvBnReLU3d(ThenReLU, ConvBn3d):
    """:class:`ConvBn3d` followed by ReLU.

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
    #: The batch norm is folded into the convolution, as torch 2.13 does.
    _FLOAT_GROUP: ClassVar[type[Module]] = ConvReLU3d
