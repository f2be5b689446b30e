"""Histograms of observed data, by the kernel in use."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.arrays import dense
from pyqref._kernels.layout import PART, is_dense
from pyqref._kernels.parts import parts
from pyqref.numerics import histogram as numerics
from pyqref.numerics.histogram import Histogram
from pyqref.numerics.types import FloatArray

from .ranges import min_max

__all__ = ["batch_histogram", "count_and_range"]

#: Elements of one call; the counts of a table have 31 bits.
MOST = 2**31 - 1


def count_and_range(x: Any, bins: int, low: float, high: float) -> tuple[FloatArray, float, float]:
    """Counts (``eq-histogram-bin``) and range (``eq-min-max``) of float32 ``x``, in one pass.

    If the range of ``x`` lies outside of ``low .. high``, the counts mean nothing.

    Examples
    --------
    >>> count_and_range(np.float32([0, 1, 2, 4, 4]), 4, 0, 4)
    (array([1., 1., 1., 2.], dtype=float32), 0.0, 4.0)
    """
    kernel = registry.twin("observe")
    ends = _ends(low, high, bins)
    if kernel is None or x.size > MOST or ends is None:
        least, greatest = min_max(x)
        return numerics.histogram_counts(x, bins, low, high), float(least), float(greatest)
    if x.size > PART and not is_dense(x):
        total, ranges = np.zeros(bins), []
        for at in parts(x, most=PART):
            some, *of_part = count_and_range(x[at], bins, low, high)
            total += some
            ranges.append(of_part)
        least, greatest = np.transpose(ranges)
        return total.astype(np.float32), float(least.min()), float(greatest.max())
    counts = np.empty(bins, np.float32)
    least, greatest = kernel.histogram(dense(x), *ends, counts, threads.limit)
    return counts, least + 0.0, greatest + 0.0


@lru_cache(maxsize=256)
def _ends(low: float, high: float, bins: int) -> tuple[float, float] | None:
    """Ends of the bins; None where float32 does not do. Kept, since most batches change nothing."""
    first, last = numerics.bin_range(low, high)
    return (float(first), float(last)) if numerics.fits_float32(first, last, bins) else None


def batch_histogram(before: Histogram | None, x: Any, bins: int) -> Histogram:
    """Counts of a batch: what ``eq-histogram-merge`` adds to a histogram.

    They stand over the range of ``before`` (None before the first batch), widened to ``x``. If it
    holds all of ``x``, as it mostly does, one pass finds that out and counts.

    Parameters
    ----------
    before
        What was seen, with ``bins`` bins.
    x
        Numbers, at least one.
    bins
        Number of bins.

    Returns
    -------
    The counts. Where ``x`` holds nan or infinity, so does the range, and the counts mean nothing.

    Examples
    --------
    >>> batch_histogram(None, [0, 1, 2, 4, 4], 4)
    Histogram(counts=array([1., 1., 1., 2.], dtype=float32), min_val=0.0, max_val=4.0)
    """
    x = np.asarray(x, np.float32)
    if before is None:
        low, high = map(float, min_max(x))
    else:
        counts, low, high = count_and_range(x, bins, before.min_val, before.max_val)
        if low >= before.min_val and high <= before.max_val:
            return Histogram(counts, before.min_val, before.max_val)
        # nan stays: min and max give their first operand where nothing compares.
        low, high = min(low, before.min_val), max(high, before.max_val)
    if not (isfinite(low) and isfinite(high)):
        return Histogram(np.zeros(bins, np.float32), low, high)
    counts, _, _ = count_and_range(x, bins, low, high)
    return Histogram(counts, low, high)
