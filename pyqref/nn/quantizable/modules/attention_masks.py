"""Masks of attention, and the key of zeros."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import Tensor
from pyqref.nn import functional as F
from pyqref.tensor.creation import zeros
from pyqref.tensor.joining import cat

__all__ = ["add_mask", "padded_mask", "with_zero_key"]


def add_mask(weights: Tensor, mask: Tensor | None) -> Tensor:
    """Weights before the softmax: minus infinity where a boolean mask is True, else the sum."""
    if mask is None:
        return weights
    if mask.dtype in (dtypes.bool_, dtypes.uint8):
        return weights.masked_fill(mask.to(dtypes.bool_), float("-inf"))
    return weights + mask


def padded_mask(mask: Tensor | None, extra_keys: int) -> Any:
    """A mask whose last axis also covers keys that were added; these everyone may see."""
    if mask is None or extra_keys == 0:
        return mask
    if mask.dtype is dtypes.bool_:
        return F.pad(mask.to(dtypes.uint8), (0, extra_keys)).to(dtypes.bool_)
    return F.pad(mask, (0, extra_keys))


def with_zero_key(x: Tensor) -> Tensor:
    """Keys or values ``(N, S, E)`` and one more of zeros."""
    return cat([x, zeros(x.shape[0], 1, x.shape[2], dtype=x.dtype)], 1)
