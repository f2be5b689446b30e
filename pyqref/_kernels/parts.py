"""Large arrays, computed part by part: what is made on the way stays small."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from .layout import PART, contiguous, copied, empty

__all__ = [
    "by_parts",
    "by_rows",
    "copied_by_parts",
    "first_extreme",
    "parts",
    "output_for",
    "taken",
    "under",
]

#: Elements of a part: for each of them there may be ten numbers of eight bytes at a time.
MOST = 1 << 13


def parts(
    x: np.ndarray, whole: Collection[int] = (), most: int = MOST
) -> Iterator[tuple[slice, ...]]:
    """Yield the places of the parts of ``x``, if possible of at most ``most`` elements.

    Parameters
    ----------
    x
        Is cut first along the axis whose places are farthest apart in memory, or of several the
        first.
    whole
        Axes that are not cut.

    Examples
    --------
    >>> [at[0] for at in parts(np.zeros((5, 4)), whole=[1], most=8)]
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    steps, size = list(x.shape), x.size
    for axis in sorted(set(range(x.ndim)).difference(whole), key=lambda a: (-abs(x.strides[a]), a)):
        if size <= most:
            break
        rest = size // steps[axis]
        steps[axis] = max(1, most // rest)
        size = rest * steps[axis]
    yield from product(
        *(
            [slice(i, i + step) for i in range(0, length, step)] if length else [slice(0)]
            for length, step in zip(x.shape, steps, strict=True)
        )
    )


def by_parts(
    function: Callable[..., np.ndarray],
    x: np.ndarray,
    *others: np.ndarray,
    whole: Collection[int] = (),
    most: int = MOST,
) -> np.ndarray:
    """``function(x, *others)``, whose elements depend on those at their place alone.

    Parameters
    ----------
    x
        The result has its shape and type, and lies in memory as it does.
    others
        Broadcast against ``x``.
    whole
        Axes along which elements of the result depend on each other.
    most
        Elements of a part.

    Examples
    --------
    >>> by_parts(np.add, np.arange(3), np.array(5))
    array([5, 6, 7])
    """
    if x.size <= most:
        return function(x, *others)
    result = np.empty_like(x)
    broadcast = [np.broadcast_to(each, x.shape) for each in others]
    for at in parts(x, whole, most):
        result[at] = function(x[at], *(each[at] for each in broadcast))
    return result


def output_for(
    arrays: Sequence[np.ndarray], dtype: DTypeLike, order: Literal["C", "F", "A", "K"] = "K"
) -> np.ndarray:
    """Room for what NumPy computes element by element: of the shape and in the order of its result.

    Examples
    --------
    >>> output_for([np.zeros((2, 3)).T, np.zeros(2)], np.bool_).strides
    (1, 3)
    """
    flags: Any = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    types = [*(each.dtype for each in arrays), dtype]
    iterator = np.nditer((*arrays, None), ["zerosize_ok"], flags, types, order=order)
    return iterator.operands[-1]


def under(at: tuple[slice, ...], shape: Sequence[int]) -> tuple[slice, ...]:
    """Return the part of an array of ``shape`` that is broadcast to the part ``at``.

    Examples
    --------
    >>> under((slice(0, 2), slice(2, 4)), (1,))
    (slice(None, None, None),)
    """
    own = at[len(at) - len(shape) :]
    return tuple(
        part if length != 1 else slice(None) for part, length in zip(own, shape, strict=True)
    )


def taken(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """``np.take(x, index, axis)``, for which NumPy would copy what does not lie in C order.

    Examples
    --------
    >>> taken(np.array([[1, 2], [3, 4]]).T, np.array([1, 1]), 0)
    array([[2, 4],
           [2, 4]])
    """
    if x.flags.c_contiguous or x.size <= PART:
        return np.take(x, index, axis=axis)
    result = np.empty((*x.shape[:axis], len(index), *x.shape[axis:][1:]), x.dtype)
    for at in parts(result, most=PART):
        chosen: tuple[Any, ...] = (*at[:axis], index[at[axis]], *at[axis + 1 :])
        result[at] = x[chosen]
    return result


def first_extreme(find: Callable[..., Any], x: np.ndarray, axis: int | None) -> np.ndarray:
    """``find(x, axis)``, where ``find`` is ``np.ndarray.argmax`` or ``np.ndarray.argmin``.

    NumPy would copy what does not lie in C order, or whose ``axis`` is not the last.

    Examples
    --------
    >>> first_extreme(np.ndarray.argmax, np.array([[1, 2], [3, 0]]), 0)
    array([1, 0])
    """
    if x.size <= PART or (x.flags.c_contiguous and axis in (None, x.ndim - 1)):
        return np.asarray(find(x, axis=axis))
    if axis is None:
        return np.asarray(_first_of_line(find, x.flat, x.size))
    lines = np.moveaxis(x, axis, -1)
    result = np.empty(lines.shape[:-1], np.intp)
    if lines.shape[-1] <= PART:
        for at in parts(lines, whole=(x.ndim - 1,), most=PART):
            result[at[:-1]] = find(lines[at], axis=-1)
    else:
        for where in np.ndindex(result.shape):
            result[where] = _first_of_line(find, lines[where], lines.shape[-1])
    return result


def _first_of_line(find: Callable[..., Any], line: Any, length: int) -> Any:
    """The first of those that come first in a piece of the line."""
    found = [first + find(line[first : first + PART]) for first in range(0, length, PART)]
    return found[find(line[found])]


def copied_by_parts(
    function: Callable[[np.ndarray, tuple[slice, ...]], np.ndarray],
    x: np.ndarray,
    dtype: DTypeLike,
    order: Literal["C", "F", "A", "K"] = "K",
) -> np.ndarray:
    """``function(part, at)`` of copies of parts of ``x``, which lie at ``at``.

    The elements of its result depend on those of the part. For arrays with gaps.

    Parameters
    ----------
    dtype, order
        Of the result; it lies as a copy of ``x`` in this order would, and so do the parts.
    """
    if x.size <= PART:
        return function(copied(x, order), tuple([slice(0, length) for length in x.shape]))
    result = np.empty_like(x, dtype, order)
    for at in parts(x, most=PART):
        result[at] = function(copied(x[at], order), at)
    return result


def by_rows(
    function: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    columns: int,
    dtype: DTypeLike,
    most: int = PART,
) -> np.ndarray:
    """``function(rows)`` of ``x (..., K)``, with ``columns`` results for each of its rows.

    Rows are given in C order, of a large array some at a time.

    Parameters
    ----------
    dtype
        Of the results.
    most
        Results of a part.
    """
    depth = x.shape[-1]
    rows = max(1, min(4 * PART // max(depth * x.itemsize, 1), most // max(columns, 1)))
    if x.size <= rows * depth:
        return function(contiguous(x))
    out = empty((*x.shape[:-1], columns), np.dtype(dtype))
    for at in parts(x, whole=(x.ndim - 1,), most=rows * depth):
        out[at[:-1]] = function(contiguous(x[at]))
    return out
