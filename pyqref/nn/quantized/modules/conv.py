"""The quantized convolutions in one, two and three dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref.nn.intrinsic.qat.modules.conv_bn import ConvBn1d as QATConvBn1d
from pyqref.nn.intrinsic.qat.modules.conv_bn import ConvBn2d as QATConvBn2d
from pyqref.nn.intrinsic.qat.modules.conv_bn import ConvBn3d as QATConvBn3d
from pyqref.nn.modules import Conv1d as FloatConv1d
from pyqref.nn.modules import Conv2d as FloatConv2d
from pyqref.nn.modules import Conv3d as FloatConv3d
from pyqref.nn.modules import Module
from pyqref.nn.qat.modules.conv import Conv1d as QATConv1d
from pyqref.nn.qat.modules.conv import Conv2d as QATConv2d
from pyqref.nn.qat.modules.conv import Conv3d as QATConv3d
from pyqref.ops import quantized as ops

from .conv_nd import _ConvNd

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class Conv1d(_ConvNd):
    r"""1-D convolution on integers: quint8 in and out, qint8 weight, float bias.

    As :class:`Conv2d`, along one dimension: ``(N, C_in, L) -> (N, C_out, L_out)``.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Conv1d(16, 33, 3, stride=2)
    >>> input = pyqref.quantize_per_tensor(pyqref.randn(20, 16, 100), 1.0, 0, pyqref.quint8)
    >>> tuple(m(input).size())
    (20, 33, 49)
    """

    _dimensions = 1
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConv1d, QATConv1d, QATConvBn1d)
    _operation: ClassVar[Any] = staticmethod(ops.conv1d)


class Conv2d(_ConvNd):
    r"""2-D convolution on integers: quint8 in and out, qint8 weight, float bias.

    Equations ``eq-conv-accumulator`` and ``eq-requantize``:

    .. math:: q_y = \mathrm{sat}\Big(\mathrm{rne}\big(
              M \sum (q_x - z_x)(q_w - z_w) + b / s_y\big) + z_y\Big),
              \qquad M = s_x s_w / s_y

    summed over the channels of the group and the kernel. Padding holds the zero
    point, so it stands for 0.0. The engine decides in which order bias and
    multiplier are applied.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        As of :class:`pyqref.nn.Conv2d`. ``padding`` is kept as numbers; ``"same"`` of an even
        kernel, which adds one more element behind, remains a string.
    device, dtype
        Accepted as in torch; there is one device, and the weight is qint8.

    Attributes
    ----------
    scale : float
        Of the output; 1.0 until set.
    zero_point : int
        Of the output, in [0, 255]; 0 until set.

    Raises
    ------
    RuntimeError
        The input is not quantized, is not quint8, or has another number of
        dimensions or channels. The message names the layer's path in the model.
    ValueError
        There is no such ``padding`` or ``padding_mode``, or ``groups`` do not divide the
        channels.

    Notes
    -----
    Shapes: ``(N, C_in, H, W) -> (N, C_out, H_out, W_out)``; N may be zero. The
    documentation of 1.4 feeds a float tensor to this layer, and quantizes as qint32
    in its example: the layer takes quint8. A new layer has a zero weight (torch
    leaves memory as it finds it). torch's depthwise kernels saturate sums of
    products at 16 bits; here every sum is exact. Of padding modes torch has ``"zeros"`` and, in
    one and two dimensions, ``"reflect"``, and no padding by a word.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Conv2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2))
    >>> input = pyqref.quantize_per_tensor(pyqref.randn(2, 16, 10, 20), 1.0, 0, pyqref.quint8)
    >>> tuple(m(input).size())
    (2, 33, 8, 20)
    >>> m
    QuantizedConv2d(16, 33, kernel_size=(3, 5), stride=(2, 1), scale=1.0, zero_point=0, padding=(4, 2))
    """  # noqa: E501

    _dimensions = 2
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConv2d, QATConv2d, QATConvBn2d)
    _operation: ClassVar[Any] = staticmethod(ops.conv2d)


class Conv3d(_ConvNd):
    r"""3-D convolution on integers: quint8 in and out, qint8 weight, float bias.

    As :class:`Conv2d`, along three dimensions:
    ``(N, C_in, D, H, W) -> (N, C_out, D_out, H_out, W_out)``.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Conv3d(4, 6, (3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2))
    >>> input = pyqref.randn(2, 4, 5, 8, 8)
    >>> input = pyqref.quantize_per_tensor(input, 1.0, 0, pyqref.quint8)
    >>> tuple(m(input).size())
    (2, 6, 5, 4, 4)
    """

    _dimensions = 3
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConv3d, QATConv3d, QATConvBn3d)
    _operation: ClassVar[Any] = staticmethod(ops.conv3d)
