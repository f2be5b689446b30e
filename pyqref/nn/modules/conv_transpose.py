"""Transposed convolution layers in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._typing import Device, Dtype, Ints, Tensor
from ...tensor.arguments import described
from .. import functional as F
from .arguments import per_axis
from .conv_base import ConvBase

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTranspose(ConvBase):
    """A transposed convolution over as many axes as the class says."""

    _axes: int
    _function: Callable[..., Any]

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
        if not isinstance(padding_mode, str) or padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, '
                f"got {described(padding_mode)}"
            )
        count = self._axes
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, count, "kernel_size", 1),
            per_axis(stride, count, "stride", 1),
            per_axis(padding, count, "padding"),
            per_axis(dilation, count, "dilation", 1),
            True,
            per_axis(output_padding, count, "output_padding"),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Any, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives ``output_size``, or the layer's own."""
        if output_size is None:
            return self.output_padding
        count, padding = self._axes, self.padding
        assert not isinstance(padding, str)
        wanted = tuple(output_size)[-count:]
        smallest = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[-count:],
                self.stride,
                padding,
                self.dilation,
                self.kernel_size,
                strict=True,
            )
        ]
        largest = [n + s - 1 for n, s in zip(smallest, self.stride, strict=True)]
        if len(wanted) != count or not all(
            low <= n <= high for low, n, high in zip(smallest, wanted, largest, strict=True)
        ):
            raise ValueError(
                f"requested an output size of {list(output_size)}, but valid sizes range from "
                f"{smallest} to {largest} (for an input of {list(input.shape[-count:])})"
            )
        return tuple(n - low for low, n in zip(smallest, wanted, strict=True))

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """`(N, in_channels, *size)` to `(N, out_channels, *new_size)`.

        ``output_size`` chooses among the sizes that a convolution would have brought to that
        of ``input``.
        """
        return type(self)._function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution over `(N, C_in, L)`; see :class:`ConvTranspose2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.ConvTranspose1d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 6, 10])
    """

    _axes = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """The adjoint of :class:`Conv2d`: spreads every input pixel over a window of the output.

    Parameters
    ----------
    in_channels, out_channels
        Channels of input and output, both divisible by ``groups``.
    kernel_size, stride, padding, dilation, groups
        Those of the convolution whose adjoint it is.
    output_padding
        Added to the output size on one side; less than stride or dilation.
    bias
        Whether a bias is added.

    Notes
    -----
    Input `(N, C_in, H, W)` or `(C_in, H, W)`, output `(N, C_out, H', W')` with
    ``H' = (H - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1``.
    Source: documentation of ``torch.nn.ConvTranspose2d``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ConvTranspose2d(16, 33, 3, stride=2)
    >>> layer(pyqref.zeros(1, 16, 5, 5)).shape
    pyqref.Size([1, 33, 11, 11])
    """

    _axes = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution over `(N, C_in, D, H, W)`; see :class:`ConvTranspose2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.ConvTranspose3d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 4, 6, 6)).shape
    pyqref.Size([2, 6, 6, 8, 8])
    """

    _axes = 3
    _function = staticmethod(F.conv_transpose3d)
