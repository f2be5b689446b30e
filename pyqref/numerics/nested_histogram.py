"""Histograms on nested grids: bins whose width is a power of two, centred on zero.

A grid of twice the width is made by joining pairs of bins, without any rounding. So counts do not
depend on the order in which data comes, and the counts of parts add up to the counts of the whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .types import FloatArray, IntArray

__all__ = [
    "EMPTY",
    "NestedHistogram",
    "join_bins",
    "join_histograms",
    "nested_bins",
    "nested_counts",
    "nested_edges",
    "nested_exponent",
]

#: Exponent of a row in which no number but zero was counted; any number needs a greater one.
EMPTY = -(2**30)
#: Numbers that are counted in one go, so that temporary arrays stay small.
PART = 2**18
#: Least exponent for which bins are placed: every number of float32 but 0 needs a greater one.
_LEAST = -1000


class NestedHistogram(NamedTuple):
    """Counts of rows of numbers, each row on a nested grid of its own.

    Attributes
    ----------
    counts
        int64 ``(rows, bins)``; ``bins`` is a multiple of 4.
    exponents
        int64 ``(rows,)``: the bins of a row are ``2**exponent`` wide.

    Examples
    --------
    >>> nested_counts(np.float32([[-1.0, 0.5, 3.0]]), 4)
    NestedHistogram(counts=array([[0, 1, 1, 1]]), exponents=array([1]))
    """

    counts: IntArray
    exponents: IntArray


def nested_exponent(largest: FloatArray, bins: int) -> IntArray:
    r"""The exponent of the narrowest grid that holds numbers up to a magnitude.

    Equation ``eq-nested-exponent``:

    .. math:: e = \min\{\, e \in \mathbb{Z} : |x|_{max} < \tfrac{B}{2}\, 2^e \,\}

    with :math:`B` bins, a multiple of 4. For zero it is :data:`EMPTY`.

    Examples
    --------
    >>> nested_exponent(np.float32([0.0, 1.0, 7.5, 8.0]), 16).tolist()
    [-1073741824, -2, 0, 1]
    """
    largest = np.asarray(largest, np.float64)
    # largest = m 2^k, 1/2 <= m < 1; bins / 2 = h 2^l likewise, so that 2 (k - l) is near.
    exponent = np.frexp(largest)[1].astype(np.int64) - int(np.frexp(bins / 2)[1])
    exponent += largest >= np.ldexp(bins / 2, exponent)
    return np.where(largest > 0, exponent, EMPTY)


def nested_bins(x: FloatArray, exponent: IntArray | int, bins: int) -> IntArray:
    r"""The bin of each number.

    Equation ``eq-nested-bin``:

    .. math:: bin_e(x) = \left\lfloor x\, 2^{-e} \right\rfloor + \frac{B}{2}

    in double, where the product is exact. Numbers must lie within the grid.

    Examples
    --------
    >>> nested_bins(np.float32([-8.0, -0.1, 0.0, 7.9]), 0, 16).tolist()
    [0, 7, 8, 15]
    """
    factor = np.ldexp(1.0, -np.maximum(exponent, _LEAST))
    return np.floor(np.asarray(x, np.float64) * factor).astype(np.int64) + bins // 2


def join_bins(counts: IntArray, steps: int) -> IntArray:
    r"""The counts of one row on a grid that is ``2**steps`` times as wide.

    Equation ``eq-nested-join``:

    .. math:: n^{(e+1)}_{B/4 + k} = n^{(e)}_{2k} + n^{(e)}_{2k+1}, \qquad
              0 \le k < \tfrac{B}{2}

    The new grid reaches twice as far; its outer bins are empty.

    Examples
    --------
    >>> join_bins(np.array([1, 2, 3, 4, 5, 6, 7, 8]), 1).tolist()
    [0, 0, 3, 7, 11, 15, 0, 0]
    >>> join_bins(np.array([1, 2, 3, 4, 5, 6, 7, 8]), 9).tolist()
    [0, 0, 0, 10, 26, 0, 0, 0]
    """
    bins = counts.size
    for _ in range(min(steps, bins.bit_length())):
        joined = np.zeros_like(counts)
        joined[bins // 4 : bins // 4 + bins // 2] = counts[0::2] + counts[1::2]
        counts = joined
    return counts


def nested_counts(rows: FloatArray, bins: int, least: IntArray | int = EMPTY) -> NestedHistogram:
    """Counts of finite float32 rows ``(rows, n)``, each on the narrowest grid that holds it.

    ``eq-nested-exponent`` and ``eq-nested-bin``; no exponent is below ``least``.

    Examples
    --------
    >>> nested_counts(np.float32([[0.0, 0.0], [1.0, -2.0]]), 8).counts.tolist()
    [[0, 0, 0, 0, 2, 0, 0, 0], [0, 0, 1, 0, 0, 1, 0, 0]]
    """
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    exponents = np.maximum(nested_exponent(largest, bins), least)
    counts = np.zeros((len(rows), bins), np.int64)
    for row, exponent, into in zip(rows, exponents.tolist(), counts, strict=True):
        for start in range(0, row.size, PART):
            at = nested_bins(row[start : start + PART], exponent, bins)
            into += np.bincount(at, minlength=bins)
    return NestedHistogram(counts, exponents)


def join_histograms(first: NestedHistogram, second: NestedHistogram) -> NestedHistogram:
    r"""The histogram of all numbers of two.

    Equation ``eq-nested-merge``:

    .. math:: e = \max(e_1, e_2), \qquad n = n_1^{(e)} + n_2^{(e)}

    Exact, commutative and associative: the integers of ``eq-nested-join`` are those that
    ``eq-nested-bin`` counts on the wider grid.

    Examples
    --------
    >>> one, two = nested_counts(np.float32([[1.0]]), 8), nested_counts(np.float32([[-4.0]]), 8)
    >>> join_histograms(one, two).counts.tolist()
    [[0, 0, 1, 0, 1, 0, 0, 0]]
    """
    exponents = np.maximum(first.exponents, second.exponents)
    counts = np.zeros_like(first.counts)
    for each in (first, second):
        for row, steps in enumerate((exponents - each.exponents).tolist()):
            counts[row] += join_bins(each.counts[row], steps)
    return NestedHistogram(counts, exponents)


def nested_edges(exponent: int, bins: int) -> FloatArray:
    """The ``bins + 1`` edges of a nested grid, in double; ``eq-nested-bin`` turned around.

    Examples
    --------
    >>> nested_edges(1, 4).tolist()
    [-4.0, -2.0, 0.0, 2.0, 4.0]
    """
    return np.ldexp(np.arange(-(bins // 2), bins // 2 + 1, dtype=np.float64), max(exponent, _LEAST))
