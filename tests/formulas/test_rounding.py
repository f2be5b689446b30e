"""The rounding rules against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational, rha, rne
from hypothesis import given
from hypothesis import strategies as st

from pyqref.numerics.rounding import (
    clamp_to_int,
    fma32,
    round_half_away,
    round_half_even,
    round_shift_right,
)

singles = st.floats(width=32, allow_nan=False, allow_infinity=False)
moderate = st.floats(-(2.0**40), 2.0**40, width=32)


@pytest.mark.parametrize("step", range(-9, 10))
def test_eq_round_half_even__ties(step: int) -> None:
    """Halves go to the even neighbour, on both sides of zero."""
    assert rne(Fraction(step, 2)) == round_half_even(np.float32(step / 2))


@given(moderate)
def test_eq_round_half_even__any(x: float) -> None:
    """Every float32 number."""
    assert rne(rational(x)) == round_half_even(np.float32(x))


@pytest.mark.parametrize("step", range(-9, 10))
def test_eq_round_half_away__ties(step: int) -> None:
    """Halves go away from zero."""
    assert rha(Fraction(step, 2)) == round_half_away(np.float32(step / 2))


@given(moderate)
def test_eq_round_half_away__any(x: float) -> None:
    """Every float32 number, also those where adding one half would round."""
    assert rha(rational(x)) == round_half_away(np.float32(x))


def test_eq_round_half_away__largest_below_half() -> None:
    """0.49999997 + 0.5 is 1 in float32; its rounding is 0 all the same."""
    assert round_half_away(np.nextafter(np.float32(0.5), np.float32(0))) == 0


@given(st.integers(-(2**40), 2**40), st.integers(0, 30))
def test_eq_round_shift_right__any(x: int, shift: int) -> None:
    """The quotient by a power of two, ties away from zero."""
    assert rha(Fraction(x, 2**shift)) == round_shift_right(x, shift)


@given(singles, singles, singles)
def test_eq_fma__any(a: float, b: float, c: float) -> None:
    """One rounding, for numbers of all sizes that do not overflow."""
    exact = f32(rational(a) * rational(b) + rational(c))
    if abs(exact) < 2**128:
        assert exact == rational(fma32(a, b, c))


@pytest.mark.parametrize("sign", [1, -1])
def test_eq_fma__double_rounding(sign: int) -> None:
    """A sum whose float64 rounding is a float32 tie that the exact sum is not.

    ``2**24 + 3`` is halfway between two float32 numbers. The exact sum lies ``2**-40``
    below; rounded to 53 bits first, it becomes the tie and goes to ``2**24 + 4``.
    """
    a, b = np.float32(sign * (1 + 2**-20)), np.float32(1 - 2**-20)
    c = np.float32(sign * (2**24 + 2))
    twice = np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    assert sign * (2**24 + 4) == twice
    assert sign * (2**24 + 2) == fma32(a, b, c)


def test_eq_fma__random_near_ties() -> None:
    """20,000 products that fall next to a tie of the sum."""
    rng = np.random.default_rng(0)
    a = rng.integers(2**23, 2**24, 20000).astype(np.float32)
    b = (rng.integers(2**23, 2**24, 20000) * 2.0**-46).astype(np.float32)
    c = (rng.integers(2**23, 2**24, 20000) * 2.0**24).astype(np.float32)
    exact = [f32(x * y + z) for x, y, z in zip(*map(fractions, (a, b, c)), strict=True)]
    assert exact == fractions(fma32(a, b, c))


def test_eq_fma__infinities_and_nan() -> None:
    """Special numbers behave as in IEEE arithmetic."""
    assert np.inf == fma32(np.inf, 1, 1)
    assert -np.inf == fma32(-np.inf, 1, 1)
    assert np.isnan(fma32(np.inf, 0, 1))
    assert np.isnan(fma32(np.inf, 1, -np.inf))
    assert np.inf == fma32(3e38, 3e38, 0)


def test_eq_saturate__beyond_the_type() -> None:
    """Infinities and numbers beyond the integer type end at the range, never wrap."""
    values = np.float32([-np.inf, -1e20, -3, 0, 300, 1e20, np.inf])
    assert clamp_to_int(values, 0, 255, np.uint8).tolist() == [0, 0, 0, 0, 255, 255, 255]
    low, high = -(2**31), 2**31 - 1
    expected = [low, low, -3, 0, 300, high, high]
    assert expected == clamp_to_int(values, low, high, np.int32).tolist()


def test_eq_saturate__nan() -> None:
    """Nan becomes the integer that the caller names, quant_max by default."""
    assert clamp_to_int(np.float32(np.nan), 0, 255, np.uint8) == 255
    assert clamp_to_int(np.float32(np.nan), 0, 255, np.uint8, nan=7) == 7
