"""Normalization against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rational, rne, single

from pyqref.numerics import normalization
from pyqref.numerics.elementwise import Grid

RNG = np.random.default_rng(0)
SIGNED = (-128, 127, np.int8)
GRIDS = [
    (Grid(0.5, 3), Grid(0.25, 7)),
    (Grid(0.037, 120), Grid(0.013, 77)),
    (Grid(0.037, -12, *SIGNED), Grid(0.11, -77, *SIGNED)),
]
EPS = 1e-5


def root(x: Fraction) -> Fraction:
    """The square root as float32, found with integers of 200 bits."""
    if x == 0:
        return Fraction(0)
    wide = x * 4**100
    return f32(Fraction(isqrt(wide.numerator // wide.denominator), 2**100))


def integers(grid: Grid, *shape: int) -> np.ndarray:
    """Random integers of a grid."""
    return RNG.integers(grid.quant_min, grid.quant_max + 1, shape).astype(grid.storage)


def after(y: Fraction, out: Grid) -> int:
    """Round, then add the zero point."""
    rounded = rne(f32(y * inverse(out.scale))) + out.zero_point
    return clamp(rounded, out.quant_min, out.quant_max)


def statistics(row: list[int]) -> tuple[Fraction, Fraction]:
    """Mean and variance with the roundings of the equation."""
    count = len(row)
    mean = f32(f32(Fraction(sum(row))) / count)
    square = f32(f32(Fraction(sum(q * q for q in row))) / count)
    return mean, max(fma(-mean, mean, square), Fraction(0))


def standard(row: list[int], scale: float) -> list[Fraction]:
    """Standardized elements of a row."""
    mean, variance = statistics(row)
    s = single(scale)
    inner = f32(f32(f32(variance * s) * s) + single(EPS))
    factor = f32(s / root(inner))
    return [f32(f32(q - mean) * factor) for q in row]


def test_eq_quantized_moments__exact_sums() -> None:
    """Sums that need more than 24 bits, and rows without spread."""
    rows = np.concatenate([integers(Grid(1, 0), 6, 1300), np.full((2, 1300), 255, np.uint8)])
    mean, variance = normalization.moments(rows)
    expected = [statistics(row) for row in rows.tolist()]
    assert expected == list(zip(fractions(mean), fractions(variance), strict=True))


@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_standardize__rows(grids: tuple[Grid, Grid]) -> None:
    """Rows of random integers."""
    rows = integers(grids[0], 5, 23)
    expected = [y for row in rows.tolist() for y in standard(row, grids[0].scale)]
    assert expected == fractions(normalization.standardize(rows, grids[0].scale, EPS))


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_layer_norm__rows(grids: tuple[Grid, Grid], affine: bool) -> None:
    """One fused multiply-add with weight and bias of each element."""
    grid, out = grids
    rows = integers(grid, 4, 17)
    weight = RNG.standard_normal(17).astype(np.float32) if affine else None
    bias = RNG.standard_normal(17).astype(np.float32) if affine else None
    expected = []
    for row in rows.tolist():
        for i, y in enumerate(standard(row, grid.scale)):
            if weight is not None and bias is not None:
                y = fma(y, rational(weight[i]), rational(bias[i]))
            expected.append(after(y, out))
    actual = normalization.layer_norm(rows, grid, weight, bias, EPS, out)
    assert expected == actual.ravel().tolist()


def by_channel(
    q: np.ndarray, grid: Grid, groups: int, weight: np.ndarray, bias: np.ndarray, out: Grid
) -> list[int]:
    """Group norm, element by element."""
    channels, space = q.shape[1], q[0, 0].size
    expected = []
    for image in q:
        for group in image.reshape(groups, -1):
            for i, y in enumerate(standard(group.tolist(), grid.scale)):
                c = len(expected) // space % channels
                assert i // space == c % (channels // groups)
                expected.append(after(fma(y, rational(weight[c]), rational(bias[c])), out))
    return expected


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_group_norm__images(grids: tuple[Grid, Grid], groups: int) -> None:
    """Weight and bias follow the channel, statistics the group."""
    grid, out = grids
    q = integers(grid, 2, 6, 3, 2)
    weight, bias = RNG.standard_normal((2, 6)).astype(np.float32)
    expected = by_channel(q, grid, groups, weight, bias, out)
    actual = normalization.group_norm(q, grid, groups, weight, bias, EPS, out)
    assert expected == actual.ravel().tolist()


def test_eq_quantized_instance_norm__images() -> None:
    """One group for each channel."""
    grid, out = GRIDS[1]
    q = integers(grid, 2, 4, 7)
    weight, bias = RNG.standard_normal((2, 4)).astype(np.float32)
    expected = by_channel(q, grid, 4, weight, bias, out)
    actual = normalization.instance_norm(q, grid, weight, bias, EPS, out)
    assert expected == actual.ravel().tolist()


def coefficients(grid: Grid, out: Grid, channels: int) -> tuple[list[np.ndarray], list[Fraction]]:
    """Random parameters, and slopes and offsets by the equation (double rounding included)."""
    mean, weight, bias = RNG.standard_normal((3, channels)).astype(np.float32)
    variance = (RNG.random(channels) + 0.01).astype(np.float32)
    expected = []
    for m, v, w, b in zip(*(fractions(p) for p in (mean, variance, weight, bias)), strict=True):
        slope = f32(f32(1 / root(f32(v + single(EPS)))) * w)
        offset = f32(b - f32(m * slope))
        in_double = Fraction(float(slope) * grid.scale / out.scale)
        expected += [f32(in_double), f32(Fraction(float(offset) / out.scale))]
    return [mean, variance, weight, bias], expected


@pytest.mark.parametrize("grids", GRIDS)
def test_eq_batch_norm_coefficients__channels(grids: tuple[Grid, Grid]) -> None:
    """Slope and offset of 50 channels."""
    grid, out = grids
    parameters, expected = coefficients(grid, out, 50)
    actual = normalization.batch_norm_coefficients(*parameters, EPS, grid.scale, out.scale)
    assert expected == [each for pair in zip(*map(fractions, actual), strict=True) for each in pair]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_batch_norm__images(grids: tuple[Grid, Grid], relu: bool) -> None:
    """One fused multiply-add, then the zero point."""
    grid, out = grids
    q = integers(grid, 3, 4, 5)
    alpha, beta = (RNG.standard_normal((2, 4)) * [[1], [40]]).astype(np.float32)
    low = out.zero_point if relu else out.quant_min
    expected = []
    for n, c, i in np.ndindex(*q.shape):
        centred = Fraction(int(q[n, c, i]) - grid.zero_point)
        rounded = rne(fma(rational(alpha[c]), centred, rational(beta[c]))) + out.zero_point
        expected.append(clamp(rounded, low, out.quant_max))
    actual = normalization.batch_norm(q, grid, alpha, beta, out, relu)
    assert expected == actual.ravel().tolist()


def test_eq_quantized_layer_norm__of_32_bits_adds_the_zero_point_first() -> None:
    """At the tie 0.5, with zero point 1: 1.5 rounds to 2, while 0 + 1 is 1."""
    rows = np.int32([[-1, 1]])
    wide = (-(2**31), 2**31 - 1, np.int32)
    half = np.float32([0, 0]), np.float32([0.5, 0.5])
    actual = normalization.layer_norm(rows, Grid(1.0, 0, *wide), *half, 0.0, Grid(1.0, 1, *wide))
    assert [[2, 2]] == actual.tolist()
    narrow = normalization.layer_norm(
        rows.astype(np.int8), Grid(1.0, 0, *SIGNED), *half, 0.0, Grid(1.0, 1, *SIGNED)
    )
    assert [[1, 1]] == narrow.tolist()


@pytest.mark.parametrize("given", [(True, False), (False, True)])
def test_eq_quantized_layer_norm__weight_or_bias(given: tuple[bool, bool]) -> None:
    """A weight alone is without a bias, a bias alone with a weight of 1."""
    grid, out = GRIDS[1]
    rows = integers(grid, 3, 17)
    weight, bias = RNG.standard_normal((2, 17)).astype(np.float32)
    factors, offsets = weight if given[0] else np.ones(17), bias if given[1] else np.zeros(17)
    expected = [
        after(fma(y, rational(factors[i]), rational(offsets[i])), out)
        for row in rows.tolist()
        for i, y in enumerate(standard(row, grid.scale))
    ]
    some = weight if given[0] else None, bias if given[1] else None
    actual = normalization.layer_norm(rows, grid, *some, EPS, out)
    assert expected == actual.ravel().tolist()


def test_eq_quantized_moments__of_32_bits() -> None:
    """The sum of squares of 32-bit integers exceeds 64 bits, and is exact all the same."""
    row = [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 5, 2**30]
    found = normalization.moments(np.int32([row]))
    assert list(statistics(row)) == [rational(each) for each in found]
