"""The quantized transposed convolutions in one, two and three dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Device, Dtype, Ints
from pyqref.nn.modules import ConvTranspose1d as FloatConvTranspose1d
from pyqref.nn.modules import ConvTranspose2d as FloatConvTranspose2d
from pyqref.nn.modules import ConvTranspose3d as FloatConvTranspose3d
from pyqref.nn.modules import Module
from pyqref.ops import quantized as ops

from .conv_nd import _ConvNd

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTransposeNd(_ConvNd):
    """Base class of the transposed convolutions."""

    _PADDING_MODES: ClassVar[tuple[str, ...]] = ("zeros",)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Ints = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            output_padding=output_padding,
        )
        self.transposed = True

    def _pairs(self, padding: Any) -> tuple[tuple[int, int], ...]:
        numbers = ops.tuple_of(type(self).__name__, "padding", padding, self._dimensions, 0)
        return tuple((each, each) for each in numbers)

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)

    def _prepack(self, weight: Any, bias: Any) -> Any:
        prepack = (
            ops.conv_transpose1d_prepack,
            ops.conv_transpose2d_prepack,
            ops.conv_transpose3d_prepack,
        )[self._dimensions - 1]
        padding: Any = self.padding
        return prepack(
            weight,
            bias,
            self.stride,
            padding,
            self.output_padding,
            self.dilation,
            self.groups,
        )

    def _get_name(self) -> str:
        return f"QuantizedConvTranspose{self._dimensions}d"


class ConvTranspose1d(_ConvTransposeNd):
    r"""1-D transposed convolution on integers: quint8 in and out, qint8 weight, float bias.

    As :class:`ConvTranspose2d`, along one dimension:
    ``(N, C_in, L) -> (N, C_out, L_out)``.

    Raises
    ------
    RuntimeError
        As of :class:`ConvTranspose2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.ConvTranspose1d(16, 33, 3, stride=2)
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 16, 5), 1.0, 0, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([2, 33, 11])
    """

    _dimensions = 1
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvTranspose1d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    r"""2-D transposed convolution on integers: quint8 in and out, qint8 weight, float bias.

    Equations ``eq-conv-transpose-accumulator`` and ``eq-requantize``.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation
        As of :class:`pyqref.nn.ConvTranspose2d`.
    padding_mode
        ``"zeros"`` only.
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
        The input is not quantized, is not quint8, or has another number of dimensions or
        channels; the weight is quantized per channel and the engine is not qnnpack.

    Notes
    -----
    Shapes: ``(N, C_in, H, W) -> (N, C_out, H_out, W_out)``. The weight
    ``(C_in, C_out / groups, kH, kW)`` is quantized per tensor.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.ConvTranspose2d(16, 33, 3, stride=2)
    >>> input = pyqref.quantize_per_tensor(pyqref.randn(2, 16, 5, 10), 1.0, 0, pyqref.quint8)
    >>> tuple(m(input).size())
    (2, 33, 11, 21)
    >>> m
    QuantizedConvTranspose2d(16, 33, kernel_size=(3, 3), stride=(2, 2), scale=1.0, zero_point=0)
    """

    _dimensions = 2
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvTranspose2d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    r"""3-D transposed convolution on integers: quint8 in and out, qint8 weight, float bias.

    As :class:`ConvTranspose2d`, along three dimensions:
    ``(N, C_in, D, H, W) -> (N, C_out, D_out, H_out, W_out)``.

    Raises
    ------
    RuntimeError
        As of :class:`ConvTranspose2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.ConvTranspose3d(4, 3, 3, stride=2)
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 4, 2, 3, 3), 1.0, 0, pyqref.quint8)
    >>> m(x).shape
    pyqref.Size([2, 3, 5, 7, 7])
    """

    _dimensions = 3
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvTranspose3d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv_transpose3d)
