"""The exponential function against rational arithmetic, and against 50 digits of decimals."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational, rne

from pyqref.numerics import exponential

CONTEXT = Context(prec=50)
U = Fraction(1, 2**24)
LN2 = Fraction(CONTEXT.ln(Decimal(2)))
RNG = np.random.default_rng(0)
#: All magnitudes, and densely where results are neither 0 nor infinite; ends of the reduction.
X = np.concatenate(
    [
        *(RNG.uniform(-size, size, 50) for size in (1e-30, 1e-5, 0.01, 0.2, 1, 3, 20, 80)),
        (np.arange(-120, 121, 7) + 0.5) * float(LN2),
        np.arange(-150, 128, 9) * float(LN2),
        [0.0, 1e-45, -1e-45, 9, -9, 88.72, -87, -87.5, -100, -103, -103.9, -104, -105],
    ]
).astype(np.float32)


def reduced(x: Fraction) -> tuple[int, Fraction]:
    """n, and E of r, every operation rounded."""
    n = rne(f32(x * f32(1 / LN2)))
    first = Fraction(355, 512)
    r = f32(f32(x - f32(n * first)) - f32(n * f32(LN2 - first)))
    p = f32(Fraction(1, factorial(7)))
    for k in (6, 5, 4, 3, 2):
        p = f32(f32(p * r) + f32(Fraction(1, factorial(k))))
    return n, f32(r + f32(f32(r * r) * p))


def exact_exp(x: Fraction) -> Fraction:
    ratio = CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))
    return Fraction(CONTEXT.exp(ratio))


def rounded_exp(x: Fraction) -> Fraction:
    n, e = reduced(max(x, Fraction(-104)))
    return f32(f32(1 + e) * Fraction(2) ** n)


def rounded_expm1(x: Fraction) -> Fraction:
    n, e = reduced(x)
    return f32(f32(Fraction(2) ** n * e) + f32(Fraction(2) ** n - 1))


def rounded_tanh(x: Fraction) -> Fraction:
    m = rounded_expm1(2 * min(abs(x), Fraction(10)))
    return f32(m / f32(m + 2)) * (-1 if x < 0 else 1)


def test_eq_exp__each_operation_rounded() -> None:
    """Subnormal results among them, which are rounded once."""
    assert [rounded_exp(x) for x in fractions(X)] == fractions(exponential.exp(X))


def test_eq_expm1__each_operation_rounded() -> None:
    x = X[(X > -87) & (X < 88)]
    assert [rounded_expm1(each) for each in fractions(x)] == fractions(exponential.expm1(x))


def test_eq_tanh_expm1__each_operation_rounded() -> None:
    assert [rounded_tanh(x) for x in fractions(X)] == fractions(exponential.tanh(X))


def test_eq_sigmoid__each_operation_rounded() -> None:
    x = X[X > -88]
    expected = [f32(1 / f32(1 + rounded_exp(-each))) for each in fractions(x)]
    assert expected == fractions(exponential.sigmoid(x))


@pytest.mark.parametrize("ends", [
    (exponential.exp, [np.inf, 0.0, 1.0]),
    (exponential.sigmoid, [1.0, 0.0, 0.5]),
    (exponential.tanh, [1.0, -1.0, 0.0]),
])  # fmt: skip
def test_eq_exp__ends(ends: tuple[Callable[[Any], np.ndarray], list[float]]) -> None:
    """Far out and at infinity, without a warning; nan stays, and so does the sign of zero."""
    function, (high, low, middle) = ends
    for far in (np.inf, 3e38, 1e3):
        assert [high, low, middle] == function(np.float32([far, -far, 0])).tolist()
    assert np.isnan(function(np.float32([np.nan]))).all()
    assert np.signbit(exponential.tanh(np.float32(-0.0)))


def test_eq_exp_error__fifty_digits() -> None:
    """The three bounds, wherever the results are not subnormal."""
    bounds = {"exp": 2 * U, "sigmoid": Fraction(41, 10) * U, "tanh": 7 * U}
    for x in fractions(X):
        e, double = exact_exp(x), exact_exp(-2 * abs(x))
        sign = -1 if x < 0 else 1
        expected = {"exp": e, "sigmoid": e / (1 + e), "tanh": sign * (1 - double) / (1 + double)}
        for name, value in expected.items():
            if abs(value) >= Fraction(1, 2**126) and x < 89:
                actual = rational(getattr(exponential, name)(np.float32(x)))
                slack = Fraction(1, 2**127) if name == "sigmoid" else 0
                assert abs(actual - value) <= bounds[name] * abs(value) + slack, (name, float(x))
