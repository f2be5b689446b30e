"""Quantized matrix product: exact integers inside, one rounding at the end."""

from __future__ import annotations

import numpy as np

from pyqref._typing import Array

from .requantize import Requantization, requantize
from .types import IntArray

__all__ = ["exact_matmul", "linear_accumulator", "quantized_linear"]


def exact_matmul(a: np.ndarray, b: np.ndarray) -> IntArray:
    r"""Exact product of integer matrices, ``a @ b`` as int64.

    Products run in float64, whose sums of integers are exact below
    :math:`2^{53}`: with factors of at most 16 bits that allows inner dimensions
    up to :math:`2^{21}`.

    Examples
    --------
    >>> exact_matmul(np.array([[2**15, -1]]), np.array([[2**15], [1]])).tolist()
    [[1073741823]]
    """
    left, right = (each.astype(np.float64, copy=False) for each in (a, b))
    return np.matmul(left, right).astype(np.int64)


def linear_accumulator(
    x: IntArray, x_zero_point: int, weight: IntArray, weight_zero_points: int | Array
) -> IntArray:
    r"""Exact accumulators of a linear layer.

    Equation ``eq-linear-accumulator``:

    .. math:: a_{mn} = \sum_k (x_{mk} - z_x)(w_{nk} - z_{w,n})

    Parameters
    ----------
    x
        Integers ``(..., K)``.
    x_zero_point
        Their zero point.
    weight
        Integers ``(N, K)``.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``.

    Returns
    -------
    int64 ``(..., N)``.

    Notes
    -----
    No error: the sum is exact; below 2**31 in size for K up to 65,793 and symmetric
    weights (``eq-accumulator-width``).

    Examples
    --------
    >>> linear_accumulator(np.uint8([[5, 6]]), 5, np.int8([[1, 2], [3, 4]]), 0).tolist()
    [[2, 4]]
    """
    centred_x = np.asarray(x).astype(np.int64) - np.int64(x_zero_point)
    zero_points = np.asarray(weight_zero_points, dtype=np.int64).reshape(-1, 1)
    centred_weight = np.asarray(weight).astype(np.int64) - zero_points
    return exact_matmul(centred_x, centred_weight.T)


def quantized_linear(
    x: IntArray,
    x_zero_point: int,
    weight: IntArray,
    weight_zero_points: int | Array,
    requant: Requantization,
) -> IntArray:
    """Quantized linear layer: ``eq-linear-accumulator``, then ``eq-requantize``.

    Parameters
    ----------
    x
        Integers ``(..., K)``.
    x_zero_point
        Their zero point.
    weight
        Integers ``(N, K)``.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``.
    requant
        From :func:`pyqref.numerics.requantize.requantization`; holds bias, scales,
        output zero point and ReLU.

    Returns
    -------
    Integers ``(..., N)`` of the type ``requant.storage``.

    Examples
    --------
    >>> from pyqref.numerics.requantize import requantization
    >>> requant = requantization("fbgemm", 1.0, 1.0, 2.0, 3, bias=[1.0])
    >>> quantized_linear(np.uint8([[5, 6]]), 5, np.int8([[1, 2]]), 0, requant)
    array([[5]], dtype=uint8)
    """
    accumulator = linear_accumulator(x, x_zero_point, weight, weight_zero_points)
    return requantize(accumulator, requant)
