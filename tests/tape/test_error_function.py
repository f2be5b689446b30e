"""The error function of an array against the C library's, number by number."""

from __future__ import annotations

import math

import numpy as np

from pyqref.tape.error_function import erf, erfc

# Two polynomials of degree 8 and a quotient in double: a few roundings near 1.
ULPS_OF_DOUBLE = 8


def numbers() -> np.ndarray:
    edges = [0.46875, 4.0, 6.0, 28.0, 1e-310, 1e308, math.inf]
    around = [np.nextafter(e, s) for e in edges for s in (0.0, math.inf)]
    return np.concatenate([np.linspace(-30, 30, 20001), np.linspace(-1, 1, 10001), around])


def test_double_is_within_a_few_units_of_the_last_place() -> None:
    """``erf`` in double differs from ``math.erf`` by a few units in the last place at most."""
    x = numbers()
    expected = np.array([math.erf(each) for each in x])
    units = np.abs(erf(x) - expected) / np.maximum(np.spacing(np.abs(expected)), 5e-324)
    assert units.max() <= ULPS_OF_DOUBLE


def test_complement_keeps_its_digits_where_it_is_small() -> None:
    """``erfc`` against ``math.erfc``, down to the smallest normal number."""
    x = numbers()
    expected = np.array([math.erfc(each) for each in x])
    normal = (expected == 0) | (expected > np.finfo(np.float64).tiny)
    units = np.abs(erfc(x) - expected) / np.maximum(np.spacing(expected), 5e-324)
    assert units[normal].max() <= ULPS_OF_DOUBLE


def test_float32_is_correct_to_the_last_bit() -> None:
    """For numbers in float32 the result is that of ``math.erf``, rounded once."""
    x = np.random.default_rng(0).standard_normal(20000).astype(np.float32)
    expected = np.array([math.erf(each) for each in x.astype(float)]).astype(np.float32)
    np.testing.assert_array_equal(expected, erf(x))


def test_signs_nan_and_shape_are_kept() -> None:
    """``erf(-0.0)`` is -0.0, nan stays nan, an empty array stays empty."""
    assert math.copysign(1.0, erf(np.array([-0.0]))[0]) == -1.0
    assert np.isnan(erf(np.array([np.nan])))[0]
    assert (0, 3) == erf(np.zeros((0, 3), np.float32)).shape
