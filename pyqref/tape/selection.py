"""Find the first few elements of a sorted axis, without sorting all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operation import Array

__all__ = ["first_places", "sorted_places"]

#: So many numbers are sorted sooner than a few of them are found.
SMALL = 256
#: So many are looked for one after the other; more are told by the last of them.
FEW = 16
#: In lines so long numbers are first compared with the largest of so many.
LONG, GROUP = 1 << 12, 32


def sorted_places(x: Array, axis: int, descending: bool) -> Array:
    """Return the place of each element in order; equal ones keep theirs, nan is the largest.

    Examples
    --------
    >>> sorted_places(np.array([2, 1, 2]), 0, True).tolist()
    [0, 2, 1]
    """
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    turned = (*(slice(None),) * (axis % x.ndim), slice(None, None, -1))
    index = np.argsort(x[turned], axis=axis, kind="stable")
    return x.shape[axis] - 1 - index[turned]


def first_places(x: Array, axis: int, descending: bool, count: int) -> Array:
    """The first ``count`` of :func:`sorted_places`.

    Examples
    --------
    >>> first_places(np.array([2, 3, 2, 1, 3]), 0, True, 3).tolist()
    [1, 4, 0]
    """
    length = x.shape[axis]
    index = None
    if 0 < count <= length // 4 and x.size > SMALL:
        lines = np.moveaxis(x, axis, -1)
        rows = np.array(lines, order="C").reshape(-1, length)  # a copy
        if length >= max(LONG, 2 * GROUP * count):
            find = _by_groups
        else:
            find = _one_by_one if count <= FEW else _by_the_last
        index = find(rows, descending, count)
    if index is None:
        places = sorted_places(x, axis, descending)
        return places[(slice(None),) * axis + (slice(0, count),)]
    return np.moveaxis(index.reshape(*lines.shape[:-1], count), -1, axis)


def _end(dtype: np.dtype[Any], largest: bool) -> Any:
    """The largest or smallest number of a type."""
    if dtype.kind == "f":
        return np.inf if largest else -np.inf
    if dtype.kind == "b":
        return largest
    return np.iinfo(dtype).max if largest else np.iinfo(dtype).min


def _one_by_one(rows: Array, descending: bool, count: int) -> Array | None:
    """The first extreme of each row, which is then replaced by what comes last.

    None where that cannot be told from others, as where there is a nan. ``rows`` is written to.
    """
    find = np.argmax if descending else np.argmin
    last, line = _end(rows.dtype, not descending), np.arange(len(rows))
    index = np.empty((len(rows), count), np.int64)
    for step in range(count):
        index[:, step] = found = find(rows, axis=1)
        values = rows[line, found]
        if (values == last).any() or (values != values).any():
            return None
        rows[line, found] = last
    return index


def _by_groups(rows: Array, descending: bool, count: int) -> Array | None:
    """Sorts those that reach what ``count`` of the groups reach; None for nan.

    As many numbers are no worse than that, which is therefore no better than the last one.
    """
    groups = rows.shape[1] // GROUP
    parted = rows[:, : GROUP * groups].reshape(len(rows), GROUP, groups)
    best = parted.max(axis=1) if descending else parted.min(axis=1)
    rest = rows[:, GROUP * groups :]
    if (best != best).any() or (rest != rest).any():
        return None
    at = groups - count if descending else count - 1
    bound = np.partition(best, at, axis=1)[:, at, np.newaxis]
    reached = rows >= bound if descending else rows <= bound
    index = np.empty((len(rows), count), np.int64)
    for line, row, hits in zip(index, rows, reached, strict=True):
        (places,) = hits.nonzero()
        line[:] = places[sorted_places(row[places], 0, descending)[:count]]
    return index


def _by_the_last(rows: Array, descending: bool, count: int) -> Array | None:
    """All before the last of them, and of those that equal it the first ones; None for nan."""
    if rows.dtype.kind == "f" and np.isnan(rows).any():
        return None
    at = rows.shape[1] - count if descending else count - 1
    last = np.partition(rows, at, axis=1)[:, at, np.newaxis]
    before, equal = (rows > last if descending else rows < last), rows == last
    missing = count - before.sum(axis=1, keepdims=True)
    chosen = before | (equal & (np.cumsum(equal, axis=1) <= missing))
    index = np.nonzero(chosen)[1].reshape(len(rows), count)
    order = sorted_places(np.take_along_axis(rows, index, 1), 1, descending)
    return np.take_along_axis(index, order, 1)
