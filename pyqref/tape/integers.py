"""Sums of products of integers, exact in their type: what does not fit wraps around.

A BLAS multiplies floating point numbers, much faster than NumPy integers. Where no sum can leave
the integers that ``float32`` or ``float64`` hold exactly, every order of summation gives the sum
itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .operation import Array

__all__ = ["in_integers"]


def _largest(values: Array | None) -> int:
    if values is None or not values.size:
        return 0
    return max(abs(int(values.min())), abs(int(values.max())))


def in_integers(
    layer: Callable[..., Array],
    x: Array,
    weight: Array,
    bias: Array | None,
    terms: int,
    *args: object,
) -> Array:
    """A layer of integers, modulo 2 to the power of the bits of their type.

    Parameters
    ----------
    layer
        ``layer(x, weight, bias, *args)`` adds up products of ``x`` and ``weight``, and ``bias``.
    x, weight, bias
        Integers of one type.
    terms
        How many products a sum has at most.

    Examples
    --------
    >>> many = np.full((1, 3), 100, np.int8)
    >>> in_integers(lambda x, w, b: x @ w.T, many, many, None, 3).tolist()
    [[48]]
    """
    most = _largest(x) * _largest(weight) * terms + _largest(bias)
    wide = np.float32 if most < 2**24 else np.float64 if most < 2**53 else np.int64
    converted = [None if each is None else each.astype(wide) for each in (x, weight, bias)]
    with np.errstate(over="ignore"):
        return layer(*converted, *args).astype(np.int64, copy=False).astype(x.dtype)
