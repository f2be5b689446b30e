"""Resizing of real numbers: weighted sums of a few elements, one axis after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .types import FloatArray, IntArray

__all__ = ["Taps", "adjoint", "gather", "resample"]

#: For each result along an axis the places of its taps, ``(count, taps)``, and their weights, which
#: may be None for one tap of weight 1. Where a result has fewer taps, places of -1 fill its line.
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
        None for one tap of weight 1. Taps at -1, behind the others, are left out; without any
        other the sum is 0.

    Examples
    --------
    >>> gather(np.float32([1, 3]), -1, np.array([[0, 1]]), np.float32([[0.5, 0.5]]))
    array([2.], dtype=float32)
    """
    if weights is None:
        return np.take(x, indices[:, 0], axis=axis)
    column = (-1, *(1,) * (-axis - 1))
    is_tap = (indices >= 0).reshape(*indices.shape, *column[1:])
    with np.errstate(all="ignore"):
        result = np.take(x, indices[:, 0], axis=axis)
        result *= weights[:, 0].reshape(column)
        if not is_tap[:, 0].all():
            result = np.where(is_tap[:, 0], result, result.dtype.type(0))
        for tap in range(1, indices.shape[1]):
            part = np.take(x, indices[:, tap], axis=axis)
            part *= weights[:, tap].reshape(column)
            result = np.where(is_tap[:, tap], result + part, result)
        return result


def adjoint(taps: Taps, length: int, dtype: np.dtype[Any]) -> Taps:
    r"""Taps that take a gradient of results back to the ``length`` elements they were made of.

    The gradient of an element is the sum of those of the results that it has a part in, in their
    order, each times the weight of the tap. Equation ``eq-resize-gradient``, where p are places:

    .. math:: g'_j = \sum_{i, t:\ p_{i, t} = j} g_i w_{i, t}

    Examples
    --------
    >>> both = np.array([[0, 1], [1, 2]]), np.float32([[0.5, 0.25], [1, 2]])
    >>> indices, weights = adjoint(both, 3, np.dtype(np.float32))
    >>> indices.tolist(), weights.tolist()
    ([[0, -1], [0, 1], [1, -1]], [[0.5, 0.0], [0.25, 1.0], [2.0, 0.0]])
    """
    indices, weights = taps
    order = np.argsort(indices, axis=None, kind="stable")
    order = order[np.count_nonzero(indices < 0) :]
    elements = indices.reshape(-1)[order]
    counts = np.bincount(elements, minlength=length)
    place = np.arange(elements.size) - (np.cumsum(counts) - counts)[elements]
    shape = length, int(counts.max(initial=1))
    results, back = np.full(shape, -1, np.int64), np.zeros(shape, dtype)
    results[elements, place] = order // indices.shape[1]
    back[elements, place] = 1 if weights is None else weights.reshape(-1)[order]
    return results, None if weights is None and bool((counts == 1).all()) else back


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
