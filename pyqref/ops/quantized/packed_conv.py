"""Weights of convolutions made ready once, those of transposed ones included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pyqref import _kernels
from pyqref._typing import Array, Tensor
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.requantize import Requantization

from .packed import PackedWeight

__all__ = ["PackedConv", "PackedConvTranspose"]


class PackedConv(PackedWeight):
    """The weight ``(N, C / groups, *kernel)`` of a convolution, and its geometry."""

    operation: Literal["qconv"] = "qconv"
    #: Whether it is the weight of a transposed convolution.
    transposed = False

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
    ) -> None:
        super().__init__(weight, bias)
        self.stride = stride
        self.padding = padding
        self.output_padding = (0,) * len(stride)
        self.dilation = dilation
        self.groups = groups
        self.spatial = len(stride)
        self.packed = self._pack(weight._array)

    def _pack(self, integers: Any) -> Any:
        pack = (_kernels.pack_conv1d, _kernels.pack_conv2d, _kernels.pack_conv3d)
        return pack[self.spatial - 1](integers, self.groups, centred=self._is_symmetric())

    def _is_symmetric(self) -> bool:
        return not self.weight_zero_points.any()

    @property
    def in_channels(self) -> int:
        """Channels of the input."""
        return int(self.shape[1] * self.groups)

    def out_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """Spatial size of the output for one of the input; not positive if none fits."""
        return tuple(
            (i + 2 * p - d * (k - 1) - 1) // s + 1
            for i, p, d, k, s in zip(
                size, self.padding, self.dilation, self.shape[2:], self.stride, strict=True
            )
        )

    def _keeps_doubles(self) -> bool:
        # The engine x86 gives convolutions of symmetric weights to onednn.
        return super()._keeps_doubles() or (self.engine == "x86" and self._is_symmetric())

    def prepare(
        self, x: Array, x_zero_point: int, requant: Requantization, scale: float | None = None
    ) -> Callable[[Any], Any]:
        """Make a function from integers ``(B, C, *in)`` like ``x`` to integers ``(B, N, *out)``.

        With a ``scale``, of real numbers into real numbers, both on the grid of the input.
        """
        steps = self.stride, self.padding, self.dilation
        return _kernels.prepare_conv(
            x, x_zero_point, self.packed, self.zero_points, requant, *steps, scale
        )

    def prepare_add(
        self, x: Array, x_grid: Grid, added: Array, added_grid: Grid, out: Grid, relu: bool
    ) -> Callable[[Any, Any], Any]:
        """Make a function that convolves, adds other integers, and rounds once."""
        bias = None if self.bias_tensor is None else self.bias_tensor.numpy()
        weight = self.packed, self.weight_scales, self.weight_zero_points, bias
        steps = self.stride, self.padding, self.dilation
        return _kernels.prepare_conv_add(
            x,
            x_grid,
            *weight,
            *steps,
            added=added,
            added_grid=added_grid,
            out=out,
            relu=relu,
        )


class PackedConvTranspose(PackedConv):
    """The weight ``(C, N / groups, *kernel)`` of a transposed convolution."""

    transposed = True

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        output_padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
    ) -> None:
        super().__init__(weight, bias, stride, padding, dilation, groups)
        self.output_padding = output_padding

    def _pack(self, integers: Any) -> Any:
        return _kernels.pack_conv_transpose(
            integers, self.stride, self.dilation, self.groups, centred=self._is_symmetric()
        )

    def _keeps_doubles(self) -> bool:
        # onednn, to which x86 would give them, cannot pad the output.
        return super()._keeps_doubles() and not (self.engine == "x86" and any(self.output_padding))

    @property
    def in_channels(self) -> int:
        """Channels of the input."""
        return int(self.shape[0])

    def out_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """Spatial size of the output for one of the input; not positive if none fits."""
        return tuple(
            (i - 1) * s - 2 * p + d * (k - 1) + extra + 1
            for i, s, p, d, k, extra in zip(
                size,
                self.stride,
                self.padding,
                self.dilation,
                self.shape[2:],
                self.output_padding,
                strict=True,
            )
        )

    def prepare(
        self, x: Array, x_zero_point: int, requant: Requantization, scale: float | None = None
    ) -> Callable[[Any], Any]:
        """Prepare like a convolution that is not transposed."""
        paddings = self.padding, self.output_padding
        return _kernels.prepare_conv_transpose(
            x, x_zero_point, self.packed, self.zero_points, requant, *paddings, scale
        )
