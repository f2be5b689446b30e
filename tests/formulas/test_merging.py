"""Histograms that are merged over a wider range: exact counts, and how far they move."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pyqref.numerics.histogram import Histogram, merge_histogram, rebin
from pyqref.numerics.merging import union_histogram

#: Edges are float32 products and sums of numbers up to the largest magnitude.
EDGE = 2.0**-22
parts = st.lists(
    st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=12), min_size=2, max_size=5
)


def merged(data: list[list[float]], bins: int) -> Histogram:
    """Each part counted by itself, and all merged from the left."""
    each = [merge_histogram(None, np.float32(part), bins, 16) for part in data]
    total = each[0]
    for other in each[1:]:
        total = union_histogram(total, other, 16)
    return total


def test_eq_histogram_union__is_two_rebins() -> None:
    """The counts of both after rebinning, added."""
    first = Histogram(np.float32([1, 2, 3, 4]), -1.0, 3.0)
    second = Histogram(np.float32([5, 6, 7, 8]), 0.0, 6.0)
    found = union_histogram(first, second, 16)
    assert (-1.0, 6.0) == (found.min_val, found.max_val)
    expected = rebin(first, -1.0, 6.0, 16) + rebin(second, -1.0, 6.0, 16)
    assert expected.tolist() == found.counts.tolist()


@settings(max_examples=150)
@given(data=parts, bins=st.sampled_from([4, 16, 256]))
def test_eq_union_displacement__bounds_every_count(data: list[list[float]], bins: int) -> None:
    """No count is lost; below any t lie as many as the bound allows."""
    total = merged(data, bins)
    x = np.sort(np.float32([number for part in data for number in part])).astype(float)
    assert x.size == total.counts.sum()
    assert (x[0], x[-1]) == (total.min_val, total.max_val)
    low, high = total.min_val, total.max_val
    if low == high:
        return
    # A part without width was counted over a range of two.
    width = max((high - low) / bins, 2 / bins if high - low < 2 else 0)
    distance = width * len(data) + EDGE * max(abs(low), abs(high))
    ends = low + (high - low) / bins * np.arange(1, bins + 1)
    for t in x:
        below = (x <= t).sum()
        assert total.counts[ends <= t - distance].sum() <= below + 1e-3
        assert below <= total.counts[ends <= t + distance].sum() + 1e-3
