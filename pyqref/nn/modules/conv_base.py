"""Base class of all convolution layers: arguments, parameters, printing."""

from __future__ import annotations

import math
from typing import Any

from ..._typing import Device, Dtype
from ...tensor.arguments import as_flag, as_integer, described
from ...tensor.creation import empty
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from ..functional.conv import same_padding
from .arguments import sizes, word
from .module import Module

__all__ = ["PADDING_MODES", "ConvBase"]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class ConvBase(Module):
    """A (transposed) convolution with its weight and bias.

    Attributes
    ----------
    weight : Parameter
        Shape `(out_channels, in_channels / groups, *kernel_size)`, or for a transposed
        convolution `(in_channels, out_channels / groups, *kernel_size)`; uniform in
        ``±1 / sqrt(fan_in)``, where ``fan_in`` is the product of all its lengths but the first.
    bias : Parameter or None
        Shape `(out_channels,)`, uniform in the same range.
    """

    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        groups, bias = as_integer(groups, "groups"), as_flag(bias, "bias")
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, got {groups}")
        in_channels, out_channels = sizes(in_channels=in_channels, out_channels=out_channels)
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups != 0:
                raise ValueError(
                    f"{name} must be divisible by groups, got {name}={channels}, groups={groups}"
                )
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {described(padding)}, should be one of 'valid', 'same'"
                )
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        padding_mode = word(padding_mode, "padding_mode", PADDING_MODES)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        shape = (first, second // groups, *kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    @property
    def _reversed_padding_repeated_twice(self) -> list[int]:
        """The padding in the order of :func:`~pyqref.nn.functional.pad`."""
        if self.padding == "valid":
            pairs = [(0, 0)] * len(self.kernel_size)
        elif self.padding == "same":
            pairs = same_padding(self.kernel_size, self.dilation)
        else:
            pairs = [(p, p) for p in self.padding]  # type: ignore[misc]
        return [n for pair in reversed(pairs) for n in pair]

    def _padded(self, input: Any) -> tuple[Any, Any]:
        """The input, padded unless with zeros, and the padding that is left to do."""
        if self.padding_mode == "zeros":
            return input, self.padding
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return padded, 0

    def extra_repr(self) -> str:
        """The channels, the kernel, and what differs from its default."""
        count = len(self.kernel_size)
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != (0,) * count:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * count:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * count:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)
