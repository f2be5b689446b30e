"""Functions from tables: exact arithmetic, many digits, and the copy that kernels have."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from formulas.exact import f32, fma, fractions
from formulas.test_exponential import CONTEXT, LN2, PI, X, exact_erf, exact_exp, units

import pyqref
from pyqref.numerics import function_tables, logarithm, piecewise

Exact = Callable[[Fraction], Fraction]


def exact_tanh(x: Fraction) -> Fraction:
    double = exact_exp(-2 * x)
    return (1 - double) / (1 + double)


def slope_of_tanh(x: Fraction) -> Fraction:
    return 1 - exact_tanh(x) ** 2


def slope_of_erf(x: Fraction) -> Fraction:
    return 2 / Fraction(PI.sqrt()) * exact_exp(-x * x)


#: The kernel's name, the table, the function, the exact ones, and where it ends.
FUNCTIONS = {
    "TANH_PIECES": (function_tables.TANH, piecewise.tanh, exact_tanh, slope_of_tanh, 9.5),
    "ERF_PIECES": (function_tables.ERF, piecewise.erf, exact_erf, slope_of_erf, 3.95),
}


def place_of(a: Fraction) -> int:
    """The interval of a magnitude: one up to 1/16, then four for each power of two."""
    place, end, width = 0, Fraction(1, 16), Fraction(1, 64)
    while a >= end:
        place, end = place + 1, end + width
        if place % 4 == 0:
            width *= 2
    return place


@pytest.mark.parametrize("name", FUNCTIONS)
def test_eq_piecewise__each_operation_rounded(name: str) -> None:
    """On either side of each end of an interval, too."""
    table, function, _, _, end = FUNCTIONS[name]
    ends = np.float32([2.0**k * (1 + j / 4) for k in range(-4, 4) for j in range(4)])
    x = np.concatenate([X, ends, np.nextafter(ends, np.float32(0))])
    for each, actual in zip(fractions(x), fractions(function(x)), strict=True):
        a = min(abs(each), f32(Fraction(end)))
        m, f, phi, s, sigma, *c = fractions(table[place_of(a)])
        u, p = a - m, c[-1]
        for coefficient in reversed(c[:-1]):
            p = fma(p, u, coefficient)
        p = fma(f32(u * u), p, fma(u, sigma, phi))
        assert actual == f32(f + fma(u, s, p)) * (-1 if each < 0 else 1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_eq_piecewise__tables(name: str) -> None:
    """The value in the middle to 2^-48 of itself; the polynomial within 0.014 units anywhere.

    Around zero, where the last sum rounds nothing, the series is within 0.06 units.
    """
    table, _, exact, slope, _ = FUNCTIONS[name]
    for place, row in enumerate(table):
        m, f, phi, s, sigma, *c = fractions(row)
        assert abs(f + phi - exact(m)) <= Fraction(1, 2**48) * exact(m)
        half = Fraction(1, 16) if place == 0 else Fraction(2) ** ((place - 1) // 4 - 7)
        if place == 0:
            assert s == f32(slope(m))
            assert abs(s + sigma - slope(m)) <= Fraction(1, 2**48)
        for k in range(-8, 9):
            u = half * k / 8
            if m + u > 0:
                polynomial = sum(each * u**i for i, each in enumerate(c, 2))
                found = f + phi + u * (s + sigma) + polynomial
                unit = Fraction(float(np.spacing(np.float32(float(exact(m + u))))))
                most = Fraction(6, 100) if place == 0 else Fraction(14, 1000)
                assert abs(found - exact(m + u)) <= most * unit


@pytest.mark.parametrize("name", FUNCTIONS)
def test_eq_piecewise__fifty_digits(name: str) -> None:
    """At most 0.6 units, and 2^-150 where the rest of the slope is lost below the least number."""
    _, function, exact, _, end = FUNCTIONS[name]
    x = np.concatenate([X[np.abs(X) < end], np.linspace(-3.9, 3.9, 200)]).astype(np.float32)
    for each in fractions(x[np.abs(x) > 2e-38]):
        assert units(function(np.float32(each)), exact(each)) <= Fraction(6, 10)


def test_eq_log__table() -> None:
    """Few bits, which leave a number below 1/32; minus its logarithm in two parts, to 2^-40."""
    near, large, small = function_tables.LOGARITHMS
    for place, (c, high, low) in enumerate(zip(*map(fractions, (near, large, small)), strict=True)):
        first = Fraction(32 + place, 32) / (1 if place < 11 else 2)
        last = Fraction(33 + place, 32) / (1 if place < 11 else 2)
        assert max(abs(first * c - 1), abs(last * c - 1)) <= Fraction(1, 32)
        assert (c * 128).denominator == (high * 2**16).denominator == 1
        log = Fraction(CONTEXT.ln(Decimal(c.numerator) / Decimal(c.denominator)))
        assert abs(high + low + log) <= Fraction(1, 2**40)


#: D of eq-log, from its highest coefficient on.
FROM_SQUARE = [0.19697316, -0.25009179, 0.3333345, -0.5]


def test_eq_log__each_operation_rounded() -> None:
    """All intervals, and subnormal numbers."""
    x = np.abs(np.concatenate([X, np.exp(X[np.abs(X) < 50]), np.linspace(0.5, 2, 97)]))
    x = x[x > 0].astype(np.float32)
    high_part = Fraction(355, 512)
    for each, actual in zip(fractions(x), fractions(logarithm.log(x)), strict=True):
        n, m = 0, each
        while m >= Fraction(43, 32):
            n, m = n + 1, m / 2
        while m < Fraction(43, 64):
            n, m = n - 1, m * 2
        place = int(32 * m) - 32 if m >= 1 else int(64 * m) - 32
        c, large, small = fractions(function_tables.LOGARITHMS[:, place])
        f = fma(m, c, Fraction(-1))
        start = n * high_part + large
        high = f32(start + f)
        d = Fraction(0)
        for coefficient in FROM_SQUARE:
            d = fma(d, f, f32(Fraction(coefficient)))
        rest = f32(fma(Fraction(n), f32(LN2 - high_part), small) + f32(f - f32(high - start)))
        assert actual == f32(high + fma(f32(f * f), d, rest))


HEADER = Path(pyqref.__file__).parent / "_kernels" / "simd" / "function_tables.h"


def numbers(name: str, text: str) -> np.ndarray:
    """Return those of a table of the header, in their order."""
    body = re.search(rf"{name}\[\d+\]\[\d+\] = \{{(.*?)\}};", text, re.DOTALL)
    assert body is not None
    return np.array(re.findall(r"(-?[\d.]+(?:e-?\d+)?)f", body[1]), np.float32)


@pytest.mark.skipif(not HEADER.exists(), reason="an installed package has no headers")
def test_tables_of_kernels_are_those_of_numerics() -> None:
    """Every number of the header, by columns that zeros fill up to 32, and by rows."""
    text = HEADER.read_text(encoding="utf-8")
    tables = {
        "EXP_POWERS": function_tables.POWERS,
        "LOGARITHMS": function_tables.LOGARITHMS,
        "TANH_PIECES": function_tables.TANH.T,
        "ERF_PIECES": function_tables.ERF.T,
    }
    rows = {"TANH_ROWS": function_tables.TANH, "ERF_ROWS": function_tables.ERF}
    assert [*tables, *rows] == re.findall(r"float (\w+)\[", text)
    for name, expected in tables.items():
        found = numbers(name, text).reshape(-1, 32)
        assert expected.tolist() == found[:, : expected.shape[1]].tolist()
        assert not found[:, expected.shape[1] :].any()
    for name, expected in rows.items():
        assert expected.tolist() == numbers(name, text).reshape(-1, 10)[: len(expected)].tolist()
