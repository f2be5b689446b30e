"""Quantized tensors in order: some lines at a time; long ones where their places will be.

In a long line of bytes, those of each value are counted: so each part of the line, put in order,
knows its places. Of wider integers, ``value * 2**32 + place`` has the order of a stable sort, and
room in the int64 of a place. So nothing else is as long as the result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._kernels.parts import parts
from ...tape import Array
from ...tape.indexing import Argsort, Msort, Sort
from ..base import wrap
from ..dispatch import quantized_implementation
from .operations import per_tensor_of, run_operation
from .tensor import make_quantized

__all__ = ["sort_integers"]

#: Elements of lines that are sorted in a copy, and of parts of a longer one.
_LINE = 1 << 14
_PLACES = np.int64(2**32 - 1)


@quantized_implementation(Sort)
def _sort(tensor: Any, axis: int, descending: bool, count: int | None) -> Any:
    quantizer = per_tensor_of("sort", tensor)
    values, index = sort_integers(tensor._array, axis, descending, count)
    return make_quantized(values, quantizer), wrap(index)


@quantized_implementation(Argsort)
def _argsort(tensor: Any, axis: int, descending: bool) -> Any:
    per_tensor_of("argsort", tensor)
    x = tensor._array
    if x.size <= _LINE:
        return wrap(run_operation(Argsort, x, axis, descending))
    return wrap(_order(x, axis, descending, x.shape[axis], None))


@quantized_implementation(Msort)
def _msort(tensor: Any) -> Any:
    quantizer, x = per_tensor_of("msort", tensor), tensor._array
    return make_quantized(_values_in_order(x) if x.ndim else x.copy(), quantizer)


def sort_integers(x: Array, axis: int, descending: bool, count: int | None) -> tuple[Array, Array]:
    """Sort integers of at most 32 bits, like :class:`~pyqref.tape.indexing.Sort`.

    Examples
    --------
    >>> values, index = sort_integers(np.uint8([3, 1, 3, 2]), 0, True, 2)
    >>> values.tolist(), index.tolist()
    ([3, 3], [0, 2])
    """
    if x.size <= _LINE:
        return run_operation(Sort, x, axis, descending, count)
    kept = x.shape[axis] if count is None else count
    values = np.empty((*x.shape[:axis], kept, *x.shape[axis + 1 :]), x.dtype)
    return values, _order(x, axis, descending, kept, values)


def _order(x: Array, axis: int, descending: bool, kept: int, values: Array | None) -> Array:
    """Return the places of the elements that come first; the elements go to ``values``."""
    lines, last = np.moveaxis(x, axis, -1), x.ndim - 1
    of_lines = None if values is None else np.moveaxis(values, axis, -1)
    places = _room(lines, axis, kept, np.int64)
    index = np.moveaxis(places, -1, axis)
    if lines.shape[-1] <= _LINE:
        for at in parts(lines, whole=[last], most=_LINE):
            some = np.ascontiguousarray(lines[at])
            made, places[at[:-1]] = run_operation(Sort, some, last, descending, kept)
            if of_lines is not None:
                of_lines[at[:-1]] = made
        return index
    for where in np.ndindex(lines.shape[:-1] if kept else 0):
        if x.itemsize == 1:
            counts = _counts(lines[where], descending)
            _put_places(lines[where], descending, counts, places[where])
            if of_lines is not None:
                _put_values(counts, descending, of_lines[where])
        else:
            _put_first(lines[where], descending, places[where])
            places[where].sort()
    if x.itemsize > 1:
        for at in parts(index, most=_LINE):
            if values is not None:
                keys = index[at] >> 32
                values[at] = ~keys if descending else keys
            index[at] &= _PLACES
    return index


def _values_in_order(x: Array) -> Array:
    """Each column in order."""
    if x.size <= _LINE:
        in_order: Array = np.sort(np.array(x, order="C"), axis=0)
        return in_order
    lines = np.moveaxis(x, 0, -1)
    values = _room(lines, 0, len(x), x.dtype)
    if len(x) > _LINE and x.itemsize == 1:
        for where in np.ndindex(lines.shape[:-1]):
            _put_values(_counts(lines[where], False), False, values[where])
    else:
        values[...] = lines
        values.sort(axis=-1, kind="stable" if x.itemsize == 1 else None)  # radix: faster for bytes
    return np.moveaxis(values, -1, 0)


def _room(lines: Array, axis: int, kept: int, kind: Any) -> Array:
    """Room ``(..., kept)`` for a result in C order; of long lines, each in one piece.

    NumPy copies what it sorts if it has gaps.
    """
    shape = (*lines.shape[:-1], kept)
    if kept > _LINE:
        return np.empty(shape, kind)
    lying = (*shape[:axis], kept, *shape[axis:-1])
    return np.moveaxis(np.empty(lying, kind), axis, -1)


def _pieces(line: Array) -> Iterator[tuple[int, Array]]:
    return ((i, line[i : i + _LINE]) for i in range(0, len(line), _LINE))


def _in_rising_order(integers: Array, descending: bool) -> Array:
    """Unsigned bytes whose order is the one that is wanted; of these, the bytes again."""
    keys = integers.view(np.uint8)
    if integers.dtype == np.int8:
        keys = keys ^ np.uint8(128)
    return ~keys if descending else keys


def _counts(line: Array, descending: bool) -> Array:
    """Count the bytes of each value, in the order that is wanted."""
    counts = np.zeros(256, np.int64)
    for _, piece in _pieces(line):
        counts += np.bincount(_in_rising_order(piece, descending), minlength=256)
    return counts


def _put_places(line: Array, descending: bool, counts: Array, places: Array) -> None:
    """Write where the bytes that come first in order are."""
    kept = len(places)
    next_places = np.cumsum(counts)
    limit = np.searchsorted(next_places, kept)
    next_places -= counts
    for start, piece in _pieces(line):
        keys = _in_rising_order(piece, descending)
        chosen = np.flatnonzero(keys <= limit) if kept < len(line) else None
        keys = keys if chosen is None else keys[chosen]
        order, own = np.argsort(keys, kind="stable"), np.bincount(keys, minlength=256)
        to = np.repeat(next_places - np.cumsum(own) + own, own)
        to += np.arange(len(keys))
        next_places += own
        if chosen is not None:  # of those that equal the last one, the first ones
            inside = to < kept
            to, order = to[inside], chosen[order[inside]]
        places[to] = order + start


def _put_values(counts: Array, descending: bool, values: Array) -> None:
    """Write bytes in order, of each value as many as there are."""
    bytes_ = _in_rising_order(np.arange(256, dtype=np.uint8).view(values.dtype), descending)
    first = 0
    for value, count in zip(bytes_.view(values.dtype).tolist(), counts.tolist(), strict=True):
        values[first : first + count] = value
        first += count


def _make_keys(integers: Array, first: int, descending: bool) -> None:
    """Make keys of int64 whose first place is ``first``."""
    if descending:
        np.invert(integers, out=integers)
    integers <<= 32
    integers |= np.arange(first, first + integers.shape[-1])


def _put_first(line: Array, descending: bool, keys: Array) -> None:
    """Fill ``keys`` with those of the elements that come first in order, not yet in order."""
    limits, kept = np.iinfo(line.dtype), len(keys)

    def count_up_to(value: int) -> int:
        """Count the elements with keys of at most this value."""
        return sum(
            int(np.count_nonzero(piece >= ~value if descending else piece <= value))
            for _, piece in _pieces(line)
        )

    first, last = (~limits.max, ~limits.min) if descending else (limits.min, limits.max)
    values = range(int(first), int(last) + 1)
    limit = values[-1] if kept == len(line) else values[bisect_left(values, kept, key=count_up_to)]
    # Of those that equal the last one, the first ones.
    equal = kept - (count_up_to(limit - 1) if limit > values[0] else 0)
    filled = 0
    for place, piece in _pieces(line):
        some = piece.astype(np.int64)
        _make_keys(some, place, descending)
        value = some >> 32
        for chosen in (some[value < limit], some[value == limit][:equal]):
            keys[filled : filled + len(chosen)] = chosen
            filled += len(chosen)
        equal -= len(chosen)
