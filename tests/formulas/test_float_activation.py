"""Activations of float32 and their gradients, against forty digits of what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import fractions
from formulas.test_exponential import PI, exact_erf

from pyqref.numerics import float_activation, float_softmax

U = Fraction(1, 2**24)
CONTEXT = Context(prec=100)
X = np.concatenate([np.linspace(-8, 8, 65), [-3, -1e-3, 1e-3, 3, -20.0, 20.0]]).astype(np.float32)
X = X[X != 0]
ALPHA, SCALE, RATE = 1.75, 1.25, 0.5  # exact in float32


def number(x: Decimal) -> Fraction:
    return Fraction(x)


def exp(x: Fraction) -> Fraction:
    return number(CONTEXT.exp(CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))))


def sigmoid(x: Fraction) -> Fraction:
    return 1 / (1 + exp(-x))


def tanh(x: Fraction) -> Fraction:
    return 2 * sigmoid(2 * x) - 1


def log1p(x: Fraction) -> Fraction:
    x = 1 + x
    return number(CONTEXT.ln(CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))))


ROOT = number(Decimal(2).sqrt(CONTEXT))
BELL = 1 / number((2 * PI).sqrt(CONTEXT))
C1 = 2 * number(CONTEXT.divide(Decimal(2), PI).sqrt(CONTEXT))
C3 = Fraction("0.044715") * C1


def phi(x: Fraction) -> Fraction:
    return (1 + exact_erf(x / ROOT)) / 2


def hard(x: Fraction) -> Fraction:
    return min(max(x + 3, Fraction(0)), Fraction(6)) / 6


Function = Callable[[Fraction], Fraction]
#: Constants, value, slope (of sigmoid and tanh: of the result).
ACTIVATIONS: dict[str, tuple[tuple[float, ...], Function, Function]] = {
    "gelu": ((), lambda x: x * phi(x), lambda x: phi(x) + x * BELL * exp(-x * x / 2)),
    "gelu_tanh": (
        (),
        lambda x: x * sigmoid(x * (C1 + C3 * x * x)),
        lambda x: (s := sigmoid(x * (C1 + C3 * x * x))) + x * s * (1 - s) * (C1 + 3 * C3 * x * x),
    ),
    "silu": ((), lambda x: x * sigmoid(x), lambda x: (s := sigmoid(x)) + x * s * (1 - s)),
    "mish": (
        (),
        lambda x: x * tanh(log1p(exp(x))),
        lambda x: (t := tanh(log1p(exp(x)))) + x * (1 - t * t) * sigmoid(x),
    ),
    "softplus": (
        (2.0, 15.0, 0.0),
        lambda x: x if x * 2 > 15 else log1p(exp(2 * x)) / 2,
        lambda x: Fraction(1) if x * 2 > 15 else sigmoid(2 * x),
    ),
    "elu": (
        (ALPHA * SCALE, SCALE, RATE),
        lambda x: Fraction(SCALE) * (x if x > 0 else Fraction(ALPHA) * (exp(x / 2) - 1)),
        lambda x: Fraction(SCALE) * (1 if x > 0 else Fraction(ALPHA) * exp(x / 2) / 2),
    ),
    "leaky_relu": (
        (0.25,),
        lambda x: x if x > 0 else x / 4,
        lambda x: Fraction(1 if x > 0 else 0.25),
    ),
    "hardswish": (
        (),
        lambda x: x * hard(x),
        lambda x: Fraction(x >= 3) if abs(x) >= 3 else x / 3 + Fraction(1, 2),
    ),
    "hardsigmoid": ((), hard, lambda x: Fraction(abs(x) < 3, 6)),
    "hardtanh": (
        (-2.0, 1.0),
        lambda x: min(max(x, Fraction(-2)), Fraction(1)),
        lambda x: Fraction(-2 < x < 1),
    ),
    "sigmoid": ((), sigmoid, lambda y: y * (1 - y)),
    "tanh": ((), tanh, lambda y: 1 - y * y),
    "rsqrt": ((), lambda x: 1 / number(Decimal(float(x)).sqrt(CONTEXT)), lambda x: Fraction(0)),
    "log": ((), lambda x: log1p(x - 1), lambda x: 1 / x),
    "erf": ((), exact_erf, lambda x: 2 * ROOT * BELL * exp(-x * x)),
}
#: Of values, in u of the exact one: products, quotients and sums of functions of at most 5 u, where
#: nothing cancels; of gelu below 0 that of its tail.
VALUE_BOUND = 6
#: Of slopes, in u of one plus the magnitude of x: terms of about so much may cancel.
SLOPE_BOUND = 6


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_eq_float_activation__forty_digits(name: str) -> None:
    """Each value within six roundings of itself, that of GELU's tail besides."""
    constants, value, _ = ACTIVATIONS[name]
    x = np.abs(X) if name in ("log", "rsqrt") else X
    actual = float_activation.activation(name, x, *constants)
    for each, y in zip(fractions(x), fractions(actual), strict=True):
        expected = value(each)
        bound = VALUE_BOUND + (4 + each * each if name == "gelu" and each < 0 else 0)
        assert abs(y - expected) <= bound * U * abs(expected) + Fraction(1, 2**120), float(each)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "rsqrt"])
def test_eq_float_activation_gradient__forty_digits(name: str) -> None:
    """The slope at each number, times a gradient of 1."""
    constants, _, slope = ACTIVATIONS[name]
    x = np.abs(X) if name == "log" else X
    if name in ("sigmoid", "tanh"):
        x = float_activation.activation(name, x)
    actual = float_activation.activation_gradient(name, np.ones_like(x), x, *constants)
    for each, y in zip(fractions(x), fractions(actual), strict=True):
        assert abs(y - slope(each)) <= SLOPE_BOUND * U * (1 + abs(each)) * max(1, slope(each))


