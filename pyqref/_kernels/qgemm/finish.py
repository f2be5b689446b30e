"""Finishing of sums by the kernels of products: see ``product/epilogue.pxd``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import Engine

from ..._typing import Array

__all__ = [
    "BYTES",
    "Finish",
    "finish_of",
    "finish_of_reals",
    "finish_of_sums",
    "fits",
    "zero_points_or_none",
]

#: What a kernel stores: bytes, int32 sums, or real numbers with the bias rounded once, or twice.
BYTES, SUMS, FUSED, SEPARATE = 0, 1, 2, 3
#: The multiplier of sums that stay as they are.
_ONE = np.ones(1, np.float32)

#: The largest product of a centred byte and a weight, and of two centred bytes.
_LARGEST_PRODUCT, _LARGEST_OF_TWO = 255 * 128, 255 * 255


class Finish(NamedTuple):
    """How a kernel makes results of sums: a ``Requantization``, or what stands for one.

    Attributes
    ----------
    weight_zero_points
        int64 ``(1,)`` or ``(N,)``; None stands for 0.
    multiplier
        float32 ``(1,)`` or ``(N,)``.
    bias, integer_bias
        float32 and int32 ``(N,)``, at least one of them None.
    bias_multiplier, zero_point, lower, upper
        Numbers.
    store
        What is stored: bytes, int32 sums, or float32 with the bias rounded once, or twice.
    """

    weight_zero_points: np.ndarray | None
    multiplier: np.ndarray
    bias: np.ndarray | None
    integer_bias: np.ndarray | None
    bias_multiplier: float
    zero_point: int
    lower: int
    upper: int
    store: int


def fits(depth: int, requant: Requantization | None, weight_zero_points: int | Array) -> bool:
    """Return True if sums of ``depth`` products and an integer bias fit 32 bits for any data.

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


def zero_points_or_none(weight_zero_points: int | Array) -> np.ndarray | None:
    """Return the zero points of a weight as int64 ``(1,)`` or ``(N,)``; None stands for 0."""
    if isinstance(weight_zero_points, int):
        return np.full(1, weight_zero_points, np.int64) if weight_zero_points else None
    return np.ascontiguousarray(weight_zero_points, np.int64).reshape(-1)


def finish_of(requant: Requantization, zero_points: np.ndarray | None) -> Finish:
    """Bytes, made of sums as a requantization says."""
    return Finish(
        zero_points,
        requant.multiplier,
        *bias_terms(requant),
        requant.bias_multiplier,  # type: ignore[arg-type]
        requant.output_zero_point,
        requant.lower,
        requant.upper,
        BYTES,
    )


def finish_of_sums(zero_points: np.ndarray | None) -> Finish:
    """The sums themselves."""
    return Finish(zero_points, _ONE, None, None, 1.0, 0, 0, 0, SUMS)


def finish_of_reals(
    zero_points: np.ndarray | None,
    multiplier: np.ndarray,
    bias: np.ndarray | None = None,
    engine: Engine = "fbgemm",
) -> Finish:
    """Real numbers: the sums, multiplied, and a bias. All engines but qnnpack round once.

    Without a bias the fused form adds -0.0 and so changes nothing, not even a sign.
    """
    store = SEPARATE if engine == "qnnpack" and bias is not None else FUSED
    return Finish(zero_points, multiplier, bias, None, 1.0, 0, 0, 0, store)
