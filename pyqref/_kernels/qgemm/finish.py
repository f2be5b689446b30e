"""What the fused store of a kernel takes: from a :class:`Requantization`, or of real results."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels.layout import contiguous
from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import Engine

from .pack import PackedLinear

__all__ = [
    "BYTES",
    "FUSED",
    "SEPARATE",
    "SUMS",
    "bias_terms",
    "dynamic_arguments",
    "fits",
    "zero_points_or_none",
]

#: What a kernel stores: bytes, int32 sums, or real numbers with the bias rounded once, or twice.
BYTES, SUMS, FUSED, SEPARATE = 0, 1, 2, 3

#: The largest product of a centred byte and a weight, and of two centred bytes.
_LARGEST_PRODUCT, _LARGEST_OF_TWO = 255 * 128, 255 * 255


def fits(depth: int, requant: Requantization | None, weight_zero_points: Any) -> bool:
    """Whether sums of ``depth`` products, integer bias added, fit 32 bits whatever the data.

    That is so up to 65,793 products, or 33,025 where weights have zero points.
    """
    room = 2**31 - 1
    if requant is not None:
        if requant.storage.itemsize != 1:
            return False
        if requant.bias_mode == "integer":
            assert requant.bias is not None
            room -= int(np.abs(requant.bias.astype(np.int64)).max(initial=0))
    if depth * _LARGEST_OF_TWO <= room:
        return True
    return depth * _LARGEST_PRODUCT <= room and not np.any(weight_zero_points)


def bias_terms(requant: Requantization) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the bias as float32 or as int32, of which at least one is None."""
    bias = requant.bias
    if bias is None:
        return None, None
    if requant.bias_mode == "integer":
        return None, np.ascontiguousarray(bias, np.int32)
    return np.ascontiguousarray(bias, np.float32), None


def zero_points_or_none(weight_zero_points: Any) -> np.ndarray | None:
    """Return the zero points of a weight as int64 ``(1,)`` or ``(N,)``; None stands for 0."""
    if isinstance(weight_zero_points, int):
        return np.full(1, weight_zero_points, np.int64) if weight_zero_points else None
    return np.ascontiguousarray(weight_zero_points, np.int64).reshape(-1)


def dynamic_arguments(
    packed: PackedLinear,
    weight_zero_points: Any,
    weight_scales: Any,
    bias: Any,
    engine: Engine,
    reduce_range: bool,
) -> tuple[Any, ...]:
    """What kernels take of a weight whose inputs are quantized when they run.

    From the largest integer of the input to the way in which results are stored: see
    :func:`pyqref._kernels.linear_dynamic`. Room for the scales of the sums is among it, so that
    each call needs its own.
    """
    scales = weight_scales if weight_scales.ndim else weight_scales.reshape(1)
    return (
        127 if reduce_range and engine != "qnnpack" else 255,
        packed.depth,
        packed.panels,
        packed.sums,
        zero_points_or_none(weight_zero_points),
        scales,
        np.empty(scales.size, np.float32),
        None if bias is None else contiguous(bias),
        SEPARATE if engine == "qnnpack" and bias is not None else FUSED,
    )
