"""Quantizers read the integers of a quantized tensor: scale and zero point, one or many."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ... import _kernels
from ..._typing import Index
from ...dtypes import (
    dtype,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_tensor_affine,
    qscheme,
)
from ...numerics.elementwise import Grid
from ...tape import Array
from .validation import check_axis, check_dtype, check_scale, check_zero_point

__all__ = [
    "PerChannelQuantizer",
    "PerTensorQuantizer",
    "Quantizer",
    "per_channel_quantizer",
    "per_tensor_quantizer",
]

#: The order of the axes in memory, channels last.
_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
#: Quantizers of up to so many channels are kept, by their bytes.
_KEPT_CHANNELS = 512


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
    grid
        The same for the equations of :mod:`pyqref.numerics`.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(3), 0.5, 10, pyqref.quint8)
    >>> isinstance(x._quantizer, PerTensorQuantizer), x._quantizer.scale, x._quantizer.zero_point
    (True, 0.5, 10)
    """

    dtype: dtype
    scale: float
    zero_point: int
    grid: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        low, high = quant_range(self.dtype)
        check_scale(self.scale)
        check_zero_point(self.zero_point, self.dtype)
        grid = Grid(self.scale, self.zero_point, low, high, self.dtype.numpy_dtype)
        object.__setattr__(self, "grid", grid)

    def __hash__(self) -> int:
        return hash(self.grid)

    @property
    def qscheme(self) -> qscheme:
        """Always ``per_tensor_affine``."""
        return per_tensor_affine

    def of_part(self, at: tuple[slice, ...]) -> PerTensorQuantizer:
        """The quantizer of a part of a tensor."""
        return self

    def quantize(self, x: Array) -> Array:
        """Integers of real numbers (equation ``eq-affine-quantize``)."""
        scale, zero_point, low, high, storage = self.grid
        return _kernels.quantize_per_tensor(x, scale, zero_point, low, high, storage)

    def dequantize(self, q: Array) -> Array:
        """Real numbers of integers (equation ``eq-affine-dequantize``)."""
        return _kernels.dequantize_per_tensor(q, self.scale, self.zero_point)


@lru_cache(maxsize=1024)
def per_tensor_quantizer(dtype: dtype, scale: float, zero_point: int) -> PerTensorQuantizer:
    """A :class:`PerTensorQuantizer`, checked once and kept for the next tensor.

    Parameters
    ----------
    dtype
        A dtype.
    scale
        A float, and none that merely equals one: ``1 == True``.
    zero_point
        An int, and none that merely equals one.

    Raises
    ------
    ValueError
        The scale or the zero point is out of range.
    """
    return PerTensorQuantizer(dtype, scale, zero_point)


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
    grid
        Scales and zero points in float64, which holds both, the range and the type of the integers:
        as kernels take them.

    Examples
    --------
    >>> import pyqref
    >>> scales, zero_points = pyqref.tensor([0.5, 0.25]), pyqref.tensor([0, 1])
    >>> x = pyqref.quantize_per_channel(pyqref.ones(2, 3), scales, zero_points, 0, pyqref.qint8)
    >>> isinstance(x._quantizer, PerChannelQuantizer), x._quantizer.axis
    (True, 0)
    """

    dtype: dtype
    scales: Array
    zero_points: Array
    axis: int
    qscheme: qscheme = per_channel_affine
    grid: tuple[Array, Array, int, int, Any] = field(init=False, repr=False)

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
        scales, zero_points = _constant(scales, kinds[0]), _constant(zero_points, kinds[1])
        doubles = scales.astype(np.float64, copy=False), zero_points.astype(np.float64)
        grid = (*doubles, *quant_range(self.dtype), self.dtype.numpy_dtype)
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "zero_points", zero_points)
        object.__setattr__(self, "grid", grid)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PerChannelQuantizer)
            and self.dtype is other.dtype
            and self.axis == other.axis
            and self.qscheme is other.qscheme
            and self.scales.tobytes() == other.scales.tobytes()
            and self.zero_points.tobytes() == other.zero_points.tobytes()
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.axis, self.scales.tobytes(), self.zero_points.tobytes()))

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise unless the channel axis of ``shape`` has as many channels as there are scales."""
        check_axis(self.axis, len(shape))
        if shape[self.axis] != self.scales.size:
            raise ValueError(
                f"length of scales must equal the number of channels: axis {self.axis} has "
                f"{shape[self.axis]} channels, got {len(self.scales)} scales"
            )

    def quantize(self, x: Array) -> Array:
        """Integers of real numbers (equation ``eq-affine-quantize-channel``)."""
        self.check_shape(x.shape)
        scales, zero_points, low, high, storage = self.grid
        if x.flags.c_contiguous:
            return _kernels.quantize_per_channel(
                x, scales, zero_points, self.axis, low, high, storage
            )
        order = memory_order(x)
        moved, axis = x.transpose(order), order.index(self.axis)
        q = _kernels.quantize_per_channel(moved, scales, zero_points, axis, low, high, storage)
        return q.transpose(np.argsort(order))

    def dequantize(self, q: Array) -> Array:
        """Real numbers of integers (equation ``eq-affine-dequantize-channel``)."""
        scales, zero_points = self.scales, self.zero_points
        if q.flags.c_contiguous:
            return _kernels.dequantize_per_channel(q, scales, zero_points, self.axis)
        order = memory_order(q)
        moved, axis = q.transpose(order), order.index(self.axis)
        x = _kernels.dequantize_per_channel(moved, scales, zero_points, axis)
        return x.transpose(np.argsort(order))

    def along(self, axis: int) -> PerChannelQuantizer:
        """Return a quantizer with the same channels along another axis."""
        return PerChannelQuantizer(self.dtype, self.scales, self.zero_points, axis, self.qscheme)

    def taken(self, index: Index) -> PerChannelQuantizer:
        """Some of the channels."""
        return PerChannelQuantizer(
            self.dtype, self.scales[index], self.zero_points[index], self.axis, self.qscheme
        )

    def of_part(self, at: tuple[slice, ...]) -> PerChannelQuantizer:
        """The quantizer of a part of a tensor, of whose channels it may have some."""
        channels = at[self.axis]
        return self if channels == slice(0, len(self.scales)) else self.taken(channels)

    def of_channel(self, index: int) -> PerTensorQuantizer:
        """Scale and zero point of one channel."""
        if self.qscheme is per_channel_affine_float_qparams:
            raise RuntimeError(
                "a channel of a per_channel_affine_float_qparams tensor has a float zero point and "
                "is not a per tensor quantized tensor; call dequantize() first"
            )
        return PerTensorQuantizer(
            self.dtype, float(self.scales[index]), int(self.zero_points[index])
        )


