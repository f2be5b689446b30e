"""Gradients of the scale and the zero point against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rational, rne, single
from formulas.test_affine import near_ties
from formulas.test_layer_bounds import gamma

from pyqref.numerics.learnable_fake_quantize import (
    learnable_positions,
    learnable_scale_gradient,
    learnable_zero_point_gradient,
    whole_zero_point,
)

RNG = np.random.default_rng(7)
RANGES = [(-8, 7), (0, 255), (-1, 1)]


def sample(scale: float, count: int = 60) -> tuple[Any, Any]:
    """Numbers inside and outside of each range, near ties too, and gradients of results."""
    x = np.append(near_ties(scale, count // 2), RNG.standard_normal(count) * 300 * scale)
    x = x.astype(np.float32)
    return x, RNG.standard_normal(x.size).astype(np.float32)


def scale_term(
    x: Fraction, g: Fraction, v: int, s: Fraction, z: int, low: int, high: int
) -> Fraction:
    """One term of the sum in exact arithmetic: equation 3 of Esser et al. with a zero point."""
    if low <= v <= high:
        return g * ((v - z) - x / s)
    return g * (clamp(v, low, high) - z)


@pytest.mark.parametrize("limits", RANGES)
def test_eq_learnable_zero_point__ties_and_ends(limits: tuple[int, int]) -> None:
    """Ties go to even, then the ends of the range hold."""
    given = np.arange(-600, 601, dtype=np.float32) / 2
    expected = [clamp(rne(each), *limits) for each in fractions(given)]
    assert expected == whole_zero_point(given, *limits).tolist()


@pytest.mark.parametrize("zero", [0, 1, 128])
def test_eq_learnable_position__near_ties(zero: int) -> None:
    """A fused product and sum, for one scale and for several."""
    scales = np.float32([0.1, 0.0371])
    x = np.stack([near_ties(float(each), 200) for each in scales])
    together = learnable_positions(x, scales[:, None], np.full((2, 1), zero))
    for row, scale in enumerate(scales):
        values = fractions(x[row])
        expected = [rne(fma(v, inverse(scale), f32(zero))) for v in values]
        assert expected == learnable_positions(x[row], scale, zero).tolist()
        assert expected == together[row].tolist()


@pytest.mark.parametrize("limits", RANGES)
def test_eq_learnable_scale_gradient__order(limits: tuple[int, int]) -> None:
    """Each term from the left: fused difference, reciprocal, factor, each rounded to float32."""
    low, high = limits
    for scale, zero in ((0.1, 0), (0.0371, 1)):
        x, g = sample(scale)
        factor, s = f32(Fraction(0.3)), single(scale)
        v = learnable_positions(x, scale, zero)
        for index, (number, upstream) in enumerate(zip(fractions(x), fractions(g), strict=True)):
            one = slice(index, index + 1)
            at = int(v[index])
            if low <= at <= high:
                error = fma(at - zero, s, -number)
                expected = f32(f32(upstream * error) * inverse(scale))
            else:
                expected = f32(upstream * (clamp(at, low, high) - zero))
            arguments = x[one], g[one], v[one], np.float32(scale), zero, low, high, 0.3
            assert f32(expected * factor) == rational(learnable_scale_gradient(*arguments))


@pytest.mark.parametrize("limits", RANGES)
def test_eq_learnable_zero_point_gradient__order(limits: tuple[int, int]) -> None:
    """It is 0 inside; outside it is the gradient times minus scale, then times the factor."""
    low, high = limits
    scale, factor = np.float32(0.0371), f32(Fraction(0.3))
    x, g = sample(0.0371)
    v = learnable_positions(x, scale, 0)
    for index, upstream in enumerate(fractions(g)):
        one = slice(index, index + 1)
        inside = low <= v[index] <= high
        expected = 0 if inside else f32(f32(-rational(scale) * upstream) * factor)
        actual = learnable_zero_point_gradient(g[one], v[one], scale, low, high, 0.3)
        assert expected == rational(actual)


@pytest.mark.parametrize("limits", RANGES)
@pytest.mark.parametrize("zero", [0, 1])
def test_eq_learnable_gradient_error__exact_terms(limits: tuple[int, int], zero: int) -> None:
    """Both sums lie within eight roundings of the formula, over all and for each channel."""
    low, high = limits
    scales = np.float32([0.1, 0.0371, 2.5])
    rows = [sample(float(each)) for each in scales]
    x, g = (np.stack(each) for each in zip(*rows, strict=True))
    offset = np.full((3, 1), zero, np.float32)
    v = learnable_positions(x, scales[:, None], offset)
    options = low, high, 0.3, 0
    to_scale = learnable_scale_gradient(x, g, v, scales[:, None], offset, *options)
    to_zero = learnable_zero_point_gradient(g, v, scales[:, None], *options)
    for row in range(3):
        s = rational(scales[row])
        triples = list(zip(fractions(x[row]), fractions(g[row]), v[row].astype(int), strict=True))
        terms = [
            Fraction(0.3) * scale_term(a, b, int(c), s, zero, low, high) for a, b, c in triples
        ]
        # The difference (v - z) s - x cancels: its rounding is relative to itself, not to x.
        assert abs(rational(to_scale[row]) - sum(terms)) <= gamma(8) * sum(map(abs, terms))
        ends = [-Fraction(0.3) * s * b for _, b, c in triples if not low <= c <= high]
        assert abs(rational(to_zero[row]) - sum(ends)) <= gamma(8) * sum(map(abs, ends))
        whole = learnable_positions(x[row], scales[row], zero)
        alone = learnable_scale_gradient(x[row], g[row], whole, scales[row], zero, *limits)
        terms = [
            scale_term(a, b, int(c), s, zero, low, high)
            for (a, b, _), c in zip(triples, whole, strict=True)
        ]
        assert abs(rational(alone) - sum(terms)) <= gamma(8) * sum(map(abs, terms))


def test_eq_learnable_position__double() -> None:
    """In double a product and a sum, rounded each, then the nearest integer."""
    x = np.float64([0.3, 1.0, -2.6, 10.1])
    assert [4, 7, -7, 43] == learnable_positions(x, 0.25, 3).tolist()


def test_eq_learnable_scale_gradient__double() -> None:
    """The difference is in double; the scale is a power of two, so that it is exact."""
    x, g = np.float64([0.3, 1.0, -2.6, 10.1]), np.float64([1.0, 2.0, 4.0, 8.0])
    v = learnable_positions(x, 0.25, 3)
    for index, (number, place) in enumerate(zip(fractions(x), v.astype(int).tolist(), strict=True)):
        one = slice(index, index + 1)
        term = scale_term(number, rational(g[index]), place, Fraction(1, 4), 3, 0, 15)
        found = learnable_scale_gradient(x[one], g[one], v[one], 0.25, 3, 0, 15)
        # Two roundings to double and one to float32.
        assert abs(rational(found) - term) <= abs(term) * (2.0**-24 + 2.0**-51)
