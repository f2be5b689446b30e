"""Histograms by every kernel against the equations."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.test_quantize import SIZES

from pyqref import _kernels
from pyqref._kernels.observe.histogram import count_and_range
from pyqref.numerics import histogram as numerics


def nothing(bins: int) -> np.ndarray:
    return np.zeros(bins, np.float32)


@pytest.mark.parametrize("bins", [1, 2, 255, 2048, 2**16 - 1, 2**16 + 1])
def test_counts_around_the_vector(kernel: str, n_threads: int, bins: int) -> None:
    """eq-histogram-bin, with numbers at the edges of bins, and the range in the same pass."""
    rng = np.random.default_rng(bins)
    for size in (*filter(None, SIZES), 255, 257, 512, 767, 769, 2**12 + 1, 2**16 + 1):
        x = rng.standard_normal(size).astype(np.float32).clip(-1.5, 2.0)
        x[::7] = rng.integers(-1, 3, len(x[::7]))
        kept = rng.integers(0, 2**24, bins).astype(np.float32) / 16
        counts, low, high = count_and_range(x, kept, -1.5, 2.0)
        assert_same_bits(kept + numerics.histogram_counts(x, bins, -1.5, 2.0), counts)
        assert (x.min(), x.max()) == (low, high)


@pytest.mark.parametrize("size", [3, 255, 2**12 + 1, 2**17 + 5])
@pytest.mark.parametrize("value", [-1.6, 2.1, -1e38, 1e38, np.inf, -np.inf, np.nan])
def test_what_lies_outside_is_in_the_range(
    kernel: str, n_threads: int, size: int, value: float
) -> None:
    """eq-min-max of the same pass, wherever the number lies that ends the counting."""
    rng = np.random.default_rng(size)
    for place in (0, size // 2, size - 1):
        x = rng.standard_normal(size).astype(np.float32).clip(-1.5, 2.0)
        x[place] = value
        _, low, high = count_and_range(x, nothing(64), -1.5, 2.0)
        assert_same_bits(x.min(), np.float32(low))
        assert_same_bits(x.max(), np.float32(high))


def test_infinities_of_both_signs_are_no_nan(kernel: str) -> None:
    x = np.float32([np.inf, -np.inf, 1] * 30)
    assert count_and_range(x, nothing(4), 0, 4)[1:] == (-np.inf, np.inf)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_batch_that_is_not_finite_says_so(kernel: str, value: float) -> None:
    first = _kernels.merge_histogram(None, np.float32([0, 1]), 4, 16)
    for before in (None, first):
        _, *ends = _kernels.merge_histogram(before, np.float32([0.5, value, 0.5]), 4, 16)
        assert not np.isfinite(ends).all()


def test_ranges_beyond_float32(kernel: str) -> None:
    """eq-histogram-bin where its product would overflow: worked out in double."""
    x = np.float32([-3e38, -1e38, 0, 3e38])
    assert count_and_range(x, nothing(6), -3e38, 3e38)[0].tolist() == [1, 0, 1, 1, 0, 1]
    assert count_and_range(x / 100, nothing(6), -3e36, 3e36)[0].tolist() == [1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("value", [5.0, 2.0**24, 1e9, -3e38, float(np.finfo(np.float32).max)])
def test_constants(kernel: str, value: float) -> None:
    """eq-histogram-bin over a range that has no width but the one that it is given."""
    x = np.full(300, value, np.float32)
    expected = actual = None
    for _ in range(2):
        expected = numerics.merge_histogram(expected, x, 64, 16)
        actual = _kernels.merge_histogram(actual, x, 64, 16)
        assert_same_bits(expected.counts, actual[0])


def test_merging_is_that_of_the_equations(kernel: str, n_threads: int) -> None:
    """eq-histogram-merge: every kernel counts to the same bits."""
    rng = np.random.default_rng(0)
    expected = actual = None
    for scale in (0, 0, 1, 3, 0, 2, 9, 9, 1):
        x = (rng.standard_normal(300) * scale).astype(np.float32)
        expected = numerics.merge_histogram(expected, x, 64, 16)
        actual = _kernels.merge_histogram(actual, x, 64, 16)
        assert_same_bits(expected.counts, actual[0])
        assert expected[1:] == actual[1:]


@pytest.mark.parametrize("kept", [np.arange(4.0), np.arange(8, dtype=np.float32)[::2]])
def test_counts_of_other_kinds_are_kept_as_float32(kernel: str, kept: np.ndarray) -> None:
    """Counts may be float64, as an observer that was made double keeps them, or have gaps."""
    counts, *_ = _kernels.merge_histogram((kept, 0.0, 4.0), np.float32([1, 4]), 4, 16)
    assert_same_bits(kept.astype(np.float32) + np.float32([0, 1, 0, 1]), counts)
