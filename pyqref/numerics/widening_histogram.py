"""Histograms whose first batch fixes the width of a bin, as ONNX Runtime's calibrators keep them.

A batch that exceeds the range adds bins of the same width. The counts depend on which batch comes
first; for those that do not, see :mod:`.nested_histogram`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .types import FloatArray, IntArray

__all__ = [
    "MOST_BINS",
    "TooManyBinsError",
    "WideningHistogram",
    "edge_counts",
    "uniform_edges",
    "widen_magnitudes",
    "widen_values",
]


#: A function of numbers and edges that gives ``eq-edge-bin``.
EdgeCounts = Callable[[FloatArray, FloatArray], IntArray]
#: Numbers that are counted in one go, so that temporary arrays stay small.
PART = 2**15
#: Most bins: the first batch can be so narrow that a later one would need any number of them.
MOST_BINS = 2**20


class TooManyBinsError(ValueError):
    """A batch is so much wider than the first one that the bins would be too many.

    Examples
    --------
    >>> widen_values(widen_values(None, np.float32([1e-6]), 4), np.float32([1.0]), 4)
    Traceback (most recent call last):
    pyqref.numerics.widening_histogram.TooManyBinsError: 4000000 bins
    """

    def __init__(self, bins: float) -> None:
        super().__init__(f"{bins:.0f} bins")
        self.bins = bins


class WideningHistogram(NamedTuple):
    """Counts between edges.

    Attributes
    ----------
    counts
        int64 ``(bins,)``.
    edges
        float32 ``(bins + 1,)``, ascending.

    Examples
    --------
    >>> widen_magnitudes(None, np.float32([-1.0, 0.0, 2.0]), 2)
    WideningHistogram(counts=array([1, 2]), edges=array([0., 1., 2.], dtype=float32))
    """

    counts: IntArray
    edges: FloatArray


def uniform_edges(low: np.float32, high: np.float32, bins: int) -> FloatArray:
    r"""The edges of equal bins over a range.

    Equation ``eq-uniform-edges``:

    .. math:: edge_i = \mathrm{fl}_{32}\big(\mathrm{fl}_{32}(i\, w) + lo\big), \quad
              w = \mathrm{fl}_{32}\Big(\frac{hi - lo}{B}\Big), \qquad edge_B = hi

    in float32; a range without width gets a half on either side.

    Examples
    --------
    >>> uniform_edges(np.float32(-1), np.float32(1), 4).tolist()
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """
    if low == high:
        low, high = np.float32(low - np.float32(0.5)), np.float32(high + np.float32(0.5))
    step = np.float32(high - low) / np.float32(bins)
    edges = np.arange(bins + 1, dtype=np.float32) * step + low
    edges[-1] = high
    return edges


def edge_counts(x: FloatArray, edges: FloatArray) -> IntArray:
    r"""How many numbers lie in each bin.

    Equation ``eq-edge-bin``:

    .. math:: bin(x) = i \iff edge_i \le x < edge_{i+1}

    and the last edge belongs to the last bin. Numbers outside are not counted.

    Examples
    --------
    >>> edge_counts(np.float32([-1.0, 0.0, 0.9, 1.0, 3.0]), np.float32([0.0, 1.0, 3.0])).tolist()
    [2, 2]
    """
    total = np.zeros(edges.size - 1, np.int64)
    for start in range(0, x.size, PART):
        part = x[start : start + PART]
        inside = part[(part >= edges[0]) & (part <= edges[-1])]
        reached = np.searchsorted(edges[1:-1], inside, side="right")
        total += np.bincount(reached, minlength=total.size)
    return total


def widen_values(
    histogram: WideningHistogram | None,
    x: FloatArray,
    bins: int,
    count: EdgeCounts = edge_counts,
) -> WideningHistogram:
    r"""Add a batch to a histogram that is symmetric about zero.

    Equation ``eq-widen-values``, with the threshold :math:`t = \max |X|` of the first batch and
    :math:`w = 2 t / B`:

    .. math:: k = \left\lfloor \frac{\max |X| - t}{w} \right\rfloor + 1, \qquad
              t' = k\, w + t, \qquad B' = B + 2 k

    in float32, where a batch exceeds the threshold; the old counts keep their bins. ``count`` is
    :func:`edge_counts`, or what gives the same faster.

    Examples
    --------
    >>> first = widen_values(None, np.float32([-1.0, 0.5]), 4)
    >>> widen_values(first, np.float32([1.2]), 4).counts.tolist()
    [0, 1, 0, 0, 1, 1]
    """
    reach = np.float32(max(x.max(), -x.min()))
    if histogram is None:
        edges = uniform_edges(-reach, reach, bins)
        return WideningHistogram(count(x, edges), edges)
    counts, edges = histogram
    threshold = np.float32(edges[-1]) if _is_wide(histogram) else np.float32(0)
    if reach <= threshold:
        return WideningHistogram(counts + count(x, edges), edges)
    if threshold == 0:
        edges = uniform_edges(-reach, reach, counts.size)
        return WideningHistogram(counts + count(x, edges), edges)
    width = np.float32(2) * threshold / np.float32(counts.size)
    more = int(np.floor_divide(reach - threshold, width) + np.float32(1))
    if counts.size + 2 * more > MOST_BINS:
        raise TooManyBinsError(counts.size + 2 * more)
    threshold = np.float32(np.float32(more) * width + threshold)
    edges = uniform_edges(-threshold, threshold, counts.size + 2 * more)
    total = count(x, edges)
    total[more : more + counts.size] += counts
    return WideningHistogram(total, edges)


def _is_wide(histogram: WideningHistogram) -> bool:
    """Return False if only zeros were counted; ``eq-uniform-edges`` then invents a range."""
    counts, edges = histogram
    return not (edges[-1] == 0.5 and counts[counts.size // 2] == counts.sum())


def widen_magnitudes(
    histogram: WideningHistogram | None,
    x: FloatArray,
    bins: int,
    count: EdgeCounts = edge_counts,
) -> WideningHistogram:
    r"""Add the magnitudes of a batch to a histogram.

    Equation ``eq-widen-magnitudes``: the bins of the first batch reach from its least to its
    greatest magnitude (``eq-uniform-edges``). Where a batch exceeds the last edge :math:`h`,
    edges are added, with the width :math:`w = edge_1 - edge_0`,

    .. math:: f,\; f + \delta,\; f + 2\delta,\; \dots, \qquad f = \mathrm{fl}_{32}(h + w), \quad
              \delta = \mathrm{fl}_{32}(f + w) - f, \qquad
              \left\lceil \frac{(\max |X| + w) - f}{w} \right\rceil \text{ of them}

    in double for this batch, after which they are rounded to float32. Magnitudes below the first
    edge, or above the last one, are not counted, as in onnxruntime. ``count`` is as in
    :func:`widen_values`.

    Examples
    --------
    >>> first = widen_magnitudes(None, np.float32([0.0, -2.0]), 2)
    >>> widen_magnitudes(first, np.float32([3.5]), 2).counts.tolist()
    [1, 1, 0, 1]
    """
    x = np.abs(x)
    if histogram is None:
        edges = uniform_edges(x.min(), x.max(), bins)
        return WideningHistogram(count(x, edges), edges)
    counts, edges = histogram
    greatest = np.float32(x.max())
    if greatest > edges[-1]:
        width = np.float32(edges[1] - edges[0])
        first, stop = np.float32(edges[-1] + width), np.float32(greatest + width)
        needed = np.ceil(np.float64(np.float32(stop - first) / width)) if width else np.inf
        if counts.size + needed > MOST_BINS:
            raise TooManyBinsError(counts.size + needed)
        more = max(int(needed), 0)
        step = np.float64(np.float32(first + width)) - np.float64(first)
        added = np.float64(first) + np.arange(more, dtype=np.float64) * step
        edges = np.concatenate([edges, added])
    total = count(x, edges)
    total[: counts.size] += counts
    return WideningHistogram(total, edges.astype(np.float32))
