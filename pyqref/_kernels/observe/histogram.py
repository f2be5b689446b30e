"""Histograms of observed data, by the kernel in use."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import histogram as numerics
from pyqref.numerics.histogram import Histogram
from pyqref.numerics.types import FloatArray

__all__ = ["histogram_counts", "merge_histogram"]

#: Elements of one call; the counts of a table have 31 bits.
MOST = 2**31 - 1


def histogram_counts(x: Any, bins: int, low: float, high: float) -> FloatArray:
    """How many elements fall in each bin: twin of :func:`.numerics.histogram.histogram_counts`.

    Examples
    --------
    >>> histogram_counts(np.float32([0, 1, 2, 4, 4]), 4, 0, 4)
    array([1., 1., 1., 2.], dtype=float32)
    """
    kernel = registry.twin("observe")
    x = np.asarray(x, np.float32)
    first, last = numerics.bin_range(low, high)
    if kernel is None or x.size > MOST or not numerics.fits_float32(first, last, bins):
        return numerics.histogram_counts(x, bins, low, high)
    counts = np.empty(bins, np.float32)
    kernel.histogram(contiguous(x), first, last, counts, threads.get_num_threads())
    return counts


def merge_histogram(
    histogram: Histogram | None, x: Any, low: float, high: float, bins: int, upsample_rate: int
) -> Histogram:
    """Add a batch to a histogram: twin of :func:`.numerics.histogram.merge_histogram`.

    Parameters
    ----------
    histogram
        None before the first batch.
    x
        float32 numbers, at least one.
    low, high
        Smallest and largest of ``x``, finite.
    bins, upsample_rate
        Number of bins, and parts in which a bin is split when the range grows.

    Examples
    --------
    >>> merge_histogram(None, np.float32([0, 1, 2, 4, 4]), 0.0, 4.0, 4, 16).counts
    array([1., 1., 1., 2.], dtype=float32)
    """
    if histogram is not None:
        low, high = min(low, histogram.min_val), max(high, histogram.max_val)
    counts = histogram_counts(x, bins, low, high)
    return numerics.merge_counts(histogram, Histogram(counts, low, high), upsample_rate)
