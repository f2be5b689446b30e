"""Histograms that grow with the data, and the search for the range that costs least.

An observer keeps counts over a range. When a batch exceeds it, the old counts are
moved to the new bins; at the end, the ends of the range are drawn in step by step
as long as the expected squared error of quantization falls.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pyqref._typing import Array, Number

from .rounding import fma32
from .types import FloatArray

__all__ = [
    "Candidate",
    "Histogram",
    "bin_range",
    "candidate_ranges",
    "histogram_counts",
    "merge_counts",
    "merge_histogram",
    "quantization_error",
    "rebin",
    "search_range",
]

FLOAT32_MAX = float(np.finfo(np.float32).max)
#: Share of the data given up at either end in one step of the search.
STEP = 1e-5


class Histogram(NamedTuple):
    """Counts over equal bins of a range.

    Attributes
    ----------
    counts
        float32 ``(bins,)``.
    min_val, max_val
        Ends of the range, float32 values. If equal, the counts stand over
        ``min_val - 1 .. max_val + 1``, see :func:`bin_range`.

    Examples
    --------
    >>> from pyqref.numerics.histogram import Histogram, search_range
    >>> search_range(Histogram(np.float32([0, 5, 5, 0]), 0.0, 4.0), 2)
    (1.0, 2.0)
    """

    counts: FloatArray
    min_val: float
    max_val: float


def histogram_counts(x: object, bins: int, low: float, high: float) -> FloatArray:
    r"""Count the elements in each bin.

    Equation ``eq-histogram-bin``:

    .. math:: bin(x) = \min\left(\left\lfloor
              \frac{(x - lo) \cdot bins}{hi - lo} \right\rfloor,\; bins - 1\right)

    in float32, for ``lo <= x <= hi``; other elements and nan are not counted. If ``lo ==
    hi`` the range is taken as ``lo - 1 .. hi + 1``, or wider where numbers are farther apart
    than that (:func:`bin_range`). Where the product could leave float32, everything is worked out
    in double.

    Examples
    --------
    >>> histogram_counts(np.float32([0, 1, 2, 4, 4]), 4, 0, 4)
    array([1., 1., 1., 2.], dtype=float32)
    """
    x = np.asarray(x, np.float32).ravel()
    first, last = bin_range(low, high)
    inside = x[(x >= first) & (x <= last)]
    real = np.float32 if fits_float32(first, last, bins) else np.float64
    inside, first, last = inside.astype(real), real(first), real(last)
    position = (inside - first) * real(bins) / (last - first)
    index = np.minimum(position.astype(np.int64), bins - 1)
    return np.bincount(index, minlength=bins).astype(np.float32)


def bin_range(low: float, high: float) -> tuple[Any, Any]:
    """Ends of the bins, float32: a range without width gets one on either side.

    Where that changes nothing, the next number that float32 has.

    Examples
    --------
    >>> [float(each) for each in bin_range(2.0, 2.0)]
    [1.0, 3.0]
    >>> [float(each) for each in bin_range(1e9, 1e9)]
    [999999936.0, 1000000064.0]
    """
    first, last = np.float32(low), np.float32(high)
    if first != last:
        return first, last
    end, one = np.float32(FLOAT32_MAX), np.float32(1)
    below, above = np.nextafter(first, -end), np.nextafter(last, end)
    return min(first - one, below), max(last + one, above)


def fits_float32(first: Number, last: Number, bins: int) -> bool:
    """Return True if no product of ``eq-histogram-bin`` overflows float32."""
    return (float(last) - float(first)) * bins < FLOAT32_MAX


def rebin(histogram: Histogram, low: float, high: float, upsample_rate: int) -> FloatArray:
    r"""Move the counts of a histogram to the bins of a wider range.

    Equation ``eq-histogram-rebin``:

    .. math:: n'_j = \sum_{i, u \,:\, mid_{i,u} \in bin'_j} \frac{n_i}{rate}

    Every old bin is split in ``upsample_rate`` equal parts with an equal share of its
    count, and every part goes to the new bin in which its midpoint lies.

    Examples
    --------
    >>> rebin(Histogram(np.float32([4, 8]), 0.0, 2.0), 0.0, 4.0, 4).tolist()
    [12.0, 0.0]
    """
    bins = histogram.counts.size
    parts = bins * upsample_rate
    first, last = np.float32(histogram.min_val), np.float32(histogram.max_val)
    shares = np.repeat(histogram.counts / np.float32(upsample_rate), upsample_rate)
    width = (last - first) / np.float32(parts)
    midpoints = _linspace32(first, last, parts + 1)[:-1] + np.float32(0.5) * width
    edges = _linspace32(np.float32(low), np.float32(high), bins + 1)
    index = np.clip(np.searchsorted(edges, midpoints, side="right") - 1, 0, bins - 1)
    counts = np.zeros(bins, np.float32)
    np.add.at(counts, index, shares)
    return counts


def _linspace32(first: np.float32, last: np.float32, steps: int) -> FloatArray:
    """``steps`` float32 numbers from first to last, each half counted from its own end."""
    step = (last - first) / np.float32(steps - 1)
    below, above = np.split(np.arange(steps, dtype=np.float32), [steps // 2])
    from_last = np.float32(steps - 1) - above
    return np.concatenate([fma32(step, below, first), fma32(-step, from_last, last)])


def merge_histogram(
    histogram: Histogram | None, x: Array, bins: int, upsample_rate: int
) -> Histogram:
    r"""Add a batch to a histogram, widening its range where the batch needs it.

    Equation ``eq-histogram-merge``:

    .. math::
        \begin{gathered}
        lo' = \min(lo, \min X), \quad hi' = \max(hi, \max X), \\[1ex]
        n' = rebin(n; lo', hi') + counts(X; lo', hi')
        \end{gathered}

    Parameters
    ----------
    histogram
        None before the first batch.
    x
        Finite numbers, at least one.
    bins, upsample_rate
        Number of bins, and parts in which a bin is split when the range grows.

    Examples
    --------
    >>> first = merge_histogram(None, np.float32([0, 1, 2]), 2, 16)
    >>> merge_histogram(first, np.float32([4]), 2, 16)
    Histogram(counts=array([3., 1.], dtype=float32), min_val=0.0, max_val=4.0)
    """
    x = np.asarray(x, np.float32)
    low, high = float(x.min()), float(x.max())
    if histogram is not None:
        low, high = min(low, histogram.min_val), max(high, histogram.max_val)
    counts = histogram_counts(x, bins, low, high)
    return merge_counts(histogram, Histogram(counts, low, high), upsample_rate)


def merge_counts(histogram: Histogram | None, batch: Histogram, upsample_rate: int) -> Histogram:
    """The second half of ``eq-histogram-merge``: add the counts of a batch.

    Parameters
    ----------
    histogram
        None before the first batch.
    batch
        Counts of the batch alone, over a range that holds that of ``histogram``.
    upsample_rate
        Parts in which a bin is split when the range grows.

    Examples
    --------
    >>> old = Histogram(np.float32([4, 4]), 0.0, 2.0)
    >>> merge_counts(old, Histogram(np.float32([0, 1]), 0.0, 4.0), 2)
    Histogram(counts=array([8., 1.], dtype=float32), min_val=0.0, max_val=4.0)
    """
    if histogram is None:
        return batch
    counts, low, high, bins = batch.counts, batch.min_val, batch.max_val, batch.counts.size
    if (low, high) == (histogram.min_val, histogram.max_val):
        kept = histogram.counts
    elif histogram.min_val == histogram.max_val:
        total = np.float32(histogram.counts.sum())
        kept = histogram_counts([histogram.min_val], bins, low, high) * total
    else:
        kept = rebin(histogram, low, high, upsample_rate)
    return Histogram(kept + counts, low, high)


def quantization_error(
    histogram: Histogram, first_bin: int, last_bin: int, target_bins: int
) -> float:
    r"""Expected squared error if only ``first_bin..last_bin`` is covered by the integers.

    Equation ``eq-histogram-error``:

    .. math:: E = \sum_i \frac{n_i}{w} \int_{bin_i} (x - centre(x))^2\, dx, \qquad
              \int_b^e t^2\, dt = \frac{e^3 - b^3}{3}

    The covered range is cut into ``target_bins`` steps of width :math:`w'`; ``centre(x)``
    is the middle of the step in which x lies, of the outermost step for x outside.
    A bin is assumed to be filled evenly with density :math:`n_i / w`. Widths are worked
    out in double, the terms in float32 as in torch, and their sum in double.

    Examples
    --------
    >>> histogram = Histogram(np.float32([100, 100, 100, 1]), 0.0, 4.0)
    >>> whole, narrow = [quantization_error(histogram, 0, last, 4) for last in (3, 2)]
    >>> round(float(whole), 2), round(float(narrow), 2)
    (25.08, 14.91)
    """
    bins = histogram.counts.size
    width = (histogram.max_val - histogram.min_val) / bins
    step = width * (last_bin - first_bin + 1) / target_bins
    if step == 0.0:
        return 0.0
    w, w_step, half = np.float32(width), np.float32(step), np.float32(step / 2)
    begin = (np.arange(bins) - first_bin).astype(np.float32) * w
    end = begin + w
    top = np.float32(target_bins - 1)
    # Bins of subnormal width are infinitely dense; the search then ends at once, as in torch.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        step_of_begin = np.clip(np.floor_divide(begin, w_step), 0, top)
        step_of_end = np.clip(np.floor_divide(end, w_step), 0, top)
        from_begin = begin - (step_of_begin + np.float32(0.5)) * w_step
        to_end = end - (step_of_end * w_step + half)
        whole_steps = step_of_end - step_of_begin - np.float32(1)
        density = histogram.counts / w
        error = density * _square_integral(from_begin, half)
        error += whole_steps * (density * _square_integral(-half, half))
        error += density * _square_integral(-half, to_end)
    return float(error.sum(dtype=np.float64))


def _square_integral(begin: Any, end: Any) -> Any:
    """The integral of t^2 from begin to end, in float32."""
    return (end * end * end - begin * begin * begin) / np.float32(3)


def search_range(histogram: Histogram, target_bins: int = 256) -> tuple[float, float]:
    r"""The range whose quantization error is least, found by drawing in its ends.

    Equation ``eq-histogram-search``: from the whole range on, the lower quantile
    :math:`\alpha` and the upper one :math:`\beta` are moved inwards by
    :math:`10^{-5}`; the end that skips more bins is moved there, until the error
    ``eq-histogram-error`` grows. Then

    .. math:: x_{min} = lo + w \cdot first, \qquad x_{max} = lo + w \cdot (last + 1)

    The ranges that are tried are those of :func:`candidate_ranges`.

    Returns
    -------
    The ends, float32 values.

    Examples
    --------
    >>> search_range(Histogram(np.float32([1, 1000, 1000, 1]), 0.0, 4.0), 2)
    (0.0, 3.0)
    """
    bins = histogram.counts.size
    first, last = 0, bins - 1
    for each in candidate_ranges(histogram, target_bins):
        if each.is_taken:
            first, last = each.first, each.last
    low = np.float32(histogram.min_val)
    width = (np.float32(histogram.max_val) - low) / np.float32(bins)
    return float(low + width * np.float32(first)), float(low + width * np.float32(last + 1))


class Candidate(NamedTuple):
    """A range that the search tries.

    Attributes
    ----------
    first, last
        Its bins.
    error
        Its expected squared error, ``eq-histogram-error``.
    is_taken
        Whether the error does not exceed that of the one before; the search ends where it does.

    Examples
    --------
    >>> first_tried = next(candidate_ranges(Histogram(np.float32([1, 9, 9, 1]), 0.0, 4.0), 2))
    >>> first_tried.first, first_tried.last, first_tried.is_taken
    (0, 2, True)
    """

    first: int
    last: int
    error: float
    is_taken: bool


def candidate_ranges(histogram: Histogram, target_bins: int = 256) -> Iterator[Candidate]:
    """The ranges that :func:`search_range` tries, in order.

    Steps in which no end moves are skipped in one go, so the cost is one error sum for each move.

    Examples
    --------
    >>> histogram = Histogram(np.float32([1, 1000, 1000, 1]), 0.0, 4.0)
    >>> for first, last, error, is_taken in candidate_ranges(histogram, 2):
    ...     print(first, last, round(error), is_taken)
    0 2 418 True
    0 1 1171 False
    """
    bins = histogram.counts.size
    total = float(np.sum(histogram.counts, dtype=np.float64).astype(np.float32))
    cumulative = np.cumsum(histogram.counts.astype(np.float64)).astype(np.float32)
    alphas, betas = _quantiles()
    first, last = 0, bins - 1
    a = b = 0
    least = np.inf
    while alphas[a] < betas[b] and first < last:
        from_left, from_right = np.float32(alphas[a + 1] * total), np.float32(betas[b + 1] * total)
        left = min(max(first, int(cumulative.searchsorted(from_left, "left"))), last)
        # The last bin whose cumulative count does not exceed the quantile.
        right = max(min(last, int(cumulative.searchsorted(from_right, "right")) - 1), first)
        if left - first > last - right:
            next_first, next_last = left, last
            a += 1
        else:
            next_first, next_last = first, right
            b += 1
        if (next_first, next_last) == (first, last):
            # Only beta moves until one of the ends does.
            b = _next_move(cumulative[last], betas, total, b)
            continue
        error = quantization_error(histogram, next_first, next_last, target_bins)
        is_worse = error > least
        yield Candidate(next_first, next_last, error, not is_worse)
        if is_worse:
            return
        least, first, last = error, next_first, next_last


@lru_cache(maxsize=1)
def _quantiles() -> tuple[FloatArray, FloatArray]:
    """Quantiles from below and from above by repeated addition, as they are reached by steps."""
    steps = np.full(100_002, STEP)
    alphas = np.cumsum(np.concatenate([[0.0], steps]))
    return alphas, np.subtract.accumulate(np.concatenate([[1.0], steps]))


def _next_move(up_to_last: np.float32, betas: FloatArray, total: float, b: int) -> int:
    """The step before the first one at which the upper end would be below the last bin."""

    def moves(step: int) -> bool:
        return bool(np.float32(betas[step] * total) < up_to_last)

    return min(bisect_left(range(betas.size), True, lo=b + 1, key=moves), betas.size - 1) - 1
