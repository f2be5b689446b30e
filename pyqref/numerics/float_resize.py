"""Resizing of real numbers: weighted sums of a few elements, one axis after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from .types import FloatArray, IntArray

__all__ = ["Taps", "gather", "resample"]

#: For each result along an axis the places of its taps, ``(count, taps)``, and their weights, which
#: may be None for one tap of weight 1.
Taps: TypeAlias = tuple[IntArray, FloatArray | None]


def gather(x: FloatArray, axis: int, indices: IntArray, weights: FloatArray | None) -> FloatArray:
    """Weighted sums of elements along an axis.

    Parameters
    ----------
    x
        Any array.
    axis
        The axis, negative.
    indices, weights
        Arrays ``(count, taps)``: element ``i`` of the result is the sum over ``t`` of
        ``x[indices[i, t]] * weights[i, t]``, products and sums rounded one by one. Weights may be
        None for one tap of weight 1.

    Examples
    --------
    >>> gather(np.float32([1, 3]), -1, np.array([[0, 1]]), np.float32([[0.5, 0.5]]))
    array([2.], dtype=float32)
    """
    if weights is None:
        return np.take(x, indices[:, 0], axis=axis)
    column = (-1, *(1,) * (-axis - 1))
    result = np.take(x, indices[:, 0], axis=axis)
    result *= weights[:, 0].reshape(column)
    for tap in range(1, indices.shape[1]):
        part = np.take(x, indices[:, tap], axis=axis)
        part *= weights[:, tap].reshape(column)
        result = result + part
    return result


def resample(x: FloatArray, taps: Sequence[Taps]) -> FloatArray:
    """:func:`gather` along each of the last axes, the first one first.

    Examples
    --------
    >>> nearest = np.array([[0], [0], [1]]), None
    >>> resample(np.float32([[1, 3]]), [nearest])
    array([[1., 1., 3.]], dtype=float32)
    """
    for axis, (indices, weights) in enumerate(taps, -len(taps)):
        x = gather(x, axis, indices, weights)
    return x
