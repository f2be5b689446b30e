"""How the integers of a quantized tensor are read: scale and zero point, one or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _kernels
from ...dtypes import (
    dtype,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_tensor_affine,
    qscheme,
)
from ...tape import Array
from .validation import check_axis, check_dtype, check_scale, check_zero_point

__all__ = ["PerChannelQuantizer", "PerTensorQuantizer", "Quantizer"]


@dataclass(frozen=True)
class PerTensorQuantizer:
    """One scale and one zero point: ``x = scale * (q - zero_point)``.

    Attributes
    ----------
    dtype
        A quantized dtype.
    scale
        Positive float.
    zero_point
        Int in [dtype.quant_min, dtype.quant_max].
    """

    dtype: dtype
    scale: float
    zero_point: int

    def __post_init__(self) -> None:
        check_dtype(self.dtype)
        check_scale(self.scale)
        check_zero_point(self.zero_point, self.dtype)

    @property
    def qscheme(self) -> qscheme:
        """Always ``per_tensor_affine``."""
        return per_tensor_affine

    def quantize(self, x: Array) -> Array:
        """Integers of real numbers (equation ``eq-affine-quantize``)."""
        parameters = (self.scale, self.zero_point, *quant_range(self.dtype), self.dtype.numpy_dtype)
        order = memory_order(x)
        dense = np.asarray(x.transpose(order), order="C")
        q = _kernels.quantize_per_tensor(dense, *parameters)
        return q.reshape(dense.shape).transpose(np.argsort(order))

    def dequantize(self, q: Array) -> Array:
        """Real numbers of integers (equation ``eq-affine-dequantize``)."""
        order = memory_order(q)
        dense = np.asarray(q.transpose(order), order="C")
        x = _kernels.dequantize_per_tensor(dense, self.scale, self.zero_point)
        return x.reshape(dense.shape).transpose(np.argsort(order))


@dataclass(frozen=True, eq=False)
class PerChannelQuantizer:
    """A scale and a zero point for each index of ``axis``.

    Attributes
    ----------
    dtype
        A quantized dtype.
    scales
        Positive, shape (C,), float64 (float32 with float zero points).
    zero_points
        Shape (C,), int64; floats under ``per_channel_affine_float_qparams``.
    axis
        The channel axis.
    qscheme
        ``per_channel_affine`` or ``per_channel_affine_float_qparams``.
    """

    dtype: dtype
    scales: Array
    zero_points: Array
    axis: int
    qscheme: qscheme = per_channel_affine

    def __post_init__(self) -> None:
        check_dtype(self.dtype)
        scales, zero_points = np.asarray(self.scales), np.asarray(self.zero_points)
        if scales.ndim != 1 or scales.shape != zero_points.shape:
            raise ValueError(
                "scales and zero_points must be 1-D and of one length, got shapes "
                f"{scales.shape} and {zero_points.shape}"
            )
        floating = self.qscheme is per_channel_affine_float_qparams
        for scale in scales.tolist():
            check_scale(scale, "scales")
        if not floating:
            for zero_point in zero_points.tolist():
                check_zero_point(zero_point, self.dtype, "zero_points")
        kinds = (np.float32, np.float32) if floating else (np.float64, np.int64)
        object.__setattr__(self, "scales", scales.astype(kinds[0]))
        object.__setattr__(self, "zero_points", zero_points.astype(kinds[1]))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PerChannelQuantizer)
            and self.dtype is other.dtype
            and self.axis == other.axis
            and self.qscheme is other.qscheme
            and np.array_equal(self.scales, other.scales)
            and np.array_equal(self.zero_points, other.zero_points)
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.axis, self.scales.tobytes(), self.zero_points.tobytes()))

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise unless the channel axis of ``shape`` has as many channels as there are scales."""
        check_axis(self.axis, len(shape))
        if shape[self.axis] != len(self.scales):
            raise ValueError(
                f"length of scales must equal the number of channels: axis {self.axis} has "
                f"{shape[self.axis]} channels, got {len(self.scales)} scales"
            )

    def quantize(self, x: Array) -> Array:
        """Integers of real numbers (equation ``eq-affine-quantize-channel``)."""
        self.check_shape(x.shape)
        order = memory_order(x)
        dense = np.asarray(x.transpose(order), order="C")
        parameters = (self.scales, self.zero_points, order.index(self.axis))
        q = _kernels.quantize_per_channel(
            dense, *parameters, *quant_range(self.dtype), self.dtype.numpy_dtype
        )
        return q.reshape(dense.shape).transpose(np.argsort(order))

    def dequantize(self, q: Array) -> Array:
        """Real numbers of integers (equation ``eq-affine-dequantize-channel``)."""
        order = memory_order(q)
        dense = np.asarray(q.transpose(order), order="C")
        parameters = (self.scales, self.zero_points, order.index(self.axis))
        x = _kernels.dequantize_per_channel(dense, *parameters)
        return x.reshape(dense.shape).transpose(np.argsort(order))

    def along(self, axis: int) -> PerChannelQuantizer:
        """The same channels along another axis."""
        return PerChannelQuantizer(self.dtype, self.scales, self.zero_points, axis, self.qscheme)

    def taken(self, index: Any) -> PerChannelQuantizer:
        """Some of the channels."""
        return PerChannelQuantizer(
            self.dtype, self.scales[index], self.zero_points[index], self.axis, self.qscheme
        )

    def of_channel(self, index: int) -> PerTensorQuantizer:
        """Scale and zero point of one channel."""
        if self.qscheme is per_channel_affine_float_qparams:
            raise RuntimeError(
                "a channel of a per_channel_affine_float_qparams tensor has a float zero point and "
                "is no per tensor quantized tensor; call dequantize() first"
            )
        return PerTensorQuantizer(
            self.dtype, float(self.scales[index]), int(self.zero_points[index])
        )


Quantizer = PerTensorQuantizer | PerChannelQuantizer


def quant_range(of: dtype) -> tuple[int, int]:
    """Smallest and largest stored integer of a quantized dtype."""
    check_dtype(of)
    assert of.quant_min is not None
    assert of.quant_max is not None
    return of.quant_min, of.quant_max


def memory_order(array: Array) -> tuple[int, ...]:
    """Axes in the order in which results lie: channels last if ``array`` does, else as they are."""
    plain = tuple(range(array.ndim))
    if array.ndim not in (4, 5) or array.flags.c_contiguous:
        return plain
    channels_last = (0, *plain[2:], 1)
    return channels_last if array.transpose(channels_last).flags.c_contiguous else plain
