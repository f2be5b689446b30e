"""Order in memory of the arrays that kernels walk through from one end to the other.

With a compiler this text is compiled as it stands, with the types of ``layout.pxd``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy import ndarray

from . import registry, threads

try:
    from ._outputs import empty, expanded, output_like
except ModuleNotFoundError:  # nothing was compiled
    from numpy import empty
    from numpy import empty_like as output_like  # type: ignore[assignment]

    def expanded(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        strides = np.broadcast_to(x, shape).strides
        return np.lib.stride_tricks.as_strided(x, shape, strides)


__all__ = [
    "contiguous",
    "copied",
    "copied_as",
    "dense",
    "elements_per_channel",
    "empty",
    "expanded",
    "images",
    "in_groups",
    "in_one_order",
    "is_dense",
    "in_result_order",
    "laid_as",
    "lies_in_result_order",
    "output_like",
    "part",
    "reshaped",
]

#: Elements of an array that is copied as a whole; of larger ones parts are.
PART = 1 << 16
#: Bytes from which on a kernel copies.
_LARGE = 1 << 13


def contiguous(x: Any) -> np.ndarray:
    """Return ``x`` itself if its elements lie in C order without gaps, else a copy that does."""
    if type(x) is not ndarray:
        x = np.asarray(x)
    flags = x.flags
    return x if flags.c_contiguous and flags.aligned and x.dtype.isnative else copied(x, "C")


def copied(x: np.ndarray, order: Any) -> np.ndarray:
    """Return a copy in this order, its bytes in the order of this machine.

    Parameters
    ----------
    x
        Any array.
    order
        ``"C"``, or ``"K"`` for the order in which ``x`` lies.

    Examples
    --------
    >>> copied(np.array([1, 2], ">i4"), "C").dtype.isnative
    True
    """
    if x.nbytes < _LARGE and x.dtype.isnative:
        return x.copy(order)
    kernel = registry.twin("elementwise")
    copy = None if kernel is None else kernel.arranged(x, order == "C", threads.limit)
    return np.array(x, x.dtype.newbyteorder("="), order=order) if copy is None else copy


def reshaped(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the elements in another shape: a view where the steps between them allow it.

    Examples
    --------
    >>> reshaped(np.arange(6).reshape(2, 3).T, (6,))
    array([0, 3, 1, 4, 2, 5])
    """
    if x.nbytes < _LARGE or x.flags.c_contiguous:
        return x.reshape(shape)
    try:
        return x.reshape(shape, copy=False)
    except ValueError:  # they do not
        return copied(x, "C").reshape(shape)


