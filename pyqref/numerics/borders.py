"""Borders around arrays: of a constant, or of elements of the array itself."""

from __future__ import annotations

import functools

import numpy as np

from .types import FloatArray, IntArray

__all__ = ["bordered", "places_along"]


@functools.lru_cache(maxsize=64)
def places_along(length: int, before: int, after: int, mode: str) -> IntArray:
    """Return the element for each place of a padded axis; -1 is the constant.

    Parameters
    ----------
    length
        Of the axis.
    before, after
        Elements of the border. Negative numbers crop: before padding if ``mode`` is
        ``"circular"``, so that what is wrapped around is what was left; after padding in the other
        modes, which look at the whole axis.
    mode
        ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``; ``"roll"`` shifts by
        ``before``, and what falls off comes in again.

    Examples
    --------
    >>> places_along(3, 1, 2, "constant").tolist(), places_along(3, 1, 2, "reflect").tolist()
    ([-1, 0, 1, 2, -1, -1], [1, 0, 1, 2, 1, 0])
    >>> places_along(3, 1, -1, "circular").tolist(), places_along(3, 1, 0, "roll").tolist()
    ([1, 0, 1], [2, 0, 1])
    """
    left, right = max(-before, 0), max(-after, 0)
    border = max(before, 0), max(after, 0)
    index = np.arange(length, dtype=np.int64)
    if mode == "roll":
        return np.roll(index, before)
    if mode == "circular":
        return np.pad(index[left : length - right], border, mode="wrap")
    if mode == "constant":
        index = np.pad(index, border, constant_values=-1)
    else:
        index = np.pad(index, border, mode="reflect" if mode == "reflect" else "edge")
    return index[left : max(len(index) - right, 0)]


def bordered(
    x: FloatArray, pairs: tuple[tuple[int, int], ...], mode: str, value: object = 0
) -> FloatArray:
    """``x`` with borders before and after its last axes.

    Parameters
    ----------
    x
        Any array.
    pairs
        As :func:`places_along` takes them, for each of the last axes.
    mode
        Of :func:`places_along`.
    value
        The constant.

    Examples
    --------
    >>> bordered(np.float32([1, 2, 3]), ((1, 1),), "reflect")
    array([2., 1., 2., 3., 2.], dtype=float32)
    """
    for axis, (before, after) in enumerate(pairs, x.ndim - len(pairs)):
        places = places_along(x.shape[axis], before, after, mode)
        inside = places >= 0
        shape = *x.shape[:axis], len(places), *x.shape[axis + 1 :]
        y = np.full(shape, value, x.dtype)
        np.moveaxis(y, axis, 0)[inside] = np.moveaxis(x, axis, 0)[places[inside]]
        x = y
    return x if pairs else x.copy()
