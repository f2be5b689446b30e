"""Histograms whose range does not begin at 0, and every step of the search for a range."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from formulas.exact import f32, fma, fractions, rational

from pyqref.numerics import histogram as module
from pyqref.numerics.histogram import (
    Candidate,
    Histogram,
    candidate_ranges,
    quantization_error,
    rebin,
    search_range,
)

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(("low", "high"), [(-3.0, 5.0), (-3.5, 1.25), (-4.0, 1.0), (-3.0, 1.0)])
def test_eq_histogram_rebin__at_the_ends(low: float, high: float) -> None:
    """Midpoints in the first and in the last bin, of a range that begins below 0."""
    counts, begin, end = [16, 32, 48, 64], Fraction(-3), Fraction(1)
    expected = [Fraction(0)] * 4
    for part in range(64):
        middle = begin + (end - begin) * Fraction(2 * part + 1, 128)
        place = floor((middle - rational(low)) / (rational(high) - rational(low)) * 4)
        expected[place] += Fraction(counts[part // 16], 16)
    found = rebin(Histogram(np.float32(counts), -3.0, 1.0), low, high, 16)
    assert expected == fractions(found)


def test_eq_histogram_rebin__between_neighbours() -> None:
    """Midpoints that float32 rounds to the upper end stay in the last bin."""
    high = float(np.nextafter(np.float32(1), np.float32(2)))
    found = rebin(Histogram(np.float32([16, 16, 16, 16]), 1.0, high), 1.0, high, 16)
    assert 64 == found.sum()


@pytest.mark.parametrize("steps", [2, 3, 4, 5, 8, 17, 64])
def test_eq_histogram_rebin__ends_of_parts(steps: int) -> None:
    """The lower half of the parts is counted from the lower end, the others from the upper one."""
    for first, last in RNG.standard_normal((20, 2)).astype(np.float32):
        step = f32(f32(rational(last) - rational(first)) / (steps - 1))
        expected = [
            fma(step, Fraction(index), rational(first))
            if index < steps // 2
            else fma(-step, Fraction(steps - 1 - index), rational(last))
            for index in range(steps)
        ]
        assert expected == fractions(module._linspace32(first, last, steps))


def test_eq_histogram_error__scales_with_the_square_of_a_width() -> None:
    """Bins that are half or twice as wide cost a quarter or four times as much, to the bit."""
    counts = RNG.integers(0, 50, 16).astype(np.float32)
    whole = quantization_error(Histogram(counts, 0.0, 16.0), 2, 13, 8)
    assert whole / 4 == quantization_error(Histogram(counts, 0.0, 8.0), 2, 13, 8)
    assert whole * 4 == quantization_error(Histogram(counts, -16.0, 16.0), 2, 13, 8)


def coarse(step: float, count: int) -> tuple[list[float], list[float]]:
    """Quantiles by repeated addition."""
    alphas, betas = [0.0], [1.0]
    for _ in range(count):
        alphas.append(alphas[-1] + step)
        betas.append(betas[-1] - step)
    return alphas, betas


def test_eq_histogram_search__quantiles() -> None:
    """From 0 up and from 1 down in steps of 10^-5, until they have passed each other's start."""
    alphas, betas = module._quantiles.__wrapped__()
    expected = coarse(1e-5, alphas.size - 1)
    assert expected == (alphas.tolist(), betas.tolist())
    assert alphas[-2] > 1
    assert betas[-2] < 0


def one_by_one(histogram: Histogram, target: int, quantiles: Any) -> Iterator[Candidate]:
    """Every range that the equation tries, without a step skipped."""
    alphas, betas = quantiles
    sums = np.cumsum(histogram.counts.astype(np.float64)).astype(np.float32).tolist()
    a, b, first, last, least = 0, 0, 0, len(sums) - 1, np.inf
    while alphas[a] < betas[b]:
        left, right = first, last
        while left < last and sums[left] < np.float32(alphas[a + 1] * sums[-1]):
            left += 1
        while right > first and sums[right] > np.float32(betas[b + 1] * sums[-1]):
            right -= 1
        if left - first > last - right:
            ends, a = (left, last), a + 1
        else:
            ends, b = (first, right), b + 1
        if ends == (first, last):
            continue
        error = quantization_error(histogram, *ends, target)
        yield Candidate(*ends, error, error <= least)
        if error > least:
            return
        least, (first, last) = error, ends


@pytest.mark.parametrize("target", [1, 2, 4, 64])
def test_eq_histogram_search__every_candidate(monkeypatch: pytest.MonkeyPatch, target: int) -> None:
    """In steps of a hundredth, both ends move as the equation says, until it gets worse."""
    quantiles = coarse(0.01, 102)
    monkeypatch.setattr(module, "_quantiles", lambda: tuple(map(np.array, quantiles)))
    moved = set()
    for bins in (1, 2, 3, 8, 16, 40):
        for heavy in (0.2, 1.0, 3.0):
            counts = np.round(np.exp(heavy * RNG.standard_normal(bins)) * 4).astype(np.float32)
            for each in (counts, np.sort(counts), np.sort(counts)[::-1], np.ones_like(counts)):
                histogram = Histogram(each, -3.0, 5.0)
                expected = list(one_by_one(histogram, target, quantiles))
                assert expected == list(candidate_ranges(histogram, target))
                taken = [candidate for candidate in expected if candidate.is_taken]
                ends = (taken[-1].first, taken[-1].last) if taken else (0, bins - 1)
                low, high = (Fraction(-3) + Fraction(8, bins) * n for n in (ends[0], ends[1] + 1))
                found = search_range(histogram, target)
                # The width, a product and a sum, each rounded: numbers are at most 8.
                assert abs(rational(found[0]) - low) <= 3 * 8 * 2.0**-24
                assert abs(rational(found[1]) - high) <= 3 * 8 * 2.0**-24
                moved |= {(ends[0] > 0, ends[1] < bins - 1)}
    assert {(True, True), (False, True)} <= moved


def test_eq_histogram_search__nothing_to_draw_in() -> None:
    """One bin, and bins without counts, keep their range."""
    assert (-1.0, 3.0) == search_range(Histogram(np.float32([5]), -1.0, 3.0))
    assert (-1.0, 3.0) == search_range(Histogram(np.zeros(4, np.float32), -1.0, 3.0))


def test_eq_histogram_search__of_equal_errors_the_narrower() -> None:
    """A range that costs as much as the one before is taken: here all costs underflow to 0."""
    found = list(candidate_ranges(Histogram(np.float32([1, 2, 4, 2]), 0.0, 1e-20), 2))
    assert {(0.0, True)} == {(each.error, each.is_taken) for each in found}
    assert found[-1].first == found[-1].last


@pytest.mark.parametrize("total", [1.0, 7.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.95, 1.0])
def test_eq_histogram_search__steps_that_are_skipped(total: float, share: float) -> None:
    """The step before the first one at which the upper quantile is below the last bin."""
    betas = np.array(coarse(0.1, 11)[1])
    up_to_last = np.float32(share * total)
    for b in range(10):
        later = [n for n in range(b + 1, 12) if np.float32(betas[n] * total) < up_to_last]
        expected = (later[0] if later else 11) - 1
        assert expected == module._next_move(up_to_last, betas, total, b)
    assert 10 == module._next_move(np.float32(-9), betas, total, 3)
