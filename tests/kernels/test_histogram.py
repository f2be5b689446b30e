"""Histograms by every kernel against the equations."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.test_quantize import SIZES

from pyqref import _kernels
from pyqref._kernels.observe.histogram import histogram_counts
from pyqref.numerics import histogram as numerics


@pytest.mark.parametrize("bins", [1, 2, 255, 2048, 2**16 - 1, 2**16 + 1])
def test_counts_around_the_vector(kernel: str, n_threads: int, bins: int) -> None:
    """eq-histogram-bin, with numbers outside and at the edges of bins."""
    rng = np.random.default_rng(bins)
    for size in (*SIZES, 255, 257, 2**16 + 1):
        x = rng.standard_normal(size).astype(np.float32)
        x[::7] = rng.integers(-3, 4, len(x[::7]))
        expected = numerics.histogram_counts(x, bins, -1.5, 2.0)
        assert_same_bits(expected, histogram_counts(x, bins, -1.5, 2.0))


def test_what_lies_outside_is_not_counted(kernel: str) -> None:
    x = np.float32([np.nan, np.inf, -np.inf, -1, 5, 0, 4, 2, 1e38, -0.0] * 5)
    assert histogram_counts(x, 4, 0, 4).tolist() == [10, 0, 5, 5]
    assert histogram_counts(x, 3, 2, 2).tolist() == [0, 5, 0]


def test_ranges_beyond_float32(kernel: str) -> None:
    """eq-histogram-bin where its product would overflow: worked out in double."""
    x = np.float32([-3e38, -1e38, 0, 3e38])
    assert histogram_counts(x, 6, -3e38, 3e38).tolist() == [1, 0, 1, 1, 0, 1]
    assert histogram_counts(x / 100, 6, -3e36, 3e36).tolist() == [1, 0, 1, 1, 0, 1]


def test_merging_is_that_of_the_equations(kernel: str) -> None:
    """eq-histogram-merge: the same bits whoever counts."""
    rng = np.random.default_rng(0)
    expected = actual = None
    for scale in (1, 3, 0, 2, 9):
        x = (rng.standard_normal(300) * scale).astype(np.float32)
        expected = numerics.merge_histogram(expected, x, 64, 16)
        low, high = float(x.min()), float(x.max())
        actual = _kernels.merge_histogram(actual, x, low, high, 64, 16)
        assert_same_bits(expected.counts, actual.counts)
        assert (expected.min_val, expected.max_val) == (actual.min_val, actual.max_val)