Quantizer = PerTensorQuantizer | PerChannelQuantizer


def _constant(values: Array, kind: Any) -> Array:
    """Return the values as such numbers, not to be changed; a copy unless they are bytes."""
    kept = values.astype(kind, copy=not isinstance(values.base, bytes))
    kept.flags.writeable = False
    return kept


def scheme_for(zero_points: Array) -> qscheme:
    """Return the default scheme for zero points of this type: floats mean float parameters."""
    floating = zero_points.dtype.kind == "f"
    return per_channel_affine_float_qparams if floating else per_channel_affine


def per_channel_quantizer(
    dtype: dtype, scales: Array, zero_points: Array, axis: int, qscheme: qscheme
) -> PerChannelQuantizer:
    """A :class:`PerChannelQuantizer`; a short one is checked once and kept for the next tensor.

    Raises
    ------
    ValueError
        As of the class.
    """
    scale_type, zero_point_type = scales.dtype, zero_points.dtype
    are_numbers = scale_type.kind in "iuf" and zero_point_type.kind in "iuf"
    if not (are_numbers and scales.ndim == zero_points.ndim == 1 and scales.size <= _KEPT_CHANNELS):
        return PerChannelQuantizer(dtype, scales, zero_points, axis, qscheme)
    return _quantizer_of_bytes(
        dtype,
        scales.tobytes(),
        zero_points.tobytes(),
        axis,
        qscheme,
        scale_type,
        zero_point_type,
    )


@lru_cache(maxsize=128)
def _quantizer_of_bytes(
    dtype: dtype,
    scales: bytes,
    zero_points: bytes,
    axis: int,
    qscheme: qscheme,
    scale_type: Any,
    zero_point_type: Any,
) -> PerChannelQuantizer:
    given = np.frombuffer(scales, scale_type), np.frombuffer(zero_points, zero_point_type)
    return PerChannelQuantizer(dtype, *given, axis, qscheme)


def quant_range(of: dtype) -> tuple[int, int]:
    """Smallest and largest stored integer of a quantized dtype."""
    check_dtype(of)
    assert of.quant_min is not None
    assert of.quant_max is not None
    return of.quant_min, of.quant_max


def memory_order(array: Array) -> tuple[int, ...]:
    """Axes in the order in which results lie: channels last if ``array`` does, else as they are."""
    if not array.flags.c_contiguous and array.ndim in _CHANNELS_LAST:
        channels_last = _CHANNELS_LAST[array.ndim]
        if array.transpose(channels_last).flags.c_contiguous:
            return channels_last
    return tuple(range(array.ndim))
