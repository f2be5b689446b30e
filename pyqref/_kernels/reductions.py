"""Sums over some axes of large arrays, part by part, with the bits that NumPy gives at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from .layout import lies_in_result_order
from .parts import MOST, parts

__all__ = ["Total", "in_halves", "reduced_by_parts"]

#: ``total(values)``: the sums of ``values(part)``, whose elements depend on those at their place
#: alone. A part is ``(rows, results, elements)``; numbers of each result broadcast against it when
#: they end in an axis of length 1.
Total = Callable[[Callable[[np.ndarray], np.ndarray]], np.ndarray]

#: Elements of a part, which may be three arrays of doubles at a time; rows of as many results.
_PART, _ROWS = 1 << 15, 16


def in_halves(sum_of: Callable[[int, int], Any], first: int, stop: int, most: int = MOST) -> Any:
    """``sum_of(first, stop)`` of a long line, added up in NumPy's order.

    That is one half after the other, down to pieces that NumPy may have. NumPy before 2.3 adds up
    a line of more than 8,192 elements in blocks of so many; pieces of at most as many give the
    same bits with each release.

    Examples
    --------
    >>> x = np.random.default_rng(0).random(1000, np.float32)
    >>> bool(in_halves(lambda first, stop: x[first:stop].sum(), 0, 1000, 200) == x.sum())
    True
    """
    if stop - first <= most:
        return sum_of(first, stop)
    half = (stop - first) // 2
    middle = first + half - half % 8
    return in_halves(sum_of, first, middle, most) + in_halves(sum_of, middle, stop, most)


def reduced_by_parts(
    function: Callable[[Total], np.ndarray],
    q: np.ndarray,
    axes: tuple[int, ...],
    keepdim: bool,
) -> np.ndarray:
    """``function(total)``, bytes or integers, for some of the results at a time.

    NumPy walks through an array as it lies: it adds up the innermost axes one half after the other
    (:func:`in_halves`) where they are summed over, and then one such sum after the other. Numbers
    are added up as if they lay as a result made of ``q``.

    Parameters
    ----------
    function
        Called with ``total``, which gives ``(results, 1)``; its result has as many elements.
    q
        Of at least one element.
    axes, keepdim
        As of a reduction.

    Examples
    --------
    >>> q = np.arange(6, dtype=np.uint8).reshape(2, 3)
    >>> reduced_by_parts(lambda total: total(lambda part: part), q, (0,), False)
    array([3, 5, 7], dtype=uint8)
    """
    rows, inner = _split(q, axes)
    kept = tuple(axis for axis in range(q.ndim) if axis not in axes)
    table = q.transpose(*rows, *kept, *inner)
    shape = tuple(q.shape[axis] for axis in rows)
    length = prod(q.shape[axis] for axis in inner)
    first = table[(0,) * len(rows)][(..., *(0,) * len(inner))]
    at_once = max(1, _PART // max(length, min(length * prod(shape), _ROWS)))
    result = _empty_result(q, axes, keepdim)
    places = result.squeeze(axes) if keepdim else result
    for at in parts(first, most=at_once):
        some = table[(slice(None),) * len(rows) + at]
        total: Total = (
            partial(_of_lines, some=some, rows=len(rows), length=length)
            if length > _PART
            else partial(_of_rows, some=some, shape=shape, count=places[at].size, length=length)
        )
        made = function(total)
        places[at] = made.reshape(places[at].shape)
    return result


def _split(q: np.ndarray, axes: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Axes to be summed over: those that others lie between, and the innermost ones."""
    order = list(range(q.ndim))
    if lies_in_result_order(q):
        order.sort(key=lambda axis: -q.strides[axis])
    kept = [place for place, axis in enumerate(order) if axis not in axes and q.shape[axis] > 1]
    begin = kept[-1] + 1 if kept else 0
    return (
        [axis for axis in order[:begin] if axis in axes],
        [axis for axis in order[begin:] if axis in axes],
    )


def _empty_result(q: np.ndarray, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    """A result, with its channels last where those of ``q`` are and it has as many axes."""
    one = slice(0, 1) if keepdim else 0
    taken = q[tuple(one if axis in axes else slice(None) for axis in range(q.ndim))]
    buffer = np.empty_like(taken, order="K" if lies_in_result_order(q) else "C")
    if not lies_in_result_order(buffer):
        del buffer
        buffer = np.empty_like(taken, order="C")
    return buffer


def _of_rows(
    values: Callable[[np.ndarray], np.ndarray],
    some: np.ndarray,
    shape: tuple[int, ...],
    count: int,
    length: int,
) -> np.ndarray:
    """Sums of ``some``: one row of ``count`` short lines after the other."""
    sums: Any = None
    # Rows in C order, whatever their places in memory: those of one element are all alike.
    for at in parts(np.broadcast_to(np.int8(0), shape), most=max(1, _PART // (count * length))):
        part = np.ascontiguousarray(some[at]).reshape(-1, count, length)
        lines = values(part)
        lines = lines.sum(axis=2) if length > 1 else lines[..., 0]
        if sums is not None:
            lines[0] += sums
        # One column alone would be added up by halves.
        sums = lines.sum(axis=0) if count > 1 else np.add.accumulate(lines)[-1]
    return sums[:, np.newaxis]


def _of_lines(
    values: Callable[[np.ndarray], np.ndarray], some: np.ndarray, rows: int, length: int
) -> np.ndarray:
    """The sum of ``some``, one result: one long line after the other."""
    sums: Any = 0
    for row in np.ndindex(some.shape[:rows]):
        line: Any = some[row]
        line = line.reshape(-1) if line.flags.c_contiguous else line.flat

        def sum_of(first: int, stop: int, line: Any = line) -> Any:
            return values(line[first:stop].reshape(1, 1, -1)).sum()

        sums = sums + in_halves(sum_of, 0, length)
    return np.reshape(sums, (1, 1))
