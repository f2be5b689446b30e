"""Merge the observations of several observers: histograms with other ranges, and averages."""

from __future__ import annotations

import numpy as np

from .histogram import Histogram, merge_counts

__all__ = ["union_histogram"]


def union_histogram(first: Histogram, second: Histogram, upsample_rate: int) -> Histogram:
    r"""The counts of two histograms over the range that holds both.

    Equation ``eq-histogram-union``:

    .. math:: n = rebin(n_1; lo, hi) + rebin(n_2; lo, hi), \qquad
              lo = \min(lo_1, lo_2), \quad hi = \max(hi_1, hi_2)

    with ``eq-histogram-rebin``; a histogram that has this range already keeps its counts.

    Notes
    -----
    Error bound ``eq-union-displacement``: a count is at most as far from where it was counted as
    all bins together are wide from which it was moved.

    Examples
    --------
    >>> one, two = Histogram(np.float32([4, 4]), 0.0, 2.0), Histogram(np.float32([1, 2]), 2.0, 4.0)
    >>> union_histogram(one, two, 2)
    Histogram(counts=array([8., 3.], dtype=float32), min_val=0.0, max_val=4.0)
    """
    low, high = min(first.min_val, second.min_val), max(first.max_val, second.max_val)
    nothing = Histogram(np.zeros(first.counts.size, np.float32), low, high)
    return merge_counts(second, merge_counts(first, nothing, upsample_rate), upsample_rate)
