"""Histograms of observed data, by the kernel in use."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import PART, dense, is_dense
from pyqref._kernels.parts import parts
from pyqref.numerics import histogram as numerics
from pyqref.numerics.histogram import Histogram
from pyqref.numerics.types import FloatArray

from .ranges import min_max

__all__ = ["count_and_range", "merge_histogram"]

#: What a Histogram has; a plain tuple, as making one with names takes a fifth of a microsecond.
Counted = tuple[FloatArray, float, float]
#: Elements of one call; the counts of a table have 31 bits.
MOST = 2**31 - 1


def count_and_range(x: FloatArray, kept: FloatArray, low: float, high: float) -> Counted:
    """Counts (``eq-histogram-bin``) and range (``eq-min-max``) of float32 ``x``, in one pass.

    Counts are added to those that are kept. If the range of ``x`` lies outside of ``low .. high``,
    they mean nothing.

    Examples
    --------
    >>> count_and_range(np.float32([0, 1, 2, 4, 4]), np.float32([5, 0, 0, 0]), 0, 4)
    (array([6., 1., 1., 2.], dtype=float32), 0.0, 4.0)
    """
    kernel = registry.twin("observe")
    ends = _ends(low, high, kept.size)
    if kernel is None or x.size > MOST or ends is None:
        counts = numerics.histogram_counts(x, kept.size, low, high)
        least, greatest = min_max(x)
        return np.asarray(kept + counts, np.float32), float(least), float(greatest)
    if x.size > PART and not is_dense(x):
        total, ranges = np.zeros(kept.size), []
        for at in parts(x, most=PART):
            some, *of_part = count_and_range(x[at], np.zeros_like(kept), low, high)
            total += some
            ranges.append(of_part)
        least, greatest = np.transpose(ranges)
        return kept + total.astype(np.float32), float(least.min()), float(greatest.max())
    first, last = ends
    counts, least, greatest = kernel.histogram(dense(x), first, last, kept, threads.limit)
    return counts, least + 0.0, greatest + 0.0


@lru_cache(maxsize=256)
def _ends(low: float, high: float, bins: int) -> tuple[float, float] | None:
    """Ends of the bins; None where float32 does not do. Kept, since most batches change nothing."""
    first, last = numerics.bin_range(low, high)
    return (float(first), float(last)) if numerics.fits_float32(first, last, bins) else None


def merge_histogram(
    histogram: Counted | None, x: FloatArray, bins: int, upsample_rate: int
) -> Counted:
    """Fast :func:`pyqref.numerics.histogram.merge_histogram` (``eq-histogram-merge``), of tuples.

    If the range that was seen holds all of ``x``, float32, as it mostly does, one pass finds that
    out and counts. Where ``x`` holds nan or infinity, so does the range, and the counts mean
    nothing.

    Examples
    --------
    >>> merge_histogram(None, np.float32([0, 1, 2, 4, 4]), 4, 16)
    (array([1., 1., 1., 2.], dtype=float32), 0.0, 4.0)
    """
    if histogram is None:
        low, high = map(float, min_max(x))
    else:
        kept, first, last = histogram
        counts, low, high = count_and_range(x, kept, first, last)
        if low >= first and high <= last:
            return counts, first, last
        # nan stays: min and max give their first operand where nothing compares.
        low, high = min(low, first), max(high, last)
    nothing = np.zeros(bins, np.float32)
    if not (isfinite(low) and isfinite(high)):
        return nothing, low, high
    counts, _, _ = count_and_range(x, nothing, low, high)
    before = None if histogram is None else Histogram(*histogram)
    merged = numerics.merge_counts(before, Histogram(counts, low, high), upsample_rate)
    return merged.counts, merged.min_val, merged.max_val
