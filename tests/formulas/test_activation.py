"""Activations against rational arithmetic, exponentials against 50 digits of decimals."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rational, rne, single

from pyqref.numerics import activation
from pyqref.numerics.elementwise import Grid

CONTEXT = Context(prec=50)
SIGNED = (-128, 127, np.int8)
GRIDS = [
    (Grid(0.5, 3), Grid(0.25, 7)),
    (Grid(0.037, 120), Grid(0.013, 77)),
    (Grid(0.037, -12, *SIGNED), Grid(0.11, -77, *SIGNED)),
    (Grid(2**-4, 128), Grid(2**-9, 1)),
]
X = np.concatenate([np.linspace(-9, 9, 211), [-3, 3, 0, 1e-6, -1e-6]]).astype(np.float32)


def every(grid: Grid) -> np.ndarray:
    """Every integer of an 8-bit grid."""
    return np.arange(grid.quant_min, grid.quant_max + 1).astype(grid.storage)


def exp(x: Fraction) -> Fraction:
    """The exponential to 50 digits."""
    ratio = CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))
    return Fraction(CONTEXT.exp(ratio))


def real(q: int, grid: Grid) -> Fraction:
    """Dequantized with one fused multiply-add."""
    scale = single(grid.scale)
    return fma(Fraction(q), scale, f32(-grid.zero_point * scale))


@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_pointwise__bytes(grids: tuple[Grid, Grid]) -> None:
    """Every integer of a grid, through half its square."""
    grid, out = grids
    actual = activation.pointwise(lambda x: x * x * np.float32(0.5), every(grid), grid, out)
    expected = []
    for q in every(grid).tolist():
        y = f32(f32(real(q, grid) ** 2) / 2)
        rounded = rne(f32(y * inverse(out.scale))) + out.zero_point
        expected.append(clamp(rounded, out.quant_min, out.quant_max))
    assert expected == actual.tolist()


def test_eq_quantized_pointwise__of_32_bits_adds_the_zero_point_first() -> None:
    """At the tie 2.5, with zero point 1: 3.5 rounds to 4, while 2 + 1 is 3."""
    q = np.int32([5])
    out = (-(2**31), 2**31 - 1, np.int32)
    wide = activation.pointwise(lambda x: x, q, Grid(0.5, 0, *out), Grid(1.0, 1, *out))
    narrow = activation.pointwise(lambda x: x, q.astype(np.uint8), Grid(0.5, 0), Grid(1.0, 1))
    assert (4, 3) == (wide.item(), narrow.item())


@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_table__bytes(grids: tuple[Grid, Grid]) -> None:
    """Dequantized with a product, quantized with the zero point inside the rounding."""
    grid, out = grids
    actual = activation.pointwise_table(lambda x: x, every(grid), grid, out)
    expected = []
    for q in every(grid).tolist():
        x = f32((q - grid.zero_point) * single(grid.scale))
        rounded = rne(fma(x, inverse(out.scale), Fraction(out.zero_point)))
        expected.append(clamp(rounded, out.quant_min, out.quant_max))
    assert expected == actual.tolist()


def test_eq_logistic__fifty_digits() -> None:
    """One rounding to float32."""
    expected = [f32(1 / (1 + exp(-x))) for x in fractions(X)]
    assert expected == fractions(activation.sigmoid(X))


def test_eq_logistic__far_out() -> None:
    """No overflow warning, and the limits."""
    assert [0.0, 1.0] == activation.sigmoid(np.float32([-1e4, 1e4])).tolist()


def test_eq_tanh__fifty_digits() -> None:
    """One rounding to float32."""
    expected = [f32((exp(2 * x) - 1) / (exp(2 * x) + 1)) for x in fractions(X)]
    assert expected == fractions(activation.tanh(X))


def test_eq_hardsigmoid__rational() -> None:
    """A sum and a division, each rounded."""
    expected = [f32(min(max(f32(x + 3), Fraction(0)), Fraction(6)) / 6) for x in fractions(X)]
    assert expected == fractions(activation.hardsigmoid(X))


def test_eq_hardswish__rational() -> None:
    """Sum, product, division, each rounded."""
    expected = [
        f32(f32(x * min(max(f32(x + 3), Fraction(0)), Fraction(6))) / 6) for x in fractions(X)
    ]
    assert expected == fractions(activation.hardswish(X))


@pytest.mark.parametrize(("alpha", "scale", "input_scale"), [(1, 1, 1), (1.3, 1.7, 0.6)])
def test_eq_elu__fifty_digits(alpha: float, scale: float, input_scale: float) -> None:
    """A product above zero; below, one rounding after that of the exponent."""
    factor = f32(single(alpha) * single(scale))
    expected = [
        f32(x * single(scale)) if x > 0 else f32(factor * (exp(f32(x * single(input_scale))) - 1))
        for x in fractions(X)
    ]
    assert expected == fractions(activation.elu(X, alpha, scale, input_scale))


def test_eq_leaky_relu__rational() -> None:
    """A product below zero."""
    slope = single(0.03)
    expected = [x if x > 0 else f32(x * slope) for x in fractions(X)]
    assert expected == fractions(activation.leaky_relu(X, 0.03))


def test_eq_threshold__rational() -> None:
    """The threshold itself is replaced."""
    x = np.float32([-1, 0.3, 0.30000004, 2])
    assert [np.float32(0.1), np.float32(0.1), x[2], x[3]] == activation.threshold(
        x, 0.3, 0.1
    ).tolist()


@pytest.mark.parametrize("convention", ["documented", "torch"])
@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_prelu__rational(grids: tuple[Grid, Grid], convention: str) -> None:
    """Integer products, one multiplier, the zero point after rounding."""
    grid, out = grids
    weight_grid = Grid(0.0071, grid.zero_point, *grid[2:])
    weight = every(grid)[37]
    one = clamp(
        rne(fma(Fraction(1), inverse(weight_grid.scale), Fraction(weight_grid.zero_point))),
        weight_grid.quant_min,
        weight_grid.quant_max,
    )
    unit = f32(f32(single(grid.scale) * single(weight_grid.scale)) * inverse(out.scale))
    plain = f32(single(grid.scale) * inverse(out.scale))
    expected = []
    for q in every(grid).tolist():
        centred = q - grid.zero_point
        if centred <= 0:
            value = centred * (int(weight) - weight_grid.zero_point) * unit
        elif convention == "torch":
            value = centred * (one - weight_grid.zero_point) * unit
        else:
            value = centred * plain
        expected.append(
            clamp(rne(f32(Fraction(value))) + out.zero_point, out.quant_min, out.quant_max)
        )
    actual = activation.prelu(every(grid), grid, weight, weight_grid, out, convention)  # type: ignore[arg-type]
    assert expected == actual.tolist()


def test_eq_quantized_prelu__keeps_positive_numbers() -> None:
    """With equal grids, positive integers stay as they are, whatever the slope's grid."""
    grid = Grid(0.1, 100)
    q = every(grid)[101:]
    kept = activation.prelu(q, grid, np.uint8(255), Grid(0.001, 0), grid)
    lost = activation.prelu(q, grid, np.uint8(255), Grid(0.001, 0), grid, "torch")
    assert q.tolist() == kept.tolist()
    assert rational(lost.max()) < rational(q.max())


def test_eq_leaky_relu__zero() -> None:
    """Zero is not above zero: it is multiplied by the slope, and so gets its sign."""
    assert np.signbit(activation.leaky_relu(np.float32([0.0]), -0.5)).all()