def test_eq_glu__forty_digits() -> None:
    y = float_activation.glu(X, X[::-1])
    for a, b, each in zip(fractions(X), fractions(X[::-1]), fractions(y), strict=True):
        assert abs(each - a * sigmoid(b)) <= VALUE_BOUND * U * abs(a * sigmoid(b))


def test_eq_glu_gradients__forty_digits() -> None:
    of_a, of_gate = float_activation.glu_gradients(np.full_like(X, 2), X, X[::-1])
    for a, b, first, second in zip(*map(fractions, (X, X[::-1], of_a, of_gate)), strict=True):
        s = sigmoid(b)
        assert abs(first - 2 * s) <= VALUE_BOUND * U * 2 * s
        assert abs(second - 2 * a * s * (1 - s)) <= SLOPE_BOUND * U * abs(2 * a * s)


ROWS = np.random.default_rng(3).uniform(-6, 6, (4, 37)).astype(np.float32)
#: A sum of 37 numbers in 16 places: 2 sums a place, 4 of halves; of its terms and what follows 6.
SUM_BOUND, ROW_BOUND = 6, 14


def test_eq_sum_of_places__fractions() -> None:
    for row, actual in zip(ROWS, float_softmax.sum_of_rows(ROWS)[:, 0], strict=True):
        exact = sum(fractions(row))
        size = sum(map(abs, fractions(row)))
        assert abs(Fraction(float(actual)) - exact) <= SUM_BOUND * U * size


def test_eq_float_softmax__forty_digits() -> None:
    """The differences from the largest are rounded, and at most 12; log-softmax as well."""
    soft, logs = float_softmax.softmax(ROWS), float_softmax.log_softmax(ROWS)
    for row, y, log_y in zip(ROWS, soft, logs, strict=True):
        powers = [exp(each) for each in fractions(row)]
        for power, one, log_one in zip(powers, fractions(y), fractions(log_y), strict=True):
            exact = power / sum(powers)
            assert abs(one - exact) <= (ROW_BOUND + 12) * U * exact
            assert abs(log_one - log1p(exact - 1)) <= (ROW_BOUND + 12) * U


def test_eq_float_log_softmax__largest_is_zero() -> None:
    y = float_softmax.log_softmax(np.float32([[1000, 0, -np.inf]]))
    assert [[0.0, -1000.0, -np.inf]] == y.tolist()


def test_eq_float_softmax_gradient__fractions() -> None:
    g = ROWS[::-1]
    y = float_softmax.softmax(ROWS)
    for one, row, actual in zip(g, y, float_softmax.softmax_gradient(g, y), strict=True):
        dot = sum(a * b for a, b in zip(fractions(one), fractions(row), strict=True))
        for a, b, each in zip(fractions(one), fractions(row), fractions(actual), strict=True):
            assert abs(each - (a - dot) * b) <= ROW_BOUND * U * 6 * b


def test_eq_float_log_softmax_gradient__forty_digits() -> None:
    g = ROWS[::-1]
    y = float_softmax.log_softmax(ROWS)
    for one, row, actual in zip(g, y, float_softmax.log_softmax_gradient(g, y), strict=True):
        total, size = sum(fractions(one)), sum(map(abs, fractions(one)))
        for a, b, each in zip(fractions(one), fractions(row), fractions(actual), strict=True):
            assert abs(each - (a - exp(b) * total)) <= ROW_BOUND * U * (abs(a) + exp(b) * size)


def test_eq_float_softmax__large_numbers() -> None:
    """The largest is taken away first: powers of numbers themselves would overflow."""
    first, second, third = float_softmax.softmax(np.float32([[44.5, 43.5, -60]]))[0].tolist()
    assert abs(first - 1 / (1 + 1 / np.e)) <= 2.0**-23
    assert abs(second - 1 / (1 + np.e)) <= 2.0**-23
    assert 0 == third


def test_eq_float_activation__at_the_border() -> None:
    """A threshold itself lies not beyond it, zero is not above zero, and an end stays itself."""
    activation, gradient = float_activation.activation, float_activation.activation_gradient
    one, zeros = np.float32([1]), np.float32([-0.0, 0.0])
    assert abs(float(activation("softplus", one, 1, 1)[0]) - np.log1p(np.e)) <= 2.0**-23
    assert abs(float(gradient("softplus", one, one, 1, 1)[0]) - 1 / (1 + 1 / np.e)) <= 2.0**-23
    assert [0.5] == gradient("elu", one, one * 0, 0.5, 1, 1).tolist()
    assert [0.25] == gradient("leaky_relu", one, one * 0, 0.25).tolist()
    assert [False, True] == np.signbit(activation("leaky_relu", zeros, -0.5)).tolist()
    assert [True, False] == np.signbit(activation("hardtanh", zeros, 0.0, 6.0)).tolist()
    assert [True, False] == np.signbit(activation("hardtanh", zeros, -1.0, 0.0)).tolist()


def test_eq_float_activation__sign_of_a_softplus_of_zero() -> None:
    """A result that vanishes takes the sign of the zero that is added to it."""
    far = np.float32([200])  # log(1 + exp(-200)) / -1
    for zero in (0.0, -0.0):
        found = float_activation.activation("softplus", far, -1, 20, zero)
        assert 0 == found[0]
        assert np.signbit(zero) == np.signbit(found[0])
