"""Quantized tensors in order: some lines at a time; in long ones, integers with their places.

``value * 2**32 + place`` has the order of a stable sort, and room in the int64 of a place. So
nothing else is as long as the result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._kernels.parts import parts
from ...tape import Array
from ...tape.indexing import Sort
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


def sort_integers(x: Array, axis: int, descending: bool, count: int | None) -> tuple[Array, Array]:
    """What :class:`~pyqref.tape.indexing.Sort` gives for integers of at most 32 bits.

    Examples
    --------
    >>> values, index = sort_integers(np.uint8([3, 1, 3, 2]), 0, True, 2)
    >>> values.tolist(), index.tolist()
    ([3, 3], [0, 2])
    """
    if x.size <= _LINE:
        return run_operation(Sort, x, axis, descending, count)
    lines, last = np.moveaxis(x, axis, -1), x.ndim - 1
    length = lines.shape[-1]
    kept = length if count is None else count
    places = _room(lines, axis, kept)
    index = np.moveaxis(places, -1, axis)
    values = np.empty(index.shape, x.dtype)
    if length <= _LINE:
        of_lines = np.moveaxis(values, axis, -1)
        for at in parts(lines, whole=[last], most=_LINE):
            some = np.ascontiguousarray(lines[at])
            made = run_operation(Sort, some, last, descending, count)
            of_lines[at[:-1]], places[at[:-1]] = made
    elif kept:
        for where in np.ndindex(lines.shape[:-1]):
            _put_first(lines[where], descending, places[where])
            places[where].sort()
        for at in parts(index, most=_LINE):
            keys = index[at] >> 32
            values[at] = ~keys if descending else keys
            index[at] &= _PLACES
    return values, index


def _room(lines: Array, axis: int, kept: int) -> Array:
    """Places ``(..., kept)`` of a result in C order; of long lines, each in one piece.

    NumPy copies what it sorts if it has gaps.
    """
    shape = (*lines.shape[:-1], kept)
    if kept > _LINE:
        return np.empty(shape, np.int64)
    lying = (*shape[:axis], kept, *shape[axis:-1])
    return np.moveaxis(np.empty(lying, np.int64), axis, -1)


def _make_keys(integers: Array, first: int, descending: bool) -> None:
    """Make keys of int64 whose first place is ``first``."""
    if descending:
        np.invert(integers, out=integers)
    integers <<= 32
    integers |= np.arange(first, first + integers.shape[-1])


def _pieces(line: Array) -> Iterator[tuple[int, Array]]:
    return ((i, line[i : i + _LINE]) for i in range(0, len(line), _LINE))


def _put_first(line: Array, descending: bool, keys: Array) -> None:
    """Fill ``keys`` with those of the elements that come first in order, not yet in order."""
    limits, kept = np.iinfo(line.dtype), len(keys)

    def count_up_to(value: int) -> int:
        """How many elements have keys of at most this value."""
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
