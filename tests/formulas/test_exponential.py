"""Elementary functions against rational arithmetic, and against 50 digits of decimals."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import factorial, floor
from typing import Any

import numpy as np
import pytest
from formulas.exact import f32, fma, fractions, rational, rne

from pyqref.numerics import exponential, logarithm, normal, piecewise, softmax_integers

CONTEXT = Context(prec=50)
U = Fraction(1, 2**24)
LN2 = Fraction(CONTEXT.ln(Decimal(2)))
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
    "21170679821480865132823"
)
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


def f64(x: Fraction) -> Fraction:
    """Rounded to double."""
    return Fraction(float(x))


def series(r: Fraction, terms: int, rounded: Callable[[Fraction], Fraction]) -> Fraction:
    """E of r, every operation rounded: pairs of terms from the last one on."""
    c = {k: rounded(Fraction(1, factorial(k))) for k in range(2, terms + 1)}
    square = rounded(r * r)
    pairs = [rounded(rounded(r * c[k + 1]) + c[k]) for k in range(2, terms, 2)]
    p = c[terms] if terms % 2 == 0 else pairs.pop()
    while pairs:
        p = rounded(rounded(square * p) + pairs.pop())
    return rounded(r + rounded(square * p))


def reduced(x: Fraction) -> tuple[Fraction, Fraction]:
    """2^n, and E of r, in double."""
    x = max(Fraction(-708), min(Fraction(709), x))
    n = rne(f64(x * f64(1 / LN2)) + 1023) - 1023  # of two that are as near, the odd one
    return Fraction(2) ** n, series(f64(x - f64(n * f64(LN2))), 8, f64)


def exact_exp(x: Fraction) -> Fraction:
    ratio = CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))
    return Fraction(CONTEXT.exp(ratio))


def rounded_expm1(x: Fraction) -> Fraction:
    power, e = reduced(x)
    return f64(f64(power * e) + f64(power - 1))


#: C of eq-exp-below, from its constant on.
FITTED = [f32(Fraction(c)) for c in ("0.49999993", "0.1666652", "0.04166839", "0.00836874")]
FITTED.append(f32(Fraction("0.00138146")))


def fitted(r: Fraction) -> Fraction:
    """``r^2 C(r)``, every operation rounded."""
    square = f32(r * r)
    first, second = (f32(f32(r * FITTED[k + 1]) + FITTED[k]) for k in (0, 2))
    return f32(square * f32(f32(square * f32(f32(square * FITTED[4]) + second)) + first))


def rounded_exp_below(x: Fraction) -> Fraction:
    x, first = max(x, Fraction(-88)), Fraction(355, 512)
    n = rne(f32(x * f32(1 / LN2)) + 127) - 127
    r = f32(f32(x - f32(n * first)) - f32(n * f32(LN2 - first)))
    power = Fraction(2) ** n if n >= -126 else Fraction(0)
    return f32(power + f32(power * f32(r + fitted(r))))


def test_eq_exp__each_operation_rounded() -> None:
    expected = [f64(power + f64(power * e)) for power, e in map(reduced, fractions(X))]
    assert expected == fractions(exponential.exp_in_double(X))


#: ln 2 as the nearest float32, and the rest.
H = f32(LN2)
H_REST = f32(LN2 - H)


def rounded_exp(x: Fraction) -> Fraction:
    """eq-exp-float, where the result is not infinite; the table is made of 50 digits."""
    whole = Fraction(3, 2) * 2**18
    x = max(x, Fraction(-105))
    shifted = fma(x, f32(1 / LN2), whole) - whole
    r = fma(-shifted, H_REST, fma(-shifted, H, x))
    n = floor(shifted)
    power = exact_exp((shifted - n) * LN2)
    e = fma(f32(r * r), fma(r, f32(Fraction(1, 6)), Fraction(1, 2)), r)
    first = f32(power)
    return f32(f32(first + fma(first, e, f32(power - first))) * Fraction(2) ** n)


def test_eq_exp_float__each_operation_rounded() -> None:
    """Subnormal results among them, which are rounded once more."""
    assert [*map(rounded_exp, fractions(X))] == fractions(exponential.exp(X))


def test_eq_expm1__each_operation_rounded() -> None:
    x = X[X < 88]
    assert [f32(rounded_expm1(each)) for each in fractions(x)] == fractions(exponential.expm1(x))


def test_eq_exp_below__each_operation_rounded() -> None:
    x = -np.abs(X)
    assert [*map(rounded_exp_below, fractions(x))] == fractions(exponential.exp_below(x))


#: D of eq-one-plus-exp, from its highest coefficient on.
FROM_CUBE = [0.0001974563, 0.0013935462, 0.008333565, 0.04166646, 0.16666666]


def rounded_one_plus_exp(x: Fraction) -> Fraction:
    y = min(max(-x, Fraction(-88)), f32(Fraction("88.37")))
    n = fma(y, f32(1 / LN2), Fraction(12583039)) - 12583039
    r, rest = fma(-n, H, y), f32(-n * H_REST)
    d = Fraction(0)
    for coefficient in FROM_CUBE:
        d = fma(d, r, f32(Fraction(coefficient)))
    e = fma(r / 2, r, fma(f32(f32(r * r) * r), d, fma(rest, r, rest)))
    power = Fraction(2) ** int(n) if n >= -126 else Fraction(0)
    start = f32(1 + power)
    left = f32(1 - f32(start - power))
    return f32(start + fma(power, r, fma(power, e, left)))


def test_eq_one_plus_exp__each_operation_rounded() -> None:
    x = X[X > -88.37]
    expected = [*map(rounded_one_plus_exp, fractions(x))]
    assert expected == fractions(exponential.one_plus_power(x))


def test_eq_sigmoid__each_operation_rounded() -> None:
    """One over that of eq-one-plus-exp, and 0 where that is infinite."""
    expected = [f32(1 / rounded_one_plus_exp(x)) if x > -88.37 else 0 for x in fractions(X)]
    assert expected == fractions(exponential.sigmoid(X))


@pytest.mark.parametrize("ends", [
    (exponential.exp, [np.inf, 0.0, 1.0]),
    (exponential.sigmoid, [1.0, 0.0, 0.5]),
    (piecewise.tanh, [1.0, -1.0, 0.0]),
    (piecewise.erf, [1.0, -1.0, 0.0]),
    (normal.normal, [1.0, 0.0, 0.5]),
])  # fmt: skip
def test_eq_exp__ends(ends: tuple[Callable[[Any], np.ndarray], list[float]]) -> None:
    """Far out and at infinity, without a warning; nan stays, and so does the sign of zero."""
    function, (high, low, middle) = ends
    for far in (np.inf, 3e38, 1e3):
        assert [high, low, middle] == function(np.float32([far, -far, 0])).tolist()
    assert np.isnan(function(np.float32([np.nan]))).all()
    if middle == 0.0:
        assert np.signbit(function(np.float32(-0.0)))


def test_eq_one_plus_exp__highest() -> None:
    """-88.37 is the last number that is not infinite."""
    last = np.float32(-88.37)
    found = exponential.one_plus_power(np.float32([last, np.nextafter(last, np.float32(-100))]))
    assert [True, False] == np.isfinite(found).tolist()


def units(actual: np.ndarray, expected: Fraction) -> Fraction:
    """The error in units in the last place of the result."""
    return abs(rational(actual) - expected) / rational(np.spacing(np.float32(abs(expected))))


def test_eq_exp_error__fifty_digits() -> None:
    """The bounds, wherever the results are not subnormal."""
    for x in fractions(X):
        e, double = exact_exp(x), exact_exp(-2 * abs(x))
        if Fraction(1, 2**126) <= e and x < 88.72:
            assert units(exponential.exp(np.float32(x)), e) <= Fraction(54, 100)
        if abs(x) > Fraction(1, 2**126):
            tanh = (1 - double) / (1 + double) * (-1 if x < 0 else 1)
            assert units(piecewise.tanh(np.float32(x)), tanh) <= Fraction(6, 10)
        sigmoid = e / (1 + e)
        actual = rational(exponential.sigmoid(np.float32(x)))
        assert abs(actual - sigmoid) <= Fraction(29, 10) * U * sigmoid + Fraction(1, 2**126)


def test_eq_log_series__fifty_digits() -> None:
    """Within 1.5e-10 of itself, the first term that is left out."""
    for s in np.linspace(-1 / 3, 1 / 3, 50):
        ratio = (1 + Fraction(float(s))) / (1 - Fraction(float(s)))
        exact = Fraction(CONTEXT.ln(CONTEXT.divide(Decimal(ratio.numerator), ratio.denominator)))
        actual = Fraction(float(logarithm.inverse_tanh_series(np.float64(s))))
        assert abs(actual - exact) <= Fraction(15, 10**11) * abs(exact)


def test_eq_log__fifty_digits() -> None:
    """The error is at most 0.66 units, also for subnormals, near 1 and at ends of intervals."""
    ends = (1, 43 / 64, 1.09375)
    near = [np.float32(c) * (1 + np.arange(-20, 20) * 2.0**-22) for c in ends]
    x = np.abs(np.concatenate([X, *near, np.exp(X)])).astype(np.float32)
    for each in fractions(x[(x > 0) & (x < np.inf)]):
        expected = Fraction(CONTEXT.ln(CONTEXT.divide(Decimal(each.numerator), each.denominator)))
        if expected:
            assert units(logarithm.log(np.float32(each)), expected) <= Fraction(66, 100)
    assert [-np.inf, -np.inf, np.inf] == logarithm.log(np.float32([0, -0.0, np.inf])).tolist()
    assert np.isnan(logarithm.log(np.float32([-1, -np.inf, np.nan]))).all()


def test_eq_softplus__fifty_digits() -> None:
    for x in fractions(X[np.abs(X) < 87]):
        power = Context(prec=100).exp(Decimal(float(x)))
        expected = Fraction(Context(prec=100).ln(Context(prec=100).add(1, power)))
        if expected > Fraction(1, 2**126):
            assert units(logarithm.softplus(np.float32(x)), expected) <= Fraction(51, 100)


def exact_erf(x: Fraction) -> Fraction:
    """Return the exact value by the series, with digits for all that cancels."""
    if abs(x) > 14:
        return Fraction(1 if x > 0 else -1)
    with localcontext(Context(prec=120)):
        a = Decimal(x.numerator) / Decimal(x.denominator)
        term = total = a
        n = 0
        while abs(term) > Decimal(10) ** -100 * abs(a):
            n += 1
            term *= -a * a / n
            total += term / (2 * n + 1)
        return Fraction(2 * total / PI.sqrt())


def test_eq_bell__fifty_digits() -> None:
    """Within 3 u, and (x^2 / 2) u for the rounding of the factor of the exponent."""
    for square in fractions(np.linspace(0, 170, 200).astype(np.float32)):
        expected = exact_exp(-square / 2)
        actual = rational(normal.bell(np.float32(square)))
        assert abs(actual - expected) <= (3 + square / 2) * U * expected + Fraction(1, 2**126)


def test_eq_normal_tail__hundred_digits() -> None:
    """The bound of eq-exp-error; eq-normal takes it on either side of zero."""
    x = np.linspace(0, 9, 100).astype(np.float32)
    size, tails, _ = normal.tail_and_bell(x)
    assert x.tolist() == size.tolist()
    root = Fraction(Decimal(2).sqrt(Context(prec=100)))
    for each, tail in zip(fractions(x), fractions(tails), strict=True):
        expected = (1 - exact_erf(each / root)) / 2
        assert abs(tail - expected) <= (10 + each * each) * U * expected


def test_eq_normal__both_sides() -> None:
    x = np.linspace(0, 9, 100).astype(np.float32)[1:]
    _, tail, _ = normal.tail_and_bell(x)
    assert tail.tolist() == normal.normal(-x).tolist()
    assert [f32(1 - each) for each in fractions(tail)] == fractions(normal.normal(x))


def test_eq_softmax_integers__exact_fractions() -> None:
    """Powers of 50 digits, rounded once; the quotient exact; sums of one element and of many."""
    scale, out, zero_point = Fraction(float(np.float32(0.043))), Fraction(1, 256), 3
    table = [rne(2**30 * exact_exp(-scale * d)) for d in range(256)]
    for count in (1, 2, 7, 300):
        q = RNG.integers(0, 256, count, dtype=np.uint8)
        powers = [table[int(q.max()) - int(each)] for each in q]
        parts = [Fraction(rne(2**15 / out) * each, 2**15 * sum(powers)) for each in powers]
        expected = [min(int(each + Fraction(1, 2)) + zero_point, 255) for each in parts]
        found = softmax_integers.softmax_of_integers(q, float(scale), float(out), zero_point)
        assert expected == found.tolist()


def test_eq_softmax_integers__table() -> None:
    """Powers of 50 digits, rounded to the nearest unit, for the distances from 0 to 255.

    The exponential function in double is within 2^-31 of itself, which is half a unit at 1.
    """
    for scale in (0.043, 0.25):
        powers = [exact_exp(-rational(np.float32(scale)) * d) for d in range(256)]
        found = softmax_integers.powers_of_distances(scale).tolist()
        for power, units in zip(powers, found, strict=True):
            assert abs(units - 2**30 * power) <= (1 + power) / 2


def test_eq_softmax_integers__rows_and_ends() -> None:
    """Each row by itself; small shares are 0, and a fine grid holds its multiplier to 31 bits."""
    q = RNG.integers(0, 256, (2, 3, 4), dtype=np.uint8)
    found = softmax_integers.softmax_of_integers(q, 0.043, 1 / 256, 3)
    rows = [softmax_integers.softmax_of_integers(row, 0.043, 1 / 256, 3) for row in q.reshape(6, 4)]
    assert np.reshape(rows, q.shape).tolist() == found.tolist()
    ends = softmax_integers.softmax_of_integers(np.uint8([0, 255]), 1.0, 1 / 256, 0)
    assert [0, 255] == ends.tolist()
    for scale in (2.0**-16, 2.0**-17, 2.0**-40):
        assert 2**31 - 1 == softmax_integers.softmax_inverse(scale)
    assert 2**30 == softmax_integers.softmax_inverse(2.0**-15)
