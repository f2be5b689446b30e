"""Learned rounding against exact arithmetic, and against other ways to the same numbers."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
from formulas.exact import f32, rational

from pyqref.numerics.learned_rounding import (
    annealed_exponent,
    reconstruction_error,
    rectified_sigmoid,
    rounding_gradient,
    rounding_regularizer,
    rounding_start,
    soft_rounding,
)

RNG = np.random.default_rng(0)
#: The polynomial of eq-exp comes within 2^-31 of the exponential function, relatively; a power
#: is that of up to 20 times a logarithm, which eq-log rounds to float32.
EXP, POWER = 2**-30, 2**-16


def test_eq_rectified_sigmoid__stretched_and_cut() -> None:
    """It lies in [0, 1], reaches both ends at ln 11, and is the stretched sigmoid between them."""
    v = np.concatenate([np.linspace(-40, 40, 4001), [-np.inf, np.inf]])
    found = rectified_sigmoid(v)
    assert ((found >= 0) & (found <= 1)).all()
    ends = np.abs(v) > log(11) + 1e-6
    assert set(found[ends]) == {0.0, 1.0}
    for x, h in zip(v[~ends], found[~ends], strict=True):
        assert abs(h - (1.2 / (1 + exp(-x)) - 0.1)) < EXP
        assert 0 < h < 1


def test_eq_rounding_start__is_the_inverse() -> None:
    """Where learning starts, h is the share of a step that the weight is above its integer."""
    share = np.concatenate([RNG.uniform(0, 1, 1000), [0.0, 0.5]])
    assert np.abs(rectified_sigmoid(rounding_start(share)) - share).max() < 2**-22


def test_eq_soft_rounding__ends_are_neighbours_on_the_grid() -> None:
    """H = 0 gives the integer below and h = 1 that above, clamped; between, the soft weight."""
    below, scale, zero_point = RNG.integers(-11, 11, 200), np.float32(0.37), 2
    for share in (np.zeros(200), np.ones(200), RNG.integers(0, 65, 200) / 64):
        found = soft_rounding(below, share, scale, zero_point, -8, 7)
        for n, h, w in zip(below.tolist(), share, found, strict=True):
            place = max(Fraction(-8), min(Fraction(7), n + rational(h)))
            assert rational(w) == f32((place - zero_point) * rational(scale))


def test_eq_rounding_regularizer__powers() -> None:
    """0 at both integers and 1 in the middle; between them one minus a power."""
    share = np.concatenate([RNG.uniform(0, 1, 200), [0.0, 0.5, 1.0]])
    for exponent in (2.0, 7.5, 20.0):
        found = rounding_regularizer(share, exponent)
        wanted = [1 - abs(2 * h - 1) ** exponent for h in share.tolist()]
        assert np.abs(found - wanted).max() < POWER
        assert found[-3:].tolist() == [0.0, 1.0, 0.0]


def test_eq_annealed_exponent__waits_and_falls_in_a_line() -> None:
    """Constant while there is no price, then straight down to the last exponent."""
    found = [annealed_exponent(step, 50, 0.2, (20.0, 2.0)) for step in range(51)]
    wanted = [20 - 18 * max(Fraction(0), Fraction(step - 10, 40)) for step in range(51)]
    assert np.abs(np.float64(found) - np.float64(wanted)).max() < 2**-46


def test_eq_rounding_gradient__differences() -> None:
    """The slope of ``g . W~ + price f(h)`` along each number, by central differences."""
    below, v = RNG.integers(-9, 8, 100), RNG.uniform(-3, 3, 100)
    gradient, scale, price, exponent = RNG.standard_normal(100), 0.25, 0.7, 3.0

    def loss(at: np.ndarray) -> np.ndarray:
        h = 1.2 / (1 + np.exp(-at)) - 0.1
        h = np.clip(h, 0, 1)
        weight = scale * np.clip(below + h, -8, 7)
        return gradient * weight + price * (1 - np.abs(2 * h - 1) ** exponent)

    step = 1e-5
    wanted = (loss(v + step) - loss(v - step)) / (2 * step)
    found = rounding_gradient(v, gradient, below, scale, -8, 7, exponent, price)
    corners = np.abs(np.abs(v) - log(11)) < 2 * step
    assert np.abs(found - wanted)[~corners].max() < 2**-15
    assert (found[np.abs(v) > log(11) + step] == 0).all()


def test_eq_reconstruction_error__channels() -> None:
    """A sum of squares for each channel, of what a ReLU leaves where there is one."""
    expected, found = RNG.integers(-8, 8, (2, 4, 3, 5)) / 4
    for relu in (False, True):
        for n, total in enumerate(reconstruction_error(expected, found, 1, relu=relu)):
            low = Fraction(0) if relu else Fraction(-99)
            pairs = zip(expected[:, n].flat, found[:, n].flat, strict=True)
            squares = [(max(low, rational(y)) - max(low, rational(z))) ** 2 for y, z in pairs]
            assert rational(total) == sum(squares)


def test_eq_rounding_gradient__in_the_middle() -> None:
    """Where the share is a half, the price has no slope: that of the error alone is left."""
    for v in (0.0, -2e-16):  # with 1.1 + 0.1 in double, the share of the second is exactly a half
        found = rounding_gradient([v], [2.0], [0], 0.5, -8, 7, 2.0, 0.7)
        assert f32(Fraction(3, 10)) == rational(found[0])
    assert 0.5 == rectified_sigmoid(-2e-16)
