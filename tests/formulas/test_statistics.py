"""Running ranges and histograms against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational, rne, single

from pyqref._kernels import min_max, min_max_per_channel
from pyqref._kernels.observe.one_range import fused_average_of_one
from pyqref.numerics.fused_observe import fused_average, fused_observe
from pyqref.numerics.histogram import (
    Histogram,
    histogram_counts,
    merge_histogram,
    quantization_error,
    rebin,
    search_range,
)
from pyqref.numerics.moving_average import average_range, extreme_range, moving_average

RNG = np.random.default_rng(0)


def test_eq_moving_average__steps() -> None:
    """Each of 200 steps is difference, product, sum, each rounded to float32."""
    constant, mean = 0.01, np.float32(0.3)
    for x in RNG.standard_normal(200).astype(np.float32):
        step = f32(single(constant) * f32(rational(x) - rational(mean)))
        expected = f32(rational(mean) + step)
        mean = moving_average(mean, x, constant)
        assert expected == rational(mean)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 100])
def test_eq_min_max__exact(n: int) -> None:
    """The ends are two of the numbers themselves; nan is not passed over."""
    x = RNG.standard_normal(n).astype(np.float32)
    assert (min(fractions(x)), max(fractions(x))) == tuple(map(rational, min_max(x)))
    low, high = min_max_per_channel(np.stack([x, -x]), 0)
    assert [[min(x), min(-x)], [max(x), max(-x)]] == [low.tolist(), high.tolist()]
    assert all(np.isnan(min_max(np.append(x, np.float32(np.nan)))))


def test_eq_running_range__grows() -> None:
    """The empty range becomes the first batch's, then only grows."""
    low, high = extreme_range(inf, -inf, -1.0, 2.0)
    assert (low, high) == (-1.0, 2.0)
    assert extreme_range(low, high, -3.0, 1.0) == (-3.0, 2.0)


def test_eq_average_range__first_batch() -> None:
    """The first batch is taken as it is, channel by channel."""
    low, high = average_range([inf, 0.0], [-inf, 1.0], [-1.0, -1.0], [2.0, 3.0], 0.5)
    assert (low.tolist(), high.tolist()) == ([-1.0, -0.5], [2.0, 2.0])


def test_eq_fused_average__infinite_end() -> None:
    """An infinite end is replaced, a finite one averaged."""
    assert fused_average(inf, 3.0, 0.5) == 3.0
    assert fused_average(1.0, 3.0, 0.5) == 2.0


def test_eq_fused_average__of_one() -> None:
    """Python's numbers give the results of arrays."""
    for running, batch in RNG.standard_normal((500, 2)).astype(np.float32).tolist():
        for constant in (0.0, 0.01, 0.5, 1.0):
            expected = fused_average(running, batch, constant)
            assert expected == fused_average_of_one(running, batch, constant)
        assert fused_average_of_one(-inf, batch, 0.5) == batch


def test_eq_fused_observe__double_scale() -> None:
    """The scale of the fused observer is the double quotient, rounded to float32 once."""
    state = fused_observe(inf, -inf, -1.0, 3.0, 0.01, 0, 255, symmetric=False)
    assert (state.min_val, state.max_val) == (-1.0, 3.0)
    assert (f32(Fraction(4, 255)), 64) == (rational(state.scale), state.zero_point)


def test_eq_fused_observe__symmetric() -> None:
    """max(|min| / 128, |max| / 127) where the observer has / 127.5."""
    state = fused_observe(inf, -inf, -1.0, 1.0, 0.01, -128, 127, symmetric=True)
    assert (f32(Fraction(1, 127)), 0) == (rational(state.scale), state.zero_point)


def test_eq_fused_observe__one_point() -> None:
    """One point: scale 1 and zero point 0 as documented, or what the formulas give."""
    for value, symmetric in ((0.3, True), (-5.0, False), (0.0, True)):
        state = fused_observe(inf, -inf, value, value, 0.01, -128, 127, symmetric=symmetric)
        assert (1, 0) == (rational(state.scale), state.zero_point)
    low, high = np.float32([0.3, -1.0]), np.float32([0.3, 1.0])
    state = fused_observe([inf] * 2, [-inf] * 2, low, high, 0.01, -128, 127, symmetric=True)
    assert [1, f32(Fraction(1, 127))] == [rational(each) for each in state.scale]
    state = fused_observe(inf, -inf, 0.0, 0.0, 0.01, 0, 255, symmetric=False, convention="torch")
    assert f32(Fraction(1, 10)) == rational(state.scale)


