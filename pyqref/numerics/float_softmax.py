"""Softmax of rows of float32, its logarithm, and the gradients: the order that kernels keep."""

from __future__ import annotations

import numpy as np

from .exponential import exp_below
from .logarithm import log
from .types import FloatArray

__all__ = [
    "largest_of_rows",
    "log_softmax",
    "log_softmax_gradient",
    "softmax",
    "softmax_gradient",
    "sum_of_rows",
]

#: Sums are made side by side in so many places, and then added by halves.
PLACES = 16
_f32 = np.float32


def sum_of_rows(x: FloatArray) -> FloatArray:
    r"""Sum of each row of ``x`` ``(rows, n)``, in an order that suits vectors of 4, 8 and 16.

    Equation ``eq-sum-of-places``, every sum in the type of x:

    .. math:: p_j = \sum_k x_{16 k + j}, \qquad
              S = ((p_0 + p_8) + (p_4 + p_{12})) + \dots

    Examples
    --------
    >>> sum_of_rows(np.arange(20, dtype=np.float32)[np.newaxis])
    array([[190.]], dtype=float32)
    """
    return sum_by_halves(sums_of_places(x, np.zeros((len(x), PLACES), x.dtype)))


def sums_of_places(x: FloatArray, places: FloatArray) -> FloatArray:
    """The sums ``p`` of ``eq-sum-of-places``, added to those of what lies before each row.

    Examples
    --------
    >>> sums_of_places(np.ones((1, 20), np.float32), np.zeros((1, 16), np.float32))[0, :5]
    array([2., 2., 2., 2., 1.], dtype=float32)
    """
    rows, n = x.shape
    padded = np.zeros((rows, -(-n // PLACES) * PLACES), x.dtype)
    padded[:, :n] = x
    for first in range(0, n, PLACES):
        places = places + padded[:, first : first + PLACES]
    return places


def sum_by_halves(places: FloatArray) -> FloatArray:
    """Sum over the last axis, which stays with length 1: the second half is added to the first.

    Examples
    --------
    >>> sum_by_halves(np.float32([1, 2, 3, 4])).tolist()
    [10.0]
    """
    while places.shape[-1] > 1:
        half = places.shape[-1] // 2
        places = places[..., :half] + places[..., half:]
    return places


def largest_of_rows(x: FloatArray) -> FloatArray:
    """Return the largest number of each row of ``x`` ``(rows, n)``; nan is left out.

    Examples
    --------
    >>> largest_of_rows(np.float32([[1, np.nan, 3]])).tolist()
    [[3.0]]
    """
    return np.fmax.reduce(x, axis=1, keepdims=True, initial=_f32(-np.inf))


def softmax(x: FloatArray) -> FloatArray:
    r"""Exponentials of each row of ``x`` ``(rows, n)``, over their sum.

    Equation ``eq-float-softmax``, with ``eq-exp-below`` and ``eq-sum-of-places``:

    .. math:: y_i = e_i \cdot \frac{1}{\sum_j e_j}, \qquad e_i = e^{x_i - \max_j x_j}

    Examples
    --------
    >>> softmax(np.float32([[1000, 1000, 0]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    with np.errstate(all="ignore"):
        powers = exp_below(x - largest_of_rows(x))
        return np.asarray(powers * (_f32(1) / sum_of_rows(powers)))


def log_softmax(x: FloatArray) -> FloatArray:
    r"""Logarithm of the softmax of each row of ``x`` ``(rows, n)``.

    Equation ``eq-float-log-softmax``, with the powers of ``eq-float-softmax`` and ``eq-log``:

    .. math:: y_i = (x_i - \max_j x_j) - \log \sum_j e_j

    Examples
    --------
    >>> log_softmax(np.float32([[0, 1000]])).tolist()
    [[-1000.0, 0.0]]
    """
    with np.errstate(all="ignore"):
        least = x - largest_of_rows(x)
        return np.asarray(least - log(sum_of_rows(exp_below(least))))


def softmax_gradient(gradient: FloatArray, y: FloatArray) -> FloatArray:
    r"""Gradient of the argument of :func:`softmax`, whose result is y.

    Equation ``eq-float-softmax-gradient``:

    .. math:: g'_i = \Big(g_i - \sum_j g_j y_j\Big) \cdot y_i

    Examples
    --------
    >>> softmax_gradient(np.float32([[1, 0]]), np.float32([[0.5, 0.5]])).tolist()
    [[0.25, -0.25]]
    """
    with np.errstate(all="ignore"):
        return np.asarray((gradient - sum_of_rows(gradient * y)) * y)


def log_softmax_gradient(gradient: FloatArray, y: FloatArray) -> FloatArray:
    r"""Gradient of the argument of :func:`log_softmax`, whose result is y.

    Equation ``eq-float-log-softmax-gradient``:

    .. math:: g'_i = g_i - e^{y_i} \sum_j g_j

    Examples
    --------
    >>> log_softmax_gradient(np.float32([[1, 0]]), np.float32([[0, -1000]])).tolist()
    [[0.0, 0.0]]
    """
    with np.errstate(all="ignore"):
        return np.asarray(gradient - exp_below(y) * sum_of_rows(gradient))
