"""What the fused store of a kernel takes: from a :class:`Requantization`, or of real results."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import Engine

from .pack import PackedLinear

__all__ = [
    "BYTES",
    "FUSED",
    "ONE",
    "SEPARATE",
    "SUMS",
    "bias_terms",
    "fits",
    "for_kernel",
    "real_store",
    "zero_points_or_none",
]

#: What a kernel stores: bytes, int32 sums, or real numbers with the bias rounded once, or twice.
BYTES, SUMS, FUSED, SEPARATE = 0, 1, 2, 3
#: The multiplier of sums that stay as they are.
ONE = np.ones(1, np.float32)

#: The largest product of a centred byte and a weight, and of two centred bytes.
_LARGEST_PRODUCT, _LARGEST_OF_TWO = 255 * 128, 255 * 255


def fits(depth: int, requant: Requantization | None, weight_zero_points: Any) -> bool:
    """Whether sums of ``depth`` products, integer bias added, fit 32 bits whatever the data.

    That is so up to 65,793 products, or 33,025 where weights have zero points.
    """
    buffer = 2**31 - 1
    if requant is not None:
        if requant.storage.itemsize != 1:
            return False
        if requant.bias_mode == "integer":
            assert requant.bias is not None
            buffer -= int(np.abs(requant.bias.astype(np.int64)).max(initial=0))
    if depth * _LARGEST_OF_TWO <= buffer:
        return True
    return depth * _LARGEST_PRODUCT <= buffer and not np.any(weight_zero_points)


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


def real_store(bias: Any, engine: Engine) -> int:
    """Without a bias the fused form adds -0.0 and so changes nothing, not even a sign."""
    return SEPARATE if engine == "qnnpack" and bias is not None else FUSED


def for_kernel(
    packed: PackedLinear,
    zero_points: np.ndarray | None,
    multiplier: np.ndarray,
    store: int,
    bias: np.ndarray | None = None,
    requant: Requantization | None = None,
) -> tuple[Any, ...]:
    """What kernels take of a weight, and how they finish its sums: see ``product/multiply.pxi``.

    The bias of a ``requant`` is its own.
    """
    common = packed.depth, packed.panels, packed.sums, zero_points, multiplier
    if requant is None:
        return *common, bias, None, 1.0, 0, 0, 0, store
    return (
        *common,
        *bias_terms(requant),
        requant.bias_multiplier,
        requant.output_zero_point,
        requant.lower,
        requant.upper,
        store,
    )
