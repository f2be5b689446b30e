"""Elementwise quantized operations against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log2

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rational, rha, rne, single

from pyqref.numerics.elementwise import (
    Grid,
    add,
    add_fixed_point,
    cat,
    dequantize_fused,
    mul,
    quantize_after,
    relu,
    relu6,
    zero_is_coarse,
)
from pyqref.numerics.elementwise import (
    clamp as quantized_clamp,
)
from pyqref.numerics.scalar import add_scalar, mul_scalar

RNG = np.random.default_rng(0)
SIGNED = (-128, 127, np.int8)
GRIDS = [
    (Grid(0.5, 3), Grid(0.25, 7), Grid(0.5, 5)),
    (Grid(0.037, 120), Grid(0.11, 9), Grid(0.13, 77)),
    (Grid(1e-3, 0), Grid(40.0, 255), Grid(3.0, 128)),
    (Grid(1028.02, 255), Grid(1e-3, 0), Grid(1e-3, 128)),
    (Grid(12.3, 201), Grid(1e-3, 9), Grid(3.05e-2, 99)),
    (Grid(0.037, -12, *SIGNED), Grid(0.11, 9, *SIGNED), Grid(0.13, -77, *SIGNED)),
]


def integers(grid: Grid, n: int = 300) -> np.ndarray:
    """Random integers of a grid."""
    return RNG.integers(grid.quant_min, grid.quant_max + 1, n).astype(grid.storage)


def exact_real(q: int, grid: Grid, exact_zero: bool = True) -> Fraction:
    """Zero, or one fused multiply-add with the rounded product of zero point and scale."""
    scale = single(grid.scale)
    if exact_zero and q == grid.zero_point:
        return Fraction(0)
    return fma(Fraction(q), scale, f32(-grid.zero_point * scale))


def exact_after(x: Fraction, grid: Grid, low: int | None = None) -> int:
    """Round, then add the zero point."""
    lowest = grid.quant_min if low is None else low
    return clamp(rne(f32(x * inverse(grid.scale))) + grid.zero_point, lowest, grid.quant_max)


@pytest.mark.parametrize("grids", GRIDS)
def test_eq_dequantize_fused__any(grids: tuple[Grid, ...]) -> None:
    """A single rounding for q * s - z * s, after that of z * s."""
    grid = grids[0]
    q = np.append(integers(grid), grid.storage(grid.zero_point))
    assert [exact_real(v, grid) for v in q.tolist()] == fractions(dequantize_fused(q, grid))


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_eq_quantize_after__ties(scale: float) -> None:
    """Ties are decided before the zero point is added."""
    grid = Grid(scale, 3)
    x = ((np.arange(-20, 20) + 0.5) * scale).astype(np.float32)
    assert [exact_after(v, grid) for v in fractions(x)] == quantize_after(x, grid).tolist()


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_add__float(grids: tuple[Grid, ...], fused: bool) -> None:
    """Both sides are dequantized, added in float32, quantized; zero is exact if coarse."""
    a_grid, b_grid, out = grids
    a, b = integers(a_grid), integers(b_grid)
    a[:30], b[20:50] = a_grid.zero_point, b_grid.zero_point
    low = out.zero_point if fused else None
    products = [each.zero_point * single(each.scale) for each in (a_grid, b_grid)]
    exact_zero = sum(abs(each - f32(each)) for each in products) >= single(out.scale) / 1024
    assert exact_zero == zero_is_coarse(*grids)
    sums = [
        f32(exact_real(x, a_grid, exact_zero) + exact_real(y, b_grid, exact_zero))
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    actual = add(a, a_grid, b, b_grid, out, "fbgemm", fused)
    assert [exact_after(v, out, low) for v in sums] == actual.tolist()
    if out.storage is np.int8:
        assert actual.tolist() == add(a, a_grid, b, b_grid, out, "qnnpack", fused).tolist()


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("grids", [*GRIDS[:5], (Grid(1e9, 1), Grid(1e8, 2), Grid(1.0, 3))])
def test_eq_add_fixed_point__qnnpack(grids: tuple[Grid, ...], fused: bool) -> None:
    """Integer multipliers of 22 bits and one shift, ties away from zero."""
    a_grid, b_grid, out = grids
    a, b = integers(a_grid), integers(b_grid)
    ratios = [f32(single(g.scale) / single(out.scale)) for g in (a_grid, b_grid)]
    unit = Fraction(2) ** (21 - floor(log2(max(ratios))))
    m_a, m_b = (rne(r * unit) for r in ratios)
    low = out.zero_point if fused else 0
    expected = [
        clamp(
            rha((m_a * (x - a_grid.zero_point) + m_b * (y - b_grid.zero_point)) / unit)
            + out.zero_point,
            low,
            255,
        )
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert expected == add_fixed_point(a, a_grid, b, b_grid, out, fused).tolist()
    assert expected == add(a, a_grid, b, b_grid, out, "qnnpack", fused).tolist()


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_mul__any(grids: tuple[Grid, ...], fused: bool) -> None:
    """An integer product times one float32 multiplier."""
    a_grid, b_grid, out = grids
    a, b = integers(a_grid), integers(b_grid)
    product = f32(single(a_grid.scale) * single(b_grid.scale))
    multiplier = f32(product * inverse(out.scale))
    low = out.zero_point if fused else out.quant_min
    expected = [
        clamp(
            rne(f32((x - a_grid.zero_point) * (y - b_grid.zero_point) * multiplier))
            + out.zero_point,
            low,
            out.quant_max,
        )
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert expected == mul(a, a_grid, b, b_grid, out, fused).tolist()


def test_eq_quantized_cat__requantizes() -> None:
    """Arrays of the output's grid are copied; others are dequantized and quantized."""
    a_grid, out = Grid(0.037, 120), Grid(0.13, 77)
    a, b = integers(a_grid), integers(out)
    reals = [f32((v - 120) * single(0.037)) for v in a.tolist()]
    requantized = [clamp(rne(fma(v, inverse(0.13), Fraction(77))), 0, 255) for v in reals]
    assert [*requantized, *b.tolist()] == cat([a, b], [a_grid, out], 0, out).tolist()