def exact_bin(x: object, bins: int, low: float, high: float) -> int:
    """The bin of one element, with every operation rounded to float32."""
    width = f32(rational(np.float32(high)) - rational(np.float32(low)))
    scaled = f32(f32(rational(x) - rational(np.float32(low))) * bins)
    return min(floor(f32(scaled / width)), bins - 1)


@pytest.mark.parametrize("bins", [1, 7, 64, 2048])
def test_eq_histogram_bin__random(bins: int) -> None:
    """Every element is counted once, in the bin of the formula; the last edge too."""
    x = RNG.standard_normal(500).astype(np.float32)
    low, high = float(x.min()), float(x.max())
    expected = [0] * bins
    for each in x:
        expected[exact_bin(each, bins, low, high)] += 1
    assert expected == histogram_counts(x, bins, low, high).tolist()


def test_eq_histogram_bin__constant_and_outside() -> None:
    """One value stands in the middle of a range of two; nan and outsiders do not count."""
    assert histogram_counts(np.full(3, 5.0), 4, 5.0, 5.0).tolist() == [0, 0, 3, 0]
    x = np.float32([np.nan, -1, 0, 4, 5, np.inf])
    assert histogram_counts(x, 4, 0.0, 4.0).tolist() == [1, 0, 0, 1]
    assert histogram_counts(np.zeros(0), 2, 0.0, 1.0).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("value", "found"),
    [(2**24, 682), (-(2**24), 1365), (2**24 + 2, 1024), (1e9, 1024), (-3e38, 1024)],
)
def test_eq_histogram_bin__constant_beyond_ones(value: float, found: int) -> None:
    """Where float32 has no number one farther, the range ends at the next one, as in torch.

    Above 2^24 it is two away, below one: a third of the range is below.
    """
    counts = histogram_counts(np.full(3, value), 2048, value, value)
    assert ([found], 3) == (np.flatnonzero(counts).tolist(), counts.sum())
    largest = float(np.finfo(np.float32).max)
    assert histogram_counts([largest], 4, largest, largest).tolist() == [0, 0, 0, 1]


def test_eq_histogram_rebin__midpoints() -> None:
    """Each of 16 parts of a bin goes to the bin of its midpoint, with 1/16 of the count."""
    old = Histogram(np.float32([16, 32, 48, 64]), 0.0, 1.0)
    expected = [Fraction(0)] * 4
    for i, count in enumerate([16, 32, 48, 64]):
        for part in range(16):
            middle = Fraction(16 * i + part, 64) + Fraction(1, 128)
            expected[floor((middle + 1) / Fraction(3) * 4)] += Fraction(count, 16)
    assert expected == fractions(rebin(old, -1.0, 2.0, 16))


def test_eq_histogram_merge__keeps_the_total() -> None:
    """Growing moves counts, and loses none: sums of 16ths are exact."""
    histogram = None
    for scale in (1, 3, 0.5, 9):
        histogram = merge_histogram(histogram, RNG.standard_normal(256) * scale, 64, 16)
    assert histogram is not None
    assert histogram.counts.sum() == 4 * 256


def test_eq_histogram_merge__constant_batches() -> None:
    """A range of one point has all its counts in the bin of that point when it grows."""
    first = merge_histogram(None, np.full(5, 1.0), 4, 16)
    assert (first.min_val, first.max_val, first.counts.sum()) == (1.0, 1.0, 5)
    second = merge_histogram(first, np.float32([0.0, 4.0]), 4, 16)
    assert second.counts.tolist() == [1, 5, 0, 1]


