"""Layers that find the number of their input channels or features from the first input."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Ints, Tensor
from ...tensor.dispatch import require_tensor
from ..uninitialized import UninitializedParameter
from .arguments import sizes
from .conv import Conv1d, Conv2d, Conv3d
from .conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .lazy import LazyModuleMixin
from .linear import Linear

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyLinear",
]


class LazyLinear(LazyModuleMixin, Linear):
    """:class:`Linear` whose ``in_features`` are those of the first input.

    Parameters
    ----------
    out_features, bias
        See :class:`Linear`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyLinear(3)
    >>> layer(pyqref.ones(2, 5)).shape, layer
    (pyqref.Size([2, 3]), Linear(in_features=5, out_features=3, bias=True))
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(0, 0, False)
        (out_features,) = sizes(out_features=out_features)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if self.in_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take ``in_features`` from the last axis of the input."""
        require_tensor("LazyLinear", "input", input)
        if self.in_features == 0:
            self.in_features = input.shape[-1]
        if self.has_uninitialized_params():
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConvolution(LazyModuleMixin):
    """A lazy convolution, transposed or not."""

    def _start(
        self: Any, out_channels: int, kernel_size: Any, bias: bool, options: Any, **geometry: Any
    ) -> None:
        LazyModuleMixin.__init__(self, 0, 0, kernel_size, bias=False, **geometry)
        (out_channels,) = sizes(out_channels=out_channels)
        if out_channels % self.groups:
            raise ValueError(
                "out_channels must be divisible by groups, got "
                f"out_channels={out_channels}, groups={self.groups}"
            )
        self.out_channels = out_channels
        self.weight = UninitializedParameter(**options)
        if bias:
            self.bias = UninitializedParameter(**options)

    def reset_parameters(self: Any) -> None:
        """Draw the parameters anew, once they have shapes."""
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take ``in_channels`` from the axis before the spatial ones."""
        name, axes = type(self).__name__, len(self.kernel_size)
        require_tensor(name, "input", input)
        if input.ndim not in (axes + 1, axes + 2):
            raise RuntimeError(
                f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input to {name}, "
                f"but got input of size: {list(input.shape)}"
            )
        if self.in_channels == 0:
            self.in_channels = input.shape[-axes - 1]
        if not self.has_uninitialized_params():
            return
        if self.in_channels % self.groups:
            raise ValueError(
                "in_channels must be divisible by groups, got "
                f"in_channels={self.in_channels}, groups={self.groups}"
            )
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyConv(_LazyConvolution):
    def __init__(
        self,
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
    ) -> None:
        self._start(
            out_channels,
            kernel_size,
            bias,
            {"device": device, "dtype": dtype},
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            padding_mode=padding_mode,
        )


class _LazyConvTranspose(_LazyConvolution):
    def __init__(
        self,
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
        self._start(
            out_channels,
            kernel_size,
            bias,
            {"device": device, "dtype": dtype},
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            dilation=dilation,
            padding_mode=padding_mode,
        )


class LazyConv1d(_LazyConv, Conv1d):
    """:class:`Conv1d` whose ``in_channels`` are those of the first input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        See :class:`Conv1d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyConv1d(4, kernel_size=3)
    >>> layer(pyqref.ones(1, 2, 5)).shape, layer.in_channels
    (pyqref.Size([1, 4, 3]), 2)
    """

    cls_to_become = Conv1d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """:class:`ConvTranspose1d` whose ``in_channels`` are those of the first input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation
        See :class:`ConvTranspose1d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyConvTranspose1d(4, kernel_size=3)
    >>> layer(pyqref.ones(1, 2, 3)).shape, layer.in_channels
    (pyqref.Size([1, 4, 5]), 2)
    """

    cls_to_become = ConvTranspose1d


class LazyConv2d(_LazyConv, Conv2d):
    """:class:`Conv2d` whose ``in_channels`` are those of the first input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        See :class:`Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyConv2d(4, kernel_size=3)
    >>> layer(pyqref.ones(1, 2, 5, 5)).shape, layer.in_channels
    (pyqref.Size([1, 4, 3, 3]), 2)
    """

    cls_to_become = Conv2d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """:class:`ConvTranspose2d` whose ``in_channels`` are those of the first input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation
        See :class:`ConvTranspose2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyConvTranspose2d(4, kernel_size=3)
    >>> layer(pyqref.ones(1, 2, 3, 3)).shape, layer.in_channels
    (pyqref.Size([1, 4, 5, 5]), 2)
    """

    cls_to_become = ConvTranspose2d


class LazyConv3d(_LazyConv, Conv3d):
    """:class:`Conv3d` whose ``in_channels`` are those of the first input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        See :class:`Conv3d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyConv3d(4, kernel_size=3)
    >>> layer(pyqref.ones(1, 2, 5, 5, 5)).shape, layer.in_channels
    (pyqref.Size([1, 4, 3, 3, 3]), 2)
    """

    cls_to_become = Conv3d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """:class:`ConvTranspose3d` whose ``in_channels`` are those of the first input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation
        See :class:`ConvTranspose3d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyConvTranspose3d(4, kernel_size=3)
    >>> layer(pyqref.ones(1, 2, 3, 3, 3)).shape, layer.in_channels
    (pyqref.Size([1, 4, 5, 5, 5]), 2)
    """

    cls_to_become = ConvTranspose3d
