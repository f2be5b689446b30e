"""Ranges from counts, rounded scales, learned ranges: against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor, log

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational, rne, single

from pyqref.numerics.entropy_range import (
    EntropyRules,
    entropy_bins,
    flattened_zero,
    kl_divergence,
    quantized_distribution,
    smoothed_distribution,
)
from pyqref.numerics.learned_range import (
    lsq_scale,
    magnitude_sums,
    pact_clip,
    pact_gradient,
    power_of_two_scale,
    power_of_two_zero_point,
)
from pyqref.numerics.percentile_range import (
    fold_magnitudes,
    percentile_range,
    percentile_threshold,
)
from pyqref.numerics.squared_error_range import (
    _in_lanes,
    golden_section,
    grid_search,
    staircase_error,
)

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 50, 16)
COUNTS[7] += 512 - COUNTS.sum()  # shares of a power of two are exact
EVEN = EntropyRules(True, 4, "empty", 0.0, "even", False)
LAST = EntropyRules(False, 4, "filled", 1e-4, "last", True)
#: Two roundings for each share and one for each sum of at most 64 terms, in float32; the logarithm
#: is within a unit in the last place. Terms of a divergence are below 4.
DIVERGENCE_ERROR = 4 * 64 * 4 * 2.0**-24


def test_eq_fold_magnitudes__exact() -> None:
    """Every count goes to the bin of its magnitude, and none is lost."""
    expected = [int(COUNTS[8 + j] + COUNTS[7 - j]) for j in range(8)]
    assert expected == fold_magnitudes(COUNTS).tolist()


def smallest_reaching(counts: np.ndarray, share: Fraction) -> int:
    """Index of the first bin at which the share of the data is reached."""
    seen = Fraction(0)
    for index, count in enumerate(counts.tolist()):
        seen += Fraction(count, int(counts.sum()))
        if seen >= share:
            return index
    return counts.size - 1


@pytest.mark.parametrize("percentile", [100, 99.0, 90.5, 50.0, 1.0])
@pytest.mark.parametrize("whole_bin", [True, False])
def test_eq_percentile_range__exact(percentile: float, whole_bin: bool) -> None:
    """The bins in which both shares are reached, by fractions."""
    edges = np.arange(17.0)
    cut = (100 - Fraction(percentile)) / 200
    first = smallest_reaching(COUNTS, cut)
    last = smallest_reaching(COUNTS, 1 - cut) + whole_bin
    assert (first, last) == percentile_range(COUNTS, edges, percentile, whole_bin=whole_bin)


@pytest.mark.parametrize("percentile", [100, 99.0, 90.5, 50.0, 1.0])
@pytest.mark.parametrize("whole_bin", [True, False])
def test_eq_percentile_threshold__exact(percentile: float, whole_bin: bool) -> None:
    """The bin in which the share of magnitudes is reached, by fractions."""
    last = smallest_reaching(COUNTS, Fraction(percentile) / 100) + whole_bin
    found = percentile_threshold(COUNTS, np.arange(17.0), percentile, whole_bin=whole_bin)
    assert last == found


@pytest.mark.parametrize("rules", [EVEN, LAST])
@pytest.mark.parametrize("size", [4, 5, 7, 8, 13])
def test_eq_quantized_distribution__by_definition(rules: EntropyRules, size: int) -> None:
    """Bin by bin as the equation is written."""
    counts = RNG.integers(0, 3, size)
    has_data = counts > 0
    levels, width = rules.quantized_bins, size // rules.quantized_bins
    level = (
        [i * levels // size for i in range(size)]
        if rules.remainder == "even"
        else [min(i // width, levels - 1) for i in range(size)]
    )
    within = size if rules.remainder == "even" else width * levels
    expected = []
    for i in range(size):
        total = sum(int(counts[j]) for j in range(size) if level[j] == level[i])
        filled = sum(1 for j in range(within) if level[j] == level[i] and has_data[j])
        share = Fraction(total, filled) if filled and i < within else Fraction(0)
        if rules.whole_counts:
            share = Fraction(floor(share))
        expected.append(0.0 if rules.zero_bins == "empty" and not has_data[i] else float(share))
    assert expected == quantized_distribution(counts, has_data, rules).tolist()


def test_eq_flattened_zero__others_stay() -> None:
    """Only the bin of zero changes."""
    flat = flattened_zero(COUNTS, 8)
    assert flat[8] == COUNTS[9]
    assert np.delete(COUNTS, 8).tolist() == np.delete(flat, 8).tolist()


def test_eq_smoothed_distribution__keeps_the_sum() -> None:
    """The share of empty bins is taken from the others, in float32."""
    counts, smoothing = np.array([0, 5, 3, 0, 2]), 1e-4
    less = single(-(smoothing * 2.0 / 3.0))
    expected = [single(smoothing) if count == 0 else f32(count + less) for count in counts.tolist()]
    assert expected == fractions(smoothed_distribution(counts, smoothing))
    assert smoothed_distribution(np.zeros(3, int), smoothing) is None


def test_eq_kl_divergence__against_doubles() -> None:
    """Within DIVERGENCE_ERROR of the sum in double; infinite where something is impossible."""
    p, q = RNG.random(64, np.float32) + np.float32(0.1), RNG.random(64, np.float32) + 0.1
    q = q.astype(np.float32)
    exact = sum(
        a / p.sum(dtype=float) * log(a / p.sum(dtype=float) / (b / q.sum(dtype=float)))
        for a, b in zip(p.tolist(), q.tolist(), strict=True)
    )
    assert abs(exact - kl_divergence(p, q)) <= DIVERGENCE_ERROR
    assert float("inf") == kl_divergence(np.float32([1, 1]), np.float32([1, 0]))


@pytest.mark.parametrize("rules", [EVEN, EVEN._replace(smoothing=1e-4), LAST])
def test_eq_entropy_range__is_the_least(rules: EntropyRules) -> None:
    """No candidate has a smaller divergence, and of equal ones the narrowest is taken."""
    counts = np.array([1, 0, 2, 9, 20, 31, 60, 64, 60, 33, 20, 11, 3, 0, 0, 1])

    def divergence(first: int, after: int) -> float:
        p = counts[first:after].copy()
        p[0] += counts[:first].sum()
        p[-1] += counts[after:].sum()
        q = quantized_distribution(counts[first:after], p != 0, rules)
        smooth = [smoothed_distribution(each, rules.smoothing) for each in (p, q)]
        return kl_divergence(*smooth)  # type: ignore[arg-type]

    if rules.symmetric:
        candidates = [(0, after) for after in range(4, 17)]
    else:
        candidates = [(8 - i, min(9 + i, 16)) for i in range(2, 9)]
    expected = min(candidates, key=lambda each: (divergence(*each), each[1] - each[0]))
    assert expected == entropy_bins(counts, rules)


@pytest.mark.parametrize("inner", [(-0.75, 2.5), (-0.3, 1.7), (0.6, 3.1)])
def test_eq_staircase_error__integral_by_pieces(inner: tuple[float, float]) -> None:
    """The integral of the squared error, split at every edge and at every middle of two steps."""
    counts, edges = np.array([[3, 5, 7]]), np.array([[-3.0, *inner, 9.0]])
    scale, zero_point, low, high = Fraction(3, 4), 2, 0, 7

    def integral(begin: Fraction, end: Fraction) -> Fraction:
        cuts = {begin, end} | {(Fraction(2 * k + 1, 2) - zero_point) * scale for k in range(7)}
        inside = sorted(each for each in cuts if begin <= each <= end)
        total = Fraction(0)
        for a, b in pairwise(inside):
            k = min(max(rne((a + b) / 2 / scale + zero_point), low), high)
            centre = scale * (k - zero_point)
            total += ((b - centre) ** 3 - (a - centre) ** 3) / 3
        return total

    ends = fractions(edges[0])
    exact = sum(
        count * integral(a, b) / (b - a)
        for count, a, b in zip([3, 5, 7], ends, ends[1:], strict=False)
    )
    found = staircase_error(counts, edges, np.array([0.75]), np.array([zero_point]), low, high)
    # About twenty operations in double on numbers up to a hundred.
    assert abs(exact - rational(found[0])) <= 20 * 100 * 2.0**-53 * 15


def test_eq_grid_search__the_best_of_all() -> None:
    """The least error, and of equal ones the largest share; each row by itself."""
    best = np.array([0.25, 0.8])
    assert [0.25, 0.8] == grid_search(lambda share: (share - best) ** 2, 2, 20).tolist()
    assert [1.0] == grid_search(lambda share: 0 * share, 1, 20).tolist()


def test_eq_golden_section__shrinks_by_the_golden_ratio() -> None:
    """After n steps the minimum is within half of phi ** n, for each row."""
    best = np.array([0.1234, 0.77])
    for steps in (1, 8, 16):
        found = golden_section(lambda share: (share - best) ** 2, 2, steps)
        assert (np.abs(found - best) <= 0.6180339887498949**steps / 2 + 1e-15).all()
    assert [1.0] == golden_section(lambda share: -share, 1, 5).tolist()


@pytest.mark.parametrize("rounding", ["up", "nearest"])
def test_eq_power_of_two_scale__neighbours(rounding: str) -> None:
    """Powers stay; others go up, or to the nearer of both neighbours, by fractions."""
    powers = [2.0**each for each in (-149, -126, -7, 0, 9)]
    scales = np.float32([*powers, *RNG.random(200) * 4, 0.75, np.nextafter(np.float32(0.75), 0)])
    found = power_of_two_scale(scales, rounding)  # type: ignore[arg-type]
    for scale, power in zip(fractions(scales), fractions(found), strict=True):
        assert power.numerator == 1 or power.denominator == 1
        if rounding == "up":
            assert power / 2 < scale <= power
        else:
            assert Fraction(3, 4) * power <= scale < Fraction(3, 2) * power


def test_eq_power_of_two_zero_point__exact() -> None:
    """The rounded quotient of the lower end, saturated."""
    low, scale = np.float32([-1.3, -0.5, 2.0, -9e9]), np.float32([0.25, 1.0, 0.5, 0.5])
    expected = [
        min(max(-rne(min(a, Fraction(0)) / b), 0), 255)
        for a, b in zip(fractions(low), fractions(scale), strict=True)
    ]
    assert expected == power_of_two_zero_point(low, scale, 0, 255).tolist()


def test_eq_magnitude_sum__exact() -> None:
    """Multiples of 1/8, whose sums double holds, in rows that end beside a part and a lane."""
    for size in (1, 17, 2**15 + 15):
        rows = (RNG.integers(-999, 999, (2, size)) / 8).astype(np.float32)
        expected = [sum(map(abs, fractions(row))) for row in rows]
        assert expected == fractions(magnitude_sums(rows))


def test_eq_lsq_scale__rounded_once() -> None:
    """Within half a unit of float32 and two of double of the exact quotient, squared."""
    mean = Fraction(37, 16)
    found = rational(lsq_scale(np.array([float(mean)]), 127)[0])
    exact_square = 4 * mean**2 / 127
    assert abs(found**2 / exact_square - 1) <= 2 * (Fraction(1, 2**24) + Fraction(1, 2**50))


def test_eq_pact_clip__both_forms() -> None:
    """The clip equals half of |x| - |x - alpha| + alpha."""
    x = np.float32([-3, -0.0, 0.5, 6, 6.5])
    expected = [(abs(each) - abs(each - 6) + 6) / 2 for each in fractions(x)]
    assert expected == fractions(pact_clip(x, 6.0))


def test_eq_pact_gradient__by_cases() -> None:
    """Numbers between pass their gradient on; numbers at or above the level give it to that."""
    x, gradient = np.float32([-1, 0, 0.5, 6, 7]), np.float32([1, 2, 4, 8, 16])
    of_x, of_level = pact_gradient(x, 6.0, gradient)
    assert [0, 0, 4, 0, 0] == of_x.tolist()
    assert [24] == of_level.tolist()


def test_eq_percentile_range__beside_the_share() -> None:
    """The share is reached in the next bin if a bin ends a little below it."""
    counts = np.array([249, 502, 249])
    assert (1.0, 2.0) == percentile_range(counts, np.arange(4.0), 50.0)
    assert 2.0 == percentile_threshold(np.array([985, 15]), np.arange(3.0), 99.0)


def test_eq_percentile_range__shares_that_miss_one() -> None:
    """Six sixths are less than 1 in double; the range ends at the last edge all the same."""
    counts, edges = np.ones(6, int), np.arange(7.0)
    assert np.cumsum(counts / 6)[-1] < 1
    for whole_bin in (False, True):
        assert (0.0, 6.0) == percentile_range(counts, edges, 100.0, whole_bin=whole_bin)
        assert 6.0 == percentile_threshold(counts, edges, 100.0, whole_bin=whole_bin)


@pytest.mark.parametrize("size", [1, 4, 7, 8, 9, 15, 17, 72])
def test_eq_staircase_error__lanes(size: int) -> None:
    """Term i in lane i mod 8, from left to right; then the second half to the first one."""
    for terms, found in zip(rows := RNG.standard_normal((2, size)), _in_lanes(rows), strict=True):
        lanes = [0.0] * 8
        for index, term in enumerate(terms.tolist()):
            lanes[index % 8] += term
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [a + b for a, b in zip(lanes[:half], lanes[half:], strict=True)]
        assert lanes[0] == found


def test_eq_grid_search__the_least_share() -> None:
    """One step of all is a share too."""
    assert [0.05] == grid_search(lambda share: share, 1, 20).tolist()


def test_eq_golden_section__of_equal_errors() -> None:
    """The interval keeps its right part; and a whole range that is no worse is taken."""
    # The points of the first step are as far from a half as each other.
    found = golden_section(lambda share: (share - 0.5) ** 2, 1, 1)
    assert 0.69 < found[0] < 0.7
    assert [1.0] == golden_section(lambda share: 0 * share, 1, 3).tolist()
