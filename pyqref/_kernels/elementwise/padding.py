"""Borders, and rolled elements, by the kernel in use."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty, lies_in_result_order
from pyqref.numerics import borders as reference
from pyqref.numerics import windows
from pyqref.numerics.borders import places_along
from pyqref.numerics.types import FloatArray

__all__ = ["bordered", "pad"]

Pairs = tuple[tuple[int, int], ...]
#: Bytes of an array in another order, which is copied; a larger one is not.
_MOST_COPIED = 1 << 19
#: Axes along which the kernel moves elements.
_AXES = 3


class _Plan(NamedTuple):
    """Plan by which the kernel pads an array of some shape.

    Attributes
    ----------
    sizes, places
        What ``take`` gets.
    line
        Elements of a line of the border; 0 if there is none.
    shape
        Of the result.
    """

    sizes: tuple[int, ...]
    places: tuple[np.ndarray, ...]
    line: int
    shape: tuple[int, ...]


@lru_cache(maxsize=256)
def _plan(shape: tuple[int, ...], pairs: Pairs, mode: str) -> _Plan | None:
    """Make the plan, or return None if the axes are too many or too far apart."""
    moved = [axis for axis, pair in enumerate(pairs) if pair != (0, 0)] or [len(shape) - 1]
    first, end = moved[0], moved[-1] + 1
    if end - first > _AXES or not shape:
        return None
    places = [places_along(shape[axis], *pairs[axis], mode) for axis in range(first, end)]
    ones = (1,) * (_AXES - len(places))
    inner = prod(shape[end:])
    return _Plan(
        (prod(shape[:first]), *ones, *shape[first:end], inner),
        (places_along(1, 0, 0, mode),) * len(ones) + tuple(places),
        len(places[-1]) * inner if any((each < 0).any() for each in places) else 0,
        (*shape[:first], *map(len, places), *shape[end:]),
    )


def pad(x: FloatArray, pairs: Pairs, value: float) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.pad`.

    Examples
    --------
    >>> pad(np.float32([1, 2]), ((2, -1),), 5)
    array([5., 5., 1.], dtype=float32)
    """
    return bordered(x, pairs, "constant", value)


def bordered(x: FloatArray, pairs: Pairs, mode: str, value: float = 0) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.borders.bordered`; channels stay last where they are.

    Examples
    --------
    >>> bordered(np.float32([1, 2, 3]), ((1, 1),), "reflect")
    array([2., 1., 2., 3., 2.], dtype=float32)
    """
    ndim = x.ndim
    pairs = ((0, 0),) * (ndim - len(pairs)) + pairs
    if not x.flags.c_contiguous:
        if lies_in_result_order(x):
            order = 0, *range(2, ndim), 1
            pixels = bordered(
                x.transpose(order), tuple([pairs[axis] for axis in order]), mode, value
            )
            return pixels.transpose(0, ndim - 1, *range(1, ndim - 1))
        if x.nbytes > _MOST_COPIED and mode == "constant":
            return windows.pad(x, pairs, value)
        if x.nbytes > _MOST_COPIED and pairs[0] == (0, 0):
            shape = [
                len(places_along(n, *pair, mode)) for n, pair in zip(x.shape, pairs, strict=True)
            ]
            out = np.empty(shape, x.dtype)
            for i, part in enumerate(x):
                out[i] = bordered(part, pairs[1:], mode, value)
            return out
        if x.nbytes > _MOST_COPIED:
            return reference.bordered(x, pairs, mode, value)
    kernel = registry.twin("elementwise")
    plan = None if kernel is None or x.dtype.hasobject else _plan(x.shape, pairs, mode)
    if plan is None:
        return reference.bordered(x, pairs, mode, value)
    border = None
    if plan.line:
        border = empty((plan.line,), x.dtype)
        border.fill(value)
    taken = kernel.take(contiguous(x), plan.sizes, plan.places, border, threads.limit)
    return taken.reshape(plan.shape)
