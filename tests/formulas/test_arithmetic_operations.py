"""Sums, products and means of other systems, rounding by rounding, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, rational, rha, rne, single

from pyqref.arithmetic import ONNX, ONNXQDQ, Float64, TFLite, TFLiteRuy, TFLiteXNNPACK
from pyqref.numerics.elementwise import Grid

A, B, Y = Grid(0.0371, 17), Grid(0.0113, 200), Grid(0.0523, 90)
PAIRS = [(a, b) for a in range(0, 256, 9) for b in range(0, 256, 13)]
FIRST, SECOND = (np.uint8(each) for each in zip(*PAIRS, strict=True))
S_A, S_B, S_Y = (single(each.scale) for each in (A, B, Y))
TAPS = np.random.default_rng(0).integers(-17, 239, (500, 6))


def stored(values: list[Fraction | int]) -> list[int]:
    return [clamp(value, 0, 255) for value in values]


def multiplied(x: int, real: Fraction, ties: Callable[[Fraction], int] = rha) -> int:
    """Multiply by 31 bits and a shift: round the product upward, then the rest."""
    exponent = 0
    while real >= 1:
        real, exponent = real / 2, exponent + 1
    while real < Fraction(1, 2):
        real, exponent = real * 2, exponent - 1
    high = up(Fraction(x * 2 ** max(exponent, 0) * rha(real * 2**31), 2**31))
    return ties(Fraction(high, 2 ** max(-exponent, 0)))


def up(x: Fraction) -> int:
    return int((x + Fraction(1, 2)).__floor__())


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_eq_real_operation__exact(operation: str) -> None:
    """Real numbers of float32, one operation, a division, a rounding."""
    expected = []
    for a, b in PAIRS:
        x, y = f32((a - 17) * S_A), f32((b - 200) * S_B)
        expected.append(rne(f32(f32(x + y if operation == "add" else x * y) / S_Y)) + 90)
    got = getattr(ONNXQDQ(), operation)(FIRST, A, SECOND, B, Y)
    assert stored(expected) == got.tolist()
    joined = [rne(f32(f32((a - 17) * S_A) / S_Y)) + 90 for a, _ in PAIRS]
    assert stored(joined) == ONNX().rescale(FIRST, A, Y).tolist()


def test_eq_real_operation__of_doubles_and_functions() -> None:
    """In double precision, away from ties, sums and products are the exact fractions."""
    values = [
        ((a - 17) * rational(A.scale) + (b - 200) * rational(B.scale)) / rational(Y.scale) + 90
        for a, b in PAIRS
    ]
    got = Float64().add(FIRST, A, SECOND, B, Y).tolist()
    for value, integer in zip(values, got, strict=True):
        if abs(value % 1 - Fraction(1, 2)) > Fraction(1, 10**9):
            assert clamp(rne(value), 0, 255) == integer
    twice = ONNX().function(FIRST, A, Y, lambda x: 2 * x)
    assert (
        stored([rne(f32(2 * f32((a - 17) * S_A) / S_Y)) + 90 for a, _ in PAIRS]) == twice.tolist()
    )


def test_eq_real_result__exact() -> None:
    """A product and a sum, each rounded."""
    sums, bias = np.arange(-4000, 6000, 7)[:, None], np.float32([0.777])
    expected = [f32(f32(int(a) * f32(S_A * S_B)) + rational(bias[0])) for a in sums[:, 0]]
    got = ONNX().dequantize(sums, bias, A.scale, B.scale)[:, 0]
    assert expected == [rational(each) for each in got]


@pytest.mark.parametrize("exchanged", [False, True])
def test_eq_onnx_add__exact(exchanged: bool) -> None:
    """Two fused steps from one constant; a single element comes second."""
    (s_a, z_a), (s_b, z_b) = ((S_B, 200), (S_A, 17)) if exchanged else ((S_A, 17), (S_B, 200))
    r_a, r_b = f32(s_a / S_Y), f32(s_b / S_Y)
    constant = f32(90 - fma(r_a, Fraction(z_a), f32(r_b * z_b)))
    pairs = [(b, a) for a, b in PAIRS] if exchanged else PAIRS
    expected = [rne(fma(Fraction(a), r_a, fma(Fraction(b), r_b, constant))) for a, b in pairs]
    got = ONNX().add(FIRST, A, SECOND, B, Y)
    if exchanged:
        got = np.array([ONNX().add(*each) for each in _alone()]).ravel()
    assert stored(expected) == got.tolist()


def _alone() -> list[Any]:
    return [(FIRST[k : k + 1], A, SECOND[k : k + 1], B, Y) for k in range(len(PAIRS))]


def test_eq_onnx_mul__exact() -> None:
    """One multiplier; the zero point is added before the rounding."""
    multiplier = f32(f32(S_A * S_B) / S_Y)
    expected = [rne(f32(f32(Fraction((a - 17) * (b - 200)) * multiplier) + 90)) for a, b in PAIRS]
    assert stored(expected) == ONNX().mul(FIRST, A, SECOND, B, Y).tolist()


def test_eq_onnx_average__exact() -> None:
    """Real numbers one after the other, two divisions, the zero point, the rounding."""
    expected = []
    for row in TAPS.tolist():
        total = Fraction(0)
        for tap in row:
            total = f32(total + f32(tap * S_A))
        expected.append(rne(f32(f32(f32(total / 6) / S_A) + 17)))
    assert stored(expected) == ONNX().average(TAPS, np.int64(6), A, False).tolist()


def test_eq_onnx_global_average__exact() -> None:
    """An exact sum of integers, and one multiplier, in which the scale does not cancel."""
    multiplier = f32(S_A / f32(S_A * 6))
    expected = [rne(f32(sum(row) * multiplier)) + 17 for row in TAPS.tolist()]
    assert stored(expected) == ONNX().average(TAPS, np.int64(6), A, True).tolist()


@pytest.mark.parametrize(("low", "high"), [(-1.7, 3.1), (0.4, 2.0), (-3.0, -1.0), (0.0, 0.0)])
def test_eq_onnx_dynamic__exact(low: float, high: float) -> None:
    """All 8 bits of a range that holds 0."""
    least, most = min(single(low), Fraction(0)), max(single(high), Fraction(0))
    scale = f32(f32(most - least) / 255) if most > least else Fraction(1)
    got = ONNX().dynamic_grid(np.float32(low), np.float32(high), True)
    assert (scale, clamp(rne(f32(-least / scale)), 0, 255)) == (rational(got.scale), got[1])


def test_eq_tflite_quantize__ties() -> None:
    """A division, ties away from zero; the optimized kernels multiply, ties to even."""
    x = np.float32([*np.arange(-20, 20) + 0.5, *np.linspace(-9, 9, 400)])
    grid = Grid(0.25, 90)
    expected = [rha(f32(rational(each) / Fraction(1, 4))) + 90 for each in x]
    assert stored(expected) == TFLite().quantize(x, grid).tolist()
    even = [rne(rational(each) * 4) + 90 for each in x]
    assert stored(even) == TFLiteRuy().quantize(x, grid).tolist()


def test_eq_tflite_average__exact() -> None:
    """For int8, half the count is added away from zero, and the quotient is truncated."""
    expected = [rha(Fraction(sum(row) + 6 * (17 - 128), 6)) + 128 for row in TAPS.tolist()]
    assert stored(expected) == TFLite().average(TAPS, np.int64(6), A, False).tolist()


@pytest.mark.parametrize(("model", "ties"), [(TFLite(), rha), (TFLiteRuy(), up)])
def test_eq_tflite_rescale__exact(model: Any, ties: Any) -> None:
    """A multiplier of 31 bits of the quotient of the scales."""
    real = rational(np.float64(np.float32(A.scale)) / np.float64(np.float32(Y.scale)))
    expected = [multiplied(a - 17, real, ties) + 90 for a, _ in PAIRS]
    assert stored(expected) == model.rescale(FIRST, A, Y).tolist()


def test_eq_tflite_add__exact() -> None:
    """Both terms are shifted 20 bits to the left, scaled by half their share, and added."""
    s_a, s_b, s_y = (float(np.float32(each.scale)) for each in (A, B, Y))
    twice = 2 * max(s_a, s_b)
    m_a, m_b, m_y = map(rational, (s_a / twice, s_b / twice, twice / (2**20 * s_y)))
    expected = [
        multiplied(multiplied((a - 17) * 2**20, m_a) + multiplied((b - 200) * 2**20, m_b), m_y) + 90
        for a, b in PAIRS
    ]
    assert stored(expected) == TFLite().add(FIRST, A, SECOND, B, Y).tolist()


def test_eq_tflite_mul__exact() -> None:
    """The multiplier is one of float32 numbers, as an integer of 31 bits."""
    real = f32(f32(S_A * S_B) / S_Y)
    expected = [multiplied((a - 17) * (b - 200), real) + 90 for a, b in PAIRS]
    assert stored(expected) == TFLite().mul(FIRST, A, SECOND, B, Y).tolist()


def test_eq_xnnpack_rescale__exact() -> None:
    """Eight bits behind the point, ties upward."""
    integer = rne(f32(S_A / S_Y) * 2**8)
    expected = [up(Fraction(integer * (a - 17), 2**8)) + 90 for a, _ in PAIRS]
    assert stored(expected) == TFLiteXNNPACK().rescale(FIRST, A, Y).tolist()
    coarse = Grid(A.scale * 300, 90)  # beyond what it takes
    others = TFLiteRuy().rescale(FIRST, A, coarse)
    assert np.array_equal(others, TFLiteXNNPACK().rescale(FIRST, A, coarse))


def test_eq_xnnpack_add__exact() -> None:
    """Two multipliers on one shift, one rounding, ties upward."""
    r_a, r_b = f32(S_A / S_Y), f32(S_B / S_Y)
    assert Fraction(1, 2) <= max(r_a, r_b) < 1  # so that its logarithm is -1
    shift = 20 + 1
    m_a, m_b = rne(r_a * 2**shift), rne(r_b * 2**shift)
    expected = [up(Fraction(m_a * (a - 17) + m_b * (b - 200), 2**shift)) + 90 for a, b in PAIRS]
    assert stored(expected) == TFLiteXNNPACK().add(FIRST, A, SECOND, B, Y).tolist()
    fine = Grid(B.scale / 5000, 200)  # beyond what it takes
    others = TFLite().add(FIRST, A, SECOND, fine, Y)
    assert np.array_equal(others, TFLiteXNNPACK().add(FIRST, A, SECOND, fine, Y))


def test_eq_xnnpack_mul__exact() -> None:
    """A float32 multiplier, ties to even, the zero point after the rounding."""
    multiplier = f32(f32(S_A * S_B) / S_Y)
    expected = [rne(f32(Fraction((a - 17) * (b - 200)) * multiplier)) + 90 for a, b in PAIRS]
    assert stored(expected) == TFLiteXNNPACK().mul(FIRST, A, SECOND, B, Y).tolist()