def exact_error(counts, first: int, last: int, target: int) -> Fraction:
    """The integral, bin by bin and step by step, over unit bins."""
    step = Fraction(last - first + 1, target)

    def centre(k: int) -> Fraction:
        return (k + Fraction(1, 2)) * step

    total = Fraction(0)
    for i, count in enumerate(counts):
        begin, end = Fraction(i - first), Fraction(i - first + 1)
        k_begin = min(max(floor(begin / step), 0), target - 1)
        k_end = min(max(floor(end / step), 0), target - 1)

        def integral(b: Fraction, e: Fraction) -> Fraction:
            return (e**3 - b**3) / 3

        part = integral(begin - centre(k_begin), step / 2)
        part += (k_end - k_begin - 1) * integral(-step / 2, step / 2)
        part += integral(-step / 2, end - centre(k_end))
        total += int(count) * part
    return total


@pytest.mark.parametrize(("first", "last"), [(0, 15), (2, 13), (5, 5), (0, 3)])
def test_eq_histogram_error__exact_integral(first: int, last: int) -> None:
    """Float32 terms of some 30 operations: within 64 units of 2**-24 of the exact sum."""
    counts = RNG.integers(0, 50, 16).astype(np.float32)
    exact = float(exact_error(counts, first, last, 8))
    actual = quantization_error(Histogram(counts, 0.0, 16.0), first, last, 8)
    assert abs(actual - exact) <= 64 * 2.0**-24 * exact


def test_eq_histogram_error__no_width() -> None:
    """A range of one point costs nothing."""
    assert quantization_error(Histogram(np.ones(4, np.float32), 1.0, 1.0), 0, 3, 256) == 0.0


def naive_search(histogram: Histogram, target: int) -> tuple[int, int]:
    """The search one quantile step at a time, without skipping."""
    counts = histogram.counts.astype(np.float64)
    total, cumulative = counts.sum(), np.cumsum(counts).astype(np.float32)
    alpha, beta, first, last, least = 0.0, 1.0, 0, counts.size - 1, inf
    while alpha < beta:
        next_alpha, next_beta = alpha + 1e-5, beta - 1e-5
        left, right = first, last
        while left < last and cumulative[left] < np.float32(next_alpha * total):
            left += 1
        while right > first and cumulative[right] > np.float32(next_beta * total):
            right -= 1
        if left - first > last - right:
            ends, alpha = (left, last), next_alpha
        else:
            ends, beta = (first, right), next_beta
        if ends == (first, last):
            continue
        error = quantization_error(histogram, *ends, target)
        if error > least:
            break
        least, (first, last) = error, ends
    return first, last


@pytest.mark.parametrize("kind", ["normal", "skewed", "outlier", "constant", "uniform"])
def test_eq_histogram_search__same_as_step_by_step(kind: str) -> None:
    """Skipping the steps in which no end moves changes nothing."""
    x = RNG.standard_normal(3000)
    data = {
        "normal": x,
        "skewed": np.exp(x),
        "outlier": np.append(x, 100.0),
        "constant": np.full(10, 3.0),
        "uniform": np.linspace(0, 1, 3000),
    }[kind].astype(np.float32)
    histogram = merge_histogram(None, data, 256, 16)
    first, last = naive_search(histogram, 256)
    width = (np.float32(histogram.max_val) - np.float32(histogram.min_val)) / np.float32(256)
    low = np.float32(histogram.min_val)
    expected = (float(low + width * np.float32(first)), float(low + width * np.float32(last + 1)))
    assert expected == search_range(histogram)


def test_eq_histogram_search__drops_the_top_bin() -> None:
    """An even histogram of 2048 bins loses its last bin: 1.0 becomes 2047/2048."""
    x = np.linspace(0, 1, 2048 * 8).astype(np.float32)
    assert search_range(merge_histogram(None, x, 2048, 16)) == (0.0, 2047 / 2048)


def test_eq_fused_observe__scale_is_rounded_first() -> None:
    """The middle of -1 .. 1 is 127.5 in double, and below it with the scale in float32."""
    state = fused_observe(inf, -inf, -1.0, 1.0, 0.01, 0, 255, symmetric=False)
    assert 255 - rne(1 / f32(Fraction(2, 255))) == state.zero_point + 1 == 128
