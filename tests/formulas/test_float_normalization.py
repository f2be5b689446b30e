"""Normalization of rows of floats against rational arithmetic."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import fractions

from pyqref.numerics import float_normalization as numerics

U = Fraction(1, 2**24)
CONTEXT = Context(prec=40)
RNG = np.random.default_rng(5)
X = RNG.normal([[0], [2], [-7]], 1, (3, 301)).astype(np.float32)
G = RNG.standard_normal(X.shape).astype(np.float32)
WEIGHT, BIAS = RNG.uniform(-2, 2, (2, X.shape[1])).astype(np.float32)
EPS = Fraction(1, 2**10)
#: Roundings that a number takes part in until its sum is one of doubles.
SUM_BOUND = 8


def mean(x: list[Fraction]) -> Fraction:
    return sum(x, Fraction(0)) / len(x)


def factor_of(variance: Fraction) -> Fraction:
    v = variance + EPS
    root = CONTEXT.divide(Decimal(v.numerator), Decimal(v.denominator)).sqrt(CONTEXT)
    return 1 / Fraction(root)


def test_eq_sum_of_blocks__fractions() -> None:
    """Within eight roundings of float32 of the exact sum of each row."""
    for row, total in zip(X, numerics.sum_of_blocks(X)[:, 0], strict=True):
        exact = fractions(row)
        bound = SUM_BOUND * U * sum(map(abs, exact))
        assert abs(Fraction(float(total)) - sum(exact)) <= bound


def test_eq_sum_of_blocks__long_rows_keep_digits() -> None:
    """A million numbers: sums of float32 alone would be off by thousands of roundings."""
    x = np.full((1, 1 << 20), 0.1, np.float32)
    exact = float(np.float32(0.1)) * (1 << 20)
    assert abs(numerics.sum_of_blocks(x)[0, 0] - exact) <= SUM_BOUND * 2**-24 * exact


def test_eq_float_total__fractions() -> None:
    """Sums and means are S over their count, which is rounded once."""
    for count in (1, X.shape[1]):
        for total, sum_ in zip(
            numerics.totals_of_rows(X, count), numerics.sum_of_blocks(X)[:, 0], strict=True
        ):
            exact = Fraction(float(sum_)) / count
            assert abs(Fraction(float(total)) - exact) <= U * abs(exact) * (1 + 2 * U)
    assert np.isnan(numerics.totals_of_rows(np.zeros((2, 0), np.float32), 0)).all()


def test_eq_float_column_total__fractions() -> None:
    """Sums over a middle axis are exact but for their last rounding, and that of a few doubles."""
    x = RNG.normal(3, 1, (2, 500, 3)).astype(np.float32)
    for group, sums in zip(x, numerics.totals_of_columns(x), strict=True):
        for column, y in zip(group.T, sums, strict=True):
            exact = sum(fractions(column))
            assert abs(Fraction(float(y)) - exact) <= U * abs(exact) * (1 + U)


def test_eq_float_norm_moments__fractions() -> None:
    for row, center, variance in zip(X, *numerics.moments_of_rows(X), strict=True):
        x = fractions(row)
        exact, size = mean(x), mean([*map(abs, x)])
        assert abs(Fraction(float(center)) - exact) <= SUM_BOUND * U * size + U * abs(exact)
        around = mean([(each - Fraction(float(center))) ** 2 for each in x])
        # A difference, its square, the sum and the result are rounded.
        assert abs(Fraction(float(variance)) - around) <= (SUM_BOUND + 4) * U * around


def test_eq_float_group_moments__fractions() -> None:
    """Groups are added up in one go, as exactly as rows; one channel is a row."""
    images = X.reshape(1, 3, 301).repeat(2, 0)
    for x, center, variance in zip(images, *numerics.moments_of_groups(images, 1), strict=True):
        numbers = fractions(x)
        exact, size = mean(numbers), mean([*map(abs, numbers)])
        assert abs(Fraction(float(center[0])) - exact) <= SUM_BOUND * U * size + U * abs(exact)
        around = mean([(each - Fraction(float(center[0]))) ** 2 for each in numbers])
        assert abs(Fraction(float(variance[0])) - around) <= (SUM_BOUND + 4) * U * around
    for rows, groups in zip(
        numerics.moments_of_rows(X), numerics.moments_of_groups(images, 3), strict=True
    ):
        assert np.array_equal([rows, rows], groups)


def test_eq_float_group_norm__fractions() -> None:
    """Each operation rounded: the factor of a channel once, and three of each result."""
    x = X.reshape(1, 3, 301)
    weight, bias = WEIGHT[:3], BIAS[:3]
    y, centers, factors, scales = numerics.normalize_groups(x, 1, weight, bias, float(EPS))
    _, variance = numerics.moments_of_groups(x, 1)
    exact = factor_of(Fraction(float(variance[0, 0])))
    for channel in range(3):
        f, s = (Fraction(float(each[0, channel])) for each in (factors, scales))
        w, b = Fraction(float(weight[channel])), Fraction(float(bias[channel]))
        assert abs(f - exact) <= 2 * U * exact
        assert abs(s - exact * w) <= 2 * U * abs(exact * w)
        middle = Fraction(float(centers[0, channel]))
        for number, result in zip(fractions(x[0, channel]), fractions(y[0, channel]), strict=True):
            product = (number - middle) * s
            assert abs(result - (product + b)) <= 3 * U * (abs(product) + abs(b))


@pytest.mark.parametrize("has_mean", [True, False])
def test_eq_float_norm__fractions(has_mean: bool) -> None:
    """Each operation rounded: of what is normalized, four roundings and that of the variance."""
    y, centers, factors = numerics.normalize_rows(X, WEIGHT, BIAS, float(EPS), has_mean)
    for row, result, center, factor in zip(X, y, centers, factors, strict=True):
        middle = Fraction(float(center))
        assert has_mean or middle == 0
        exact = factor_of(mean([(each - middle) ** 2 for each in fractions(row)]))
        f = Fraction(float(factor))
        assert abs(f - exact) <= (Fraction(SUM_BOUND + 4, 2) + 1) * U * exact
        for x, w, b, each in zip(*map(fractions, (row, WEIGHT, BIAS, result)), strict=True):
            product = (x - middle) * f * w
            assert abs(each - (product + b)) <= 4 * U * (abs(product) + abs(b))


@pytest.mark.parametrize("has_mean", [True, False])
def test_eq_float_norm_gradient__fractions(has_mean: bool) -> None:
    _, centers, factors = numerics.normalize_rows(X, None, None, float(EPS), has_mean)
    actual = numerics.gradient_of_rows(G, X, WEIGHT, centers, factors, has_mean)
    for row, g, center, factor, result in zip(X, G, centers, factors, actual, strict=True):
        c, f = Fraction(float(center)), Fraction(float(factor))
        s = [a * b for a, b in zip(fractions(g), fractions(WEIGHT), strict=True)]
        normal = [(x - c) * f for x in fractions(row)]
        products = [a * b for a, b in zip(s, normal, strict=True)]
        a, b = mean(s) if has_mean else Fraction(0), mean(products)
        size, other = mean([*map(abs, s)]), mean([*map(abs, products)])
        for one, x, each in zip(s, normal, fractions(result), strict=True):
            # Sums of numbers rounded once and four times, and five operations on them.
            bound = (SUM_BOUND + 7) * (abs(one) + size + abs(x) * other)
            assert abs(each - f * (one - a - x * b)) <= U * f * bound


def test_eq_float_norm_weight_gradient__fractions() -> None:
    """In double, the normalized numbers are rounded twice, and the sum once."""
    _, center, factor = numerics.normalize_rows(X, None, None, float(EPS))
    of_weight, of_bias = numerics.gradient_of_columns(G, X, center, factor)
    columns = zip(X.T, G.T, of_weight, of_bias, strict=True)
    for column, g, weight, bias in columns:
        terms = [
            each * (x - c) * f
            for x, each, c, f in zip(*map(fractions, (column, g, center, factor)), strict=True)
        ]
        assert abs(Fraction(float(weight)) - sum(terms)) <= 4 * U * sum(map(abs, terms))
        assert abs(Fraction(float(bias)) - sum(fractions(g))) <= U * sum(map(abs, fractions(g)))