def test_eq_quantized_relu__zero_point() -> None:
    """Nothing stays below the zero point."""
    assert relu(np.uint8([0, 5, 9]), 5).tolist() == [5, 5, 9]
    assert relu(np.int8([-100, 4]), -3).tolist() == [-3, 4]


def test_eq_quantized_clamp__bounds() -> None:
    """Real bounds become integers first; an absent bound does not bind."""
    q, grid = np.arange(256).astype(np.uint8), Grid(0.5, 10)
    assert [min(max(v, 8), 14) for v in range(256)] == quantized_clamp(q, grid, -1, 2).tolist()
    assert [max(v, 8) for v in range(256)] == quantized_clamp(q, grid, -1, None).tolist()


def test_eq_quantized_relu6__bounds() -> None:
    """The bounds are the zero point and the integer of 6."""
    q = np.arange(256).astype(np.uint8)
    assert [min(max(v, 10), 22) for v in range(256)] == relu6(q, Grid(0.5, 10)).tolist()


@pytest.mark.parametrize("number", [0.0, 2.0, -3.3, 1000.0, -1000.0])
def test_eq_add_scalar__moves_the_zero_point(number: float) -> None:
    """Integers stay while the zero point fits; else the scale grows so that it just fits."""
    grid, q = Grid(0.5, 100), np.arange(256).astype(np.uint8)
    moved = 100 - rne(rational(number) * 2)
    actual, new = add_scalar(q, grid, number)
    if 0 <= moved <= 255:
        assert (q.tolist(), 0.5, moved) == (actual.tolist(), new.scale, new.zero_point)
        return
    zero_point = 0 if moved < 0 else 255
    scale = abs(255 - zero_point - moved) / 255 * 0.5
    multiplier = f32(Fraction(1, 2) * inverse(scale))
    expected = [clamp(rne(f32((v - moved) * multiplier)) + zero_point, 0, 255) for v in range(256)]
    assert (scale, zero_point) == (new.scale, new.zero_point)
    assert expected == actual.tolist()


@pytest.mark.parametrize("moved", [-128, 127, -129, 128, -400, 400])
def test_eq_add_scalar__signed(moved: int) -> None:
    """A zero point at an end fits; beyond it the scale grows, and real numbers stay the same."""
    grid, q = Grid(0.5, -3, *SIGNED), np.int8([-128, -3, 0, 127])
    actual, new = add_scalar(q, grid, (-3 - moved) * 0.5)
    ends = {True: -128, False: 127}
    if -128 <= moved <= 127:
        assert (q.tolist(), 0.5, moved) == (actual.tolist(), new.scale, new.zero_point)
        return
    assert ends[moved < -128] == new.zero_point
    assert Fraction(abs(moved + 128 if moved > 0 else 127 - moved), 255) / 2 == pytest.approx(
        rational(new.scale), rel=2**-50
    )
    multiplier = f32(Fraction(1, 2) * inverse(new.scale))
    expected = [rne(f32((v - moved) * multiplier)) + new.zero_point for v in q.tolist()]
    assert [clamp(each, -128, 127) for each in expected] == actual.tolist()


def test_eq_add_scalar__nearest_step() -> None:
    """The number of steps is rounded to the nearest, ties to even."""
    for number, moved in ((0.3, 99), (0.25, 100), (0.75, 98), (-0.3, 101), (-0.25, 100)):
        assert moved == add_scalar(np.uint8([0]), Grid(0.5, 100), number)[1].zero_point


def test_eq_mul_scalar__by_less_than_one() -> None:
    """Zero alone is zero: a factor between 0 and 1 only makes the scale smaller."""
    q, grid = mul_scalar(np.uint8([3]), Grid(0.5, 10), 0.5)
    assert ([3], 0.25, 10) == (q.tolist(), grid.scale, grid.zero_point)
    q, grid = mul_scalar(np.uint8([3]), Grid(0.5, 10), -0.5)
    assert ([252], 0.25, 245) == (q.tolist(), grid.scale, grid.zero_point)


def test_eq_add_scalar__relu() -> None:
    """A fused ReLU clamps at the new zero point."""
    q, grid = add_scalar(np.uint8([0, 200]), Grid(1.0, 100), 50.0, fused_relu=True)
    assert (q.tolist(), grid.zero_point) == ([50, 200], 50)


@pytest.mark.parametrize(
    ("number", "expected", "scale", "zero_point"),
    [(2.0, [0, 10, 255], 1.0, 10), (-2.0, [255, 245, 0], 1.0, 245), (0.0, [0, 0, 0], 1.0, 0)],
)
def test_eq_mul_scalar__cases(
    number: float, expected: list[int], scale: float, zero_point: int
) -> None:
    """A positive factor scales, a negative one mirrors, zero gives all zeros."""
    q, grid = mul_scalar(np.uint8([0, 10, 255]), Grid(0.5, 10), number)
    assert (expected, scale, zero_point) == (q.tolist(), grid.scale, grid.zero_point)


def test_eq_mul_scalar__signed_and_relu() -> None:
    """A signed range is mirrored within itself; a fused ReLU comes last."""
    q, grid = mul_scalar(np.int8([-128, 127]), Grid(0.5, 3, *SIGNED), -2.0, fused_relu=True)
    assert (q.tolist(), grid.zero_point) == ([127, -4], -4)
