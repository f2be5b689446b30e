"""The reference forms of the convolutions and of their transposes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pyqref._typing import Device, Dtype, Ints, Self, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.layer_options import convolution_options

from .utils import ReferenceQuantizedModule

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]


class _Convolution(ReferenceQuantizedModule):
    """Base class of all six; it precedes the float convolution among their bases."""

    _FLOAT: ClassVar[Any]

    @classmethod
    def from_float(cls, float_conv: Any, weight_qparams: Mapping[str, Any]) -> Self:
        """The reference layer of a float layer, whose parameters it shares."""
        require_members(
            cls, "from_float", float_conv, "kernel_size", "transposed", "weight", "bias"
        )
        layer = cls(**convolution_options(float_conv), weight_qparams=weight_qparams)
        return layer._copy_parameters(float_conv)


class _ConvNd(_Convolution):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams: Mapping[str, Any] | None = None,
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
            device,
            dtype,
        )
        self._init_weight_qparams("weight", weight_qparams)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` convolved with the rounded weight, plus bias."""
        return self._FLOAT.forward(self._float_twin(), x)


class _ConvTransposeNd(_Convolution):
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
        weight_qparams: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            bias,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._init_weight_qparams("weight", weight_qparams)

    def forward(self, x: Tensor, output_size: Any = None) -> Tensor:
        """The transposed convolution with the rounded weight, plus bias."""
        return self._FLOAT.forward(self._float_twin(), x, output_size)


class Conv1d(_ConvNd, nn.Conv1d):
    """One-dimensional form of :class:`Conv2d`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> m = pyqref.nn.quantized.reference.Conv1d(1, 1, 1, weight_qparams=grid)
    >>> _ = m.weight.data.fill_(0.7), m.bias.data.fill_(0)
    >>> m(pyqref.ones(1, 1, 1)).item()  # 0.7 is rounded to 0.5
    0.5
    """

    _FLOAT: ClassVar[Any] = nn.Conv1d


class Conv2d(_ConvNd, nn.Conv2d):
    r"""A float 2-D convolution that computes with its weight rounded to a grid.

    .. math:: y = x * \mathrm{dequantize}(\mathrm{quantize}(W)) + b

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        As of :class:`pyqref.nn.Conv2d`.
    device, dtype
        Of the float weight.
    weight_qparams : dict
        The grid, as of :class:`pyqref.nn.quantized.reference.Linear`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> m = pyqref.nn.quantized.reference.Conv2d(1, 1, 1, weight_qparams=grid)
    >>> _ = m.weight.data.fill_(0.7), m.bias.data.fill_(0)
    >>> m(pyqref.ones(1, 1, 1, 1)).item()  # 0.7 is rounded to 0.5
    0.5
    """

    _FLOAT: ClassVar[Any] = nn.Conv2d


class Conv3d(_ConvNd, nn.Conv3d):
    """Three-dimensional form of :class:`Conv2d`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> m = pyqref.nn.quantized.reference.Conv3d(1, 1, 1, weight_qparams=grid)
    >>> _ = m.weight.data.fill_(0.7), m.bias.data.fill_(0)
    >>> m(pyqref.ones(1, 1, 1, 1, 1)).item()  # 0.7 is rounded to 0.5
    0.5
    """

    _FLOAT: ClassVar[Any] = nn.Conv3d


class ConvTranspose1d(_ConvTransposeNd, nn.ConvTranspose1d):
    """One-dimensional form of :class:`ConvTranspose2d`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> m = pyqref.nn.quantized.reference.ConvTranspose1d(1, 1, 1, weight_qparams=grid)
    >>> _ = m.weight.data.fill_(0.7), m.bias.data.fill_(0)
    >>> m(pyqref.ones(1, 1, 1)).item()  # 0.7 is rounded to 0.5
    0.5
    """

    _FLOAT: ClassVar[Any] = nn.ConvTranspose1d


class ConvTranspose2d(_ConvTransposeNd, nn.ConvTranspose2d):
    """A float 2-D transposed convolution that computes with its weight rounded to a grid.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation
        As of :class:`pyqref.nn.ConvTranspose2d`.
    padding_mode
        ``"zeros"``.
    device, dtype
        Of the float weight.
    weight_qparams : dict
        The grid, as of :class:`pyqref.nn.quantized.reference.Linear`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> m = pyqref.nn.quantized.reference.ConvTranspose2d(1, 1, 1, weight_qparams=grid)
    >>> _ = m.weight.data.fill_(0.7), m.bias.data.fill_(0)
    >>> m(pyqref.ones(1, 1, 1, 1)).item()  # 0.7 is rounded to 0.5
    0.5
    """

    _FLOAT: ClassVar[Any] = nn.ConvTranspose2d


class ConvTranspose3d(_ConvTransposeNd, nn.ConvTranspose3d):
    """Three-dimensional form of :class:`ConvTranspose2d`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.qint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> m = pyqref.nn.quantized.reference.ConvTranspose3d(1, 1, 1, weight_qparams=grid)
    >>> _ = m.weight.data.fill_(0.7), m.bias.data.fill_(0)
    >>> m(pyqref.ones(1, 1, 1, 1, 1)).item()  # 0.7 is rounded to 0.5
    0.5
    """

    _FLOAT: ClassVar[Any] = nn.ConvTranspose3d
