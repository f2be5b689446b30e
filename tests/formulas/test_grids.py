"""Histograms on nested and on widening grids, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational, single
from hypothesis import given, settings
from hypothesis import strategies as st

from pyqref.numerics import widening_histogram
from pyqref.numerics.nested_histogram import (
    EMPTY,
    join_bins,
    join_histograms,
    nested_bins,
    nested_counts,
    nested_edges,
    nested_exponent,
)
from pyqref.numerics.widening_histogram import (
    TooManyBinsError,
    WideningHistogram,
    edge_counts,
    uniform_edges,
    widen_magnitudes,
    widen_values,
)

RNG = np.random.default_rng(0)
NUMBERS = np.float32([0.0, 1e-45, -1e-45, 1.0, np.nextafter(np.float32(1), 2), -8.0, 3e38, -0.3])
numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1)


@pytest.mark.parametrize("bins", [4, 12, 16, 2048])
def test_eq_nested_exponent__least(bins: int) -> None:
    """The number lies within the grid of this exponent, and not within that of one less."""
    largest = np.abs(NUMBERS)
    for number, exponent in zip(
        fractions(largest), nested_exponent(largest, bins).tolist(), strict=True
    ):
        if number == 0:
            assert exponent == EMPTY
            continue
        assert number < Fraction(bins, 2) * Fraction(2) ** exponent
        assert number >= Fraction(bins, 2) * Fraction(2) ** (exponent - 1)


def test_eq_nested_bin__floor() -> None:
    """The floor of the exact quotient, also of the smallest float32."""
    for exponent in (-160, -3, 0, 100):
        inside = NUMBERS[np.abs(NUMBERS) < np.ldexp(8.0, exponent)]
        expected = [floor(each / Fraction(2) ** exponent) + 8 for each in fractions(inside)]
        assert expected == nested_bins(inside, exponent, 16).tolist()


@settings(max_examples=60)
@given(data=numbers, steps=st.integers(0, 12))
def test_eq_nested_join__counts_of_the_wider_grid(data: list[float], steps: int) -> None:
    """Joined counts equal those that the wider grid would have counted."""
    row = np.float32(data)[None]
    narrow = nested_counts(row, 16)
    if narrow.exponents[0] == EMPTY:
        return
    wide = nested_counts(row, 16, narrow.exponents + steps)
    assert wide.counts[0].tolist() == join_bins(narrow.counts[0], steps).tolist()
    assert len(data) == narrow.counts.sum()


@settings(max_examples=60)
@given(parts=st.lists(numbers, min_size=2, max_size=4))
def test_eq_nested_merge__any_order(parts: list[list[float]]) -> None:
    """Merged in either order, the parts are the whole."""
    whole = nested_counts(np.float32([[number for part in parts for number in part]]), 16)
    each = [nested_counts(np.float32([part]), 16) for part in parts]
    for order in (each, each[::-1]):
        merged = order[0]
        for other in order[1:]:
            merged = join_histograms(merged, other)
        assert whole.counts.tolist() == merged.counts.tolist()
        assert whole.exponents.tolist() == merged.exponents.tolist()
    edges = nested_edges(int(whole.exponents[0]), 16)
    assert fractions(edges) == [k * rational(edges[9]) for k in range(-8, 9)]


@pytest.mark.parametrize("ends", [(-1.3, 2.7), (0.1, 0.2), (5.0, 5.0)])
def test_eq_uniform_edges__steps(ends: tuple[float, float]) -> None:
    """Product and sum are rounded one after the other, and the last edge is the end."""
    low, high = map(np.float32, ends)
    a, b = rational(low), rational(high)
    if a == b:
        a, b = a - Fraction(1, 2), b + Fraction(1, 2)
    width = f32(f32(b - a) / 7)
    expected = [f32(f32(i * width) + a) for i in range(7)] + [b]
    assert expected == fractions(uniform_edges(low, high, 7))


def test_eq_edge_bin__by_search() -> None:
    """Each number is counted between its two edges, also where they are unevenly spaced."""
    edges = np.sort(RNG.standard_normal(33)).astype(np.float32)
    x = np.concatenate([edges, RNG.standard_normal(300).astype(np.float32)])
    expected = [0] * 32
    for number in x:
        inside = [i for i in range(32) if edges[i] <= number < edges[i + 1]]
        if number == edges[-1]:
            inside = [31]
        for i in inside:
            expected[i] += 1
    assert expected == edge_counts(x, edges).tolist()


def test_eq_widen_values__adds_bins_on_both_sides() -> None:
    """The number of new bins and the threshold, step by step in float32; old counts stay."""
    first = widen_values(None, np.float32([-1.1, 0.4, 1.0]), 8)
    merged = widen_values(first, np.float32([2.2, -0.1]), 8)
    t, reach = single(1.1), single(2.2)
    width = f32(2 * t / 8)
    more = floor(f32(reach - t) / width) + 1
    threshold = f32(f32(more * width) + t)
    assert 8 + 2 * more == merged.counts.size
    assert (-threshold, threshold) == (rational(merged.edges[0]), rational(merged.edges[-1]))
    assert 5 == merged.counts.sum()
    zeros = widen_values(None, np.zeros(3, np.float32), 8)
    assert 8 == widen_values(zeros, np.float32([2.0]), 8).counts.size


def test_eq_widen_magnitudes__adds_edges_above() -> None:
    """The new edges, step by step; magnitudes below the first edge are not counted."""
    first = widen_magnitudes(None, np.float32([-0.5, 1.0]), 4)
    merged = widen_magnitudes(first, np.float32([2.3, 0.1]), 4)
    width = f32(single(first.edges[1]) - single(first.edges[0]))
    begin, stop = f32(1 + width), f32(single(2.3) + width)
    step = f32(begin + width) - begin
    added = [f32(begin + i * step) for i in range(ceil(f32(f32(stop - begin) / width)))]
    assert [*fractions(first.edges), *added] == fractions(merged.edges)
    assert 3 == merged.counts.sum()
    assert isinstance(merged, WideningHistogram)


@pytest.mark.parametrize("exponent", [-1200, EMPTY, -7, 0, 9])
def test_eq_nested_bin__edges(exponent: int) -> None:
    """Every edge is the first number of its bin; a grid of zeros alone has edges too."""
    edges = nested_edges(exponent, 12)
    assert (np.diff(edges) > 0).all()
    assert edges[6] == 0
    if exponent > -1000:
        assert [Fraction(2) ** exponent * k for k in range(-6, 7)] == fractions(edges)
        assert list(range(12)) == nested_bins(edges[:-1], exponent, 12).tolist()


@pytest.mark.parametrize("mantissa", [0.5, 0.65, 0.75, 0.8, 0.999])
@pytest.mark.parametrize("bins", [4, 12, 20, 24, 28])
def test_eq_nested_exponent__halves(bins: int, mantissa: float) -> None:
    """Numbers beside each power of two, for numbers of bins that are no powers."""
    for power in (-3, 0, 5):
        number = rational(np.ldexp(mantissa, power))
        exponent = int(nested_exponent(np.float64([number]), bins)[0])
        half = Fraction(bins, 2) * Fraction(2) ** exponent
        assert half / 2 <= number < half


def test_eq_widen_values__within_the_threshold() -> None:
    """Numbers up to the threshold add to the counts, and the edges stay, also at 0.5."""
    first = widen_values(None, np.float32([-0.5, 0.3, 0.3]), 4)
    second = widen_values(first, np.float32([0.5, -0.5, 0.1]), 4)
    assert ([1, 0, 0, 2], [2, 0, 1, 3]) == (first.counts.tolist(), second.counts.tolist())
    third = widen_values(second, np.float32([0.2]), 4)
    for each in (first, second, third):
        assert [-0.5, -0.25, 0, 0.25, 0.5] == each.edges.tolist()


@pytest.mark.parametrize("reach", [0.25, 2.0])
def test_eq_widen_values__after_zeros(reach: float) -> None:
    """Zeros have no threshold: they stay in their bin, and the next batch fixes the edges."""
    zeros = widen_values(widen_values(None, np.zeros(3, np.float32), 4), np.zeros(2, np.float32), 4)
    assert [0, 0, 5, 0] == zeros.counts.tolist()
    found = widen_values(zeros, np.float32([reach]), 4)
    assert [0, 0, 5, 1] == found.counts.tolist()
    assert [k * reach / 2 for k in range(-2, 3)] == found.edges.tolist()


def test_too_many_bins__one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many bins as are allowed are made, on both sides or above, and not one more."""
    monkeypatch.setattr(widening_histogram, "MOST_BINS", 8)
    values = widen_values(None, np.float32([-1.0]), 4)
    assert 8 == widen_values(values, np.float32([1.9]), 4).counts.size
    with pytest.raises(TooManyBinsError) as error:
        widen_values(values, np.float32([2.0]), 4)
    assert 10 == error.value.bins
    magnitudes = widen_magnitudes(None, np.float32([0.0, 1.0]), 4)
    assert 8 == widen_magnitudes(magnitudes, np.float32([2.0]), 4).counts.size
    with pytest.raises(TooManyBinsError) as error:
        widen_magnitudes(magnitudes, np.float32([2.25]), 4)
    assert 9 == error.value.bins


def test_eq_widen_magnitudes__too_near_for_an_edge() -> None:
    """A magnitude that float32 cannot tell from the last edge, a width on, adds no edge."""
    first = widen_magnitudes(None, np.float32([0.0, 1.0]), 1)
    above = np.nextafter(np.float32(1), np.float32(2))
    found = widen_magnitudes(first, np.float32([above, 0.5]), 1)
    assert ([3], [0, 1]) == (found.counts.tolist(), found.edges.tolist())
