"""Weights made ready once: their parameters as arrays, their integers as the kernel wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _kernels
from ...backends import quantized as settings
from ...numerics.convolution import quantized_conv
from ...numerics.requantize import Requantization, requantization

__all__ = ["PackedConv", "PackedLinear", "PackedWeight"]


class PackedWeight:
    """A quantized weight and its bias, ready to run on the engine that was set at packing.

    Attributes
    ----------
    engine : str
        ``backends.quantized.engine`` when the weight was packed. As in torch, changing
        the setting later does not change what this weight computes.
    weight_scales
        A float64 scalar (per tensor) or ``(N,)`` (per channel).
    weight_zero_points
        int64, ``(1,)`` or ``(N,)``.
    """

    def __init__(self, weight: Any, bias: Any) -> None:
        self.weight = weight
        self.bias_tensor = bias
        self.engine = settings.engine
        if weight.qscheme().is_per_channel:
            self.weight_scales: Any = weight.q_per_channel_scales().numpy()
            self.weight_zero_points = weight.q_per_channel_zero_points().numpy()
        else:
            self.weight_scales = np.float64(weight.q_scale())
            self.weight_zero_points = np.array([weight.q_zero_point()], dtype=np.int64)
        self._forget()

    def _forget(self) -> None:
        """Drop what is derived from the weight for one kernel or one set of parameters."""
        self._packed: tuple[str, Any] | None = None
        self._requantization: tuple[tuple[Any, ...], Requantization] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What a copy takes along: everything but the kernel's form of the weight."""
        state = self.__dict__.copy()
        state["_packed"] = state["_requantization"] = None
        return state

    def unpack(self) -> tuple[Any, Any]:
        """The quantized weight and the float bias (or None)."""
        return self.weight, self.bias_tensor

    def bias(self) -> Any:
        """The float bias, or None."""
        return self.bias_tensor

    def requantization(
        self, input_scale: float, output_scale: float, output_zero_point: int, relu: bool
    ) -> Requantization:
        """How the accumulators of this weight become output integers; the last one is kept."""
        key = (input_scale, output_scale, output_zero_point, relu)
        if self._requantization is None or self._requantization[0] != key:
            bias = None if self.bias_tensor is None else self.bias_tensor.detach().numpy()
            made = requantization(
                self.engine,  # type: ignore[arg-type]
                input_scale,
                self.weight_scales,
                output_scale,
                output_zero_point,
                bias=bias,
                relu=relu,
            )
            self._requantization = key, made
        return self._requantization[1]


class PackedLinear(PackedWeight):
    """The weight ``(N, K)`` of a linear layer."""

    def run(self, x: Any, x_zero_point: int, requant: Requantization) -> Any:
        """Output integers ``(..., N)`` of the input integers ``(..., K)``."""
        kernel = _kernels.in_use()
        if self._packed is None or self._packed[0] != kernel:
            self._packed = kernel, _kernels.pack_linear(self.weight._array)
        return _kernels.linear(
            np.ascontiguousarray(x),
            x_zero_point,
            self._packed[1],
            self.weight_zero_points,
            requant,
        )


class PackedConv(PackedWeight):
    """The weight ``(N, C / groups, *kernel)`` of a convolution, and its geometry."""

    def __init__(
        self,
        weight: Any,
        bias: Any,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
    ) -> None:
        super().__init__(weight, bias)
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        self.spatial = weight.dim() - 2

    def run(self, x: Any, x_zero_point: int, requant: Requantization) -> Any:
        """Output integers ``(B, N, *out)`` of the input integers ``(B, C, *in)``.

        One spatial dimension runs as two, the first of length 1.
        """
        geometry = (self.stride, self.padding, self.dilation, self.groups)
        if self.spatial == 3:
            return quantized_conv(
                x, x_zero_point, self.weight._array, self.weight_zero_points, requant, *geometry
            )
        weight = self.weight._array
        if self.spatial == 1:
            weight, x = np.expand_dims(weight, 2), np.expand_dims(x, 2)
            geometry = ((1, *self.stride), (0, *self.padding), (1, *self.dilation), self.groups)
        kernel = _kernels.in_use()
        if self._packed is None or self._packed[0] != kernel:
            self._packed = kernel, _kernels.pack_conv2d(np.ascontiguousarray(weight), self.groups)
        result = _kernels.conv2d(
            np.ascontiguousarray(x),
            x_zero_point,
            self._packed[1],
            self.weight_zero_points,
            requant,
            *geometry,
        )
        return result[:, :, 0] if self.spatial == 1 else result
