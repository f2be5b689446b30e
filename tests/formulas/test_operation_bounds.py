"""Error bounds of whole operations, as the theory derives them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import fractions, rational, single

from pyqref.numerics import activation, elementwise, embedding, normalization
from pyqref.numerics.affine import dequantize_per_channel, quantize_per_channel
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.moving_average import moving_average
from pyqref.numerics.pooling import quantized_mean
from pyqref.numerics.qparams import symmetric_qparams

RNG = np.random.default_rng(0)
U = Fraction(1, 2**24)
HALF = Fraction(1, 2)


def test_eq_affine_quantize_channel__bound_never_larger() -> None:
    """A channel's scale is at most that of all channels, and so is its bound; it is kept."""
    w = (RNG.standard_normal((8, 50)) * np.exp(RNG.uniform(-4, 2, (8, 1)))).astype(np.float32)
    whole = symmetric_qparams(w.min(), w.max(), -128, 127)
    scales = symmetric_qparams(w.min(axis=1), w.max(axis=1), -128, 127)
    assert np.all(scales <= whole)
    assert scales.max() == whole
    q = quantize_per_channel(w, scales, np.zeros(8), 0, -128, 127, np.int8)
    back = dequantize_per_channel(q, scales, np.zeros(8), 0)
    for row, kept, scale in zip(w, back, fractions(scales), strict=True):
        for a, b in zip(fractions(row), fractions(kept), strict=True):
            assert abs(a - b) <= scale * (HALF + 4 * 256 * U)


@pytest.mark.parametrize("constant", [0.01, 0.1, 0.5])
def test_eq_moving_average__geometric_weights(constant: float) -> None:
    """After n steps a batch counts with c (1 - c)^n, and roundings with u (4 + 1/c) in all."""
    x = RNG.standard_normal(300).astype(np.float32)
    c, mean = single(constant), x[0]
    exact = rational(x[0]) * (1 - c) ** 299
    for age, value in zip(range(298, -1, -1), fractions(x[1:]), strict=True):
        exact += c * (1 - c) ** age * value
    for value in x[1:]:
        mean = moving_average(mean, value, constant)
    assert abs(rational(mean) - exact) <= U * (4 + 1 / c) * max(map(abs, fractions(x)))


def test_eq_quantized_add__error_bound() -> None:
    """Half a step of the output, and six roundings of numbers below 256 steps of the inputs."""
    grids = Grid(0.037, 120), Grid(0.11, 30), Grid(0.13, 77)
    a, b = RNG.integers(0, 256, (2, 2000)).astype(np.uint8)
    sums = elementwise.add(a, grids[0], b, grids[1], grids[2])
    sa, sb, sy = (single(grid.scale) for grid in grids)
    for i, j, q in zip(a.tolist(), b.tolist(), sums.tolist(), strict=True):
        exact = (sa * (i - 120) + sb * (j - 30)) / sy + 77
        if 0 < q < 255:
            assert abs(q - exact) <= HALF + 6 * 256 * U * (sa + sb) / sy


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("count", [3, 7, 49])
def test_eq_quantized_mean__error_bound(engine: str, count: int) -> None:
    """Half a step and four roundings."""
    totals = np.arange(-100 * count, 100 * count + 1, 7)
    means = quantized_mean(totals, count, 128, 0, 255, np.uint8, engine, 0.3)
    for total, q in zip(totals.tolist(), means.tolist(), strict=True):
        assert abs(q - 128 - Fraction(total, count)) <= HALF + 4 * 256 * U


def test_eq_quantized_pointwise__error_bound() -> None:
    """Half a step of the output, and of the input as far as the function magnifies it."""
    grid, out = Grid(0.05, 128), Grid(1 / 256, 0)
    x = RNG.uniform(-6, 6, 2000)
    q = np.clip(np.rint(x / grid.scale) + 128, 0, 255).astype(np.uint8)
    y = activation.pointwise(activation.sigmoid, q, grid, out) / 256
    error = np.abs(y - 1 / (1 + np.exp(-x)))
    assert error.max() <= (grid.scale / 4 + out.scale) / 2 + 3 * 256 * float(U)


def test_eq_embedding_rows_byte__error_bound() -> None:
    """Half a step of the row; the small number in the divisor costs 255 parts of it."""
    table = RNG.uniform(-3, 3, (20, 16)).astype(np.float32)
    q, scales, offsets = embedding.quantize_rows_byte(table)
    for row, integers, scale, offset in zip(table, q, scales, offsets, strict=True):
        s, o = rational(scale), rational(offset)
        bound = s * (HALF + 6 * 256 * U + Fraction(1, 10**8) / s)
        for value, i in zip(fractions(row), integers.tolist(), strict=True):
            assert abs(value - (s * int(i) + o)) <= bound


def test_eq_quantized_moments__error_bound() -> None:
    """The variance of bytes is wrong by less than 0.012 squared steps."""
    q = np.concatenate([RNG.integers(0, 256, (20, 100)), RNG.integers(250, 256, (20, 100))])
    _, variances = normalization.moments(q)
    for row, variance in zip(q.tolist(), fractions(variances), strict=True):
        mean = Fraction(sum(row), 100)
        exact = Fraction(sum(v * v for v in row), 100) - mean * mean
        assert abs(variance - exact) <= 2**16 * 3 * U