def part(x: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Return a view by integers, slices, None and Ellipsis, also of a single element.

    Examples
    --------
    >>> part(np.arange(3), (2,))
    array(2)
    """
    view = x[key]
    return view if type(view) is ndarray else x[(*key, ...)]


def _are_plain(x: np.ndarray) -> bool:
    """Return True if elements are aligned, and their bytes in the order of this machine."""
    return x.flags.aligned and x.dtype.isnative


def dense(x: np.ndarray) -> np.ndarray:
    """Return ``x`` itself if its elements lie without gaps, else a copy in their order.

    Whatever that is, :func:`output_like` makes a result in the same order, so that a kernel
    may walk through the memory of both.
    """
    return x if is_dense(x) else copied(x, "K")


def is_dense(x: np.ndarray) -> bool:
    """Return True if :func:`dense` returns the array itself."""
    flags = x.flags
    return (
        flags.aligned
        and x.dtype.isnative
        and (flags.forc or _has_channels_last(x) or _has_no_gaps(x))
    )


def _has_no_gaps(x: np.ndarray) -> bool:
    """Return True if the elements leave no gaps in memory, whichever axis varies fastest."""
    expected = x.itemsize
    for step, length in sorted(zip(x.strides, x.shape, strict=True)):
        if length != 1 and step != expected:
            return False
        expected *= length
    return True


def _has_channels_last(x: np.ndarray) -> bool:
    ndim = x.ndim
    if ndim != 4 and ndim != 5:
        return False
    expected = x.itemsize
    for place in range(ndim):  # 0 is the axis that varies fastest
        axis = 1 if place == 0 else 0 if place == ndim - 1 else ndim - place
        length = x.shape[axis]
        if length != 1 and x.strides[axis] != expected:
            return not all(x.shape[each] for each in range(ndim))
        expected *= length
    return True


def in_result_order(x: Any) -> np.ndarray:
    """Return ``x`` itself if it lies in C order or with the channels last, else a copy in C order.

    That is the order in which a result lies; :func:`output_like` makes a buffer for it.
    """
    x = np.asarray(x)
    return x if lies_in_result_order(x) else copied(x, "C")


def lies_in_result_order(x: np.ndarray) -> bool:
    """Return True if :func:`in_result_order` returns the array itself."""
    return _are_plain(x) and (x.flags.c_contiguous or _has_channels_last(x))


def in_one_order(arrays: Sequence[np.ndarray]) -> bool:
    """Return True if all lie in C order, or all have their channels last in memory."""
    return all(x.flags.c_contiguous for x in arrays) or all(_has_channels_last(x) for x in arrays)


def _have_equal_strides(first: np.ndarray, other: np.ndarray) -> bool:
    return all(first.strides[axis] == other.strides[axis] for axis in range(first.ndim))


def laid_as(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return ``other`` itself if it lies in memory as ``first`` does, else a copy that does.

    Parameters
    ----------
    first
        From :func:`dense`.
    other
        Of the same shape.
    """
    if first is other or _have_equal_strides(first, other):
        return other
    if first.flags.c_contiguous and other.flags.c_contiguous:
        return other
    if other.nbytes >= _LARGE and _has_channels_last(first):
        ndim = first.ndim
        last = copied(other.transpose(0, *range(2, ndim), 1), "C")
        return last.transpose(0, ndim - 1, *range(1, ndim - 1))
    copy = output_like(first, other.dtype)
    np.copyto(copy, other)
    return copy


def copied_as(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a copy of ``other``, of the type of ``first``, as a gradient of ``first`` lies.

    It lies in memory as ``first`` does, or in C order where that has gaps.

    Examples
    --------
    >>> copied_as(np.zeros((2, 3)).T, np.ones((3, 2), np.float32)).strides
    (8, 24)
    """
    cast = other.astype(first.dtype, copy=False)
    if first.flags.c_contiguous or not is_dense(first):
        return copied(cast, "C") if cast is other else contiguous(cast)
    laid = laid_as(first, cast)
    return copied(laid, "K") if laid is other else laid


def images(
    q: np.ndarray, sizes: tuple[int, ...], either: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Images in C order or with their channels last, and a buffer for a result that lies so.

    Parameters
    ----------
    q
        ``(B, C, *size)``; copied with the channels last where it lies in neither way.
    sizes
        Of the result, in place of those of ``q``.
    either
        Whether C order is as good.
    """
    if len(sizes) != q.ndim - 2:
        raise ValueError(f"sizes must be those of {q.ndim - 2} axes, got {sizes}")
    to_last = (0, *range(2, q.ndim), 1)
    to_first = np.argsort(to_last)
    if not (either and q.flags.c_contiguous):
        q = contiguous(q.transpose(to_last)).transpose(to_first)
    batch, channels = q.shape[:2]
    if either and q.flags.c_contiguous:
        return q, empty((batch, channels, *sizes), q.dtype)
    return q, empty((batch, *sizes, channels), q.dtype).transpose(to_first)


def in_groups(x: np.ndarray) -> np.ndarray | None:
    """Rows ``(..., K)`` as kernels of products take them.

    ``x`` itself if it is contiguous, else a view ``(groups, rows, K)`` of it, or a copy if it is
    small; None where it is large and has no such view.

    Examples
    --------
    >>> x = np.zeros((3, 1000, 200), np.float32)
    >>> in_groups(x[..., :100].swapaxes(0, 1)).shape
    (1000, 3, 100)
    """
    if x.size <= PART or x.flags.c_contiguous or not x.dtype.isnative:
        return contiguous(x)
    lengths: list[int] = []
    steps: list[int] = []
    for length, step in zip(x.shape[:-1], x.strides[:-1], strict=True):
        if lengths and steps[-1] == length * step:
            lengths[-1], steps[-1] = lengths[-1] * length, step
        elif length != 1:
            lengths.append(length)
            steps.append(step)
    if not x.flags.aligned or len(lengths) > 2:
        return None
    outer = 2 - len(lengths)
    return np.lib.stride_tricks.as_strided(
        x, (*(1,) * outer, *lengths, x.shape[-1]), (*(0,) * outer, *steps, x.strides[-1])
    )


def elements_per_channel(x: np.ndarray, axis: int) -> int:
    """``inner`` where ``x`` is seen as ``(outer, channels, inner)`` with channels at ``axis``."""
    return prod(x.shape[range(x.ndim)[axis] + 1 :])
