"""Convolution and ReLU for quantization-aware training."""

from __future__ import annotations

from typing import ClassVar

from pyqref.nn.intrinsic.modules.fused import ConvReLU1d as FloatConvReLU1d
from pyqref.nn.intrinsic.modules.fused import ConvReLU2d as FloatConvReLU2d
from pyqref.nn.intrinsic.modules.fused import ConvReLU3d as FloatConvReLU3d
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.modules import Module
from pyqref.nn.qat.modules.conv import Conv1d as QATConv1d
from pyqref.nn.qat.modules.conv import Conv2d as QATConv2d
from pyqref.nn.qat.modules.conv import Conv3d as QATConv3d

from .then_relu import ThenReLU

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d"]


class ConvReLU1d(ThenReLU, QATConv1d, _FusedModule):
    """One-dimensional form of :class:`ConvReLU2d`.

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
    _FLOAT_GROUP: ClassVar[type[Module]] = FloatConvReLU1d


class ConvReLU2d(ThenReLU, QATConv2d, _FusedModule):
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
    _FLOAT_GROUP: ClassVar[type[Module]] = FloatConvReLU2d


class ConvReLU3d(ThenReLU, QATConv3d, _FusedModule):
    """Three-dimensional form of :class:`ConvReLU2d`.

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
    _FLOAT_GROUP: ClassVar[type[Module]] = FloatConvReLU3d
