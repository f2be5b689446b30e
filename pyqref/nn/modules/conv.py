"""Convolution layers in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._typing import Device, Dtype, Ints, Tensor
from .. import functional as F
from .arguments import per_axis
from .conv_base import ConvBase

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class _Conv(ConvBase):
    """A convolution over as many axes as the class says."""

    _axes: int
    _function: Callable[..., Any]

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
    ) -> None:
        count = self._axes
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, count, "kernel_size", 1),
            per_axis(stride, count, "stride", 1),
            padding if isinstance(padding, str) else per_axis(padding, count, "padding"),
            per_axis(dilation, count, "dilation", 1),
            False,
            (0,) * count,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        input, padding = self._padded(input)
        function = type(self)._function
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """`(N, in_channels, *size)` to `(N, out_channels, *new_size)`."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution over `(N, C_in, L)`; see :class:`Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.Conv1d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 6, 6])
    """

    _axes = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution over two spatial dimensions.

    ``y[n, o] = b[o] + sum over c of W[o, c] * x[n, c]``, where ``*`` is cross-correlation.

    Parameters
    ----------
    in_channels, out_channels
        Channels of input and output, both divisible by ``groups``.
    kernel_size, stride, dilation
        An int or two, at least 1.
    padding
        An int or two, ``"valid"`` (none) or ``"same"`` (keeps the size; stride 1 only).
    groups
        The channels are split into as many independent groups.
    bias
        Whether there is a ``b``.
    padding_mode
        ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.

    Raises
    ------
    ValueError
        Channels that ``groups`` does not divide, an unknown padding or padding mode.

    Notes
    -----
    Input `(N, C_in, H, W)` or `(C_in, H, W)`, output `(N, C_out, H', W')` with
    ``H' = (H + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1``.
    Source: documentation of ``torch.nn.Conv2d``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Conv2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2))
    >>> layer
    Conv2d(16, 33, kernel_size=(3, 5), stride=(2, 1), padding=(4, 2))
    >>> layer(pyqref.zeros(2, 16, 10, 20)).shape
    pyqref.Size([2, 33, 8, 20])
    """

    _axes = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution over `(N, C_in, D, H, W)`; see :class:`Conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.Conv3d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 4, 6, 6)).shape
    pyqref.Size([2, 6, 2, 4, 4])
    """

    _axes = 3
    _function = staticmethod(F.conv3d)
