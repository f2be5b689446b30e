"""Functions of a layer's real result: before its one rounding, and in the grid's range."""

from __future__ import annotations

import numpy as np
import pytest
from formulas.exact import f32, fractions, single

from pyqref.numerics.fused_function import leaky, plus, requantize_function

X = np.float32([-np.inf, -3.0, -0.1, -1e-45, -0.0, 0.0, 1e-45, 0.1, 0.5, 3.0, np.inf])


@pytest.mark.parametrize("slope", [0.1, 1e-45, 0.5, 1.0, 1.5, 2.0, -1.0, -0.1, 0.0])
def test_eq_requantize_function__leaky(slope: float) -> None:
    """Products below and at 0, rounded once; numbers above 0 stay. Slopes of 1 and more too."""
    finite = X[1:-1]
    expected = [x if x > 0 else f32(x * single(slope)) for x in fractions(finite)]
    found = leaky(slope)(finite)
    assert expected == fractions(found)
    negative = np.where(finite > 0, False, np.signbit(finite) ^ (np.signbit(slope)))
    assert negative.tolist() == np.signbit(found).tolist()


@pytest.mark.parametrize("slope", [0.1, 1.0, 2.0, -1.0, 0.0])
def test_eq_requantize_function__leaky_at_infinity(slope: float) -> None:
    """Infinity is above 0 and stays; minus infinity times 0 is nan."""
    low, high = leaky(slope)(X[[0, -1]])
    assert np.inf == high
    assert np.isnan(low) if slope == 0 else low == -np.inf * slope


def test_eq_requantize_function__plus() -> None:
    """The sum, and with a ReLU nothing below 0."""
    other = np.float32([1.0, 1.0, -4.0])
    x = np.float32([-5.0, 5.0, 4.0])
    assert [-4, 6, 0] == plus(other, relu=False)(x).tolist()
    assert [0, 6, 0] == plus(other, relu=True)(x).tolist()


def test_eq_requantize_function__both_ends_of_the_bytes() -> None:
    """What lies outside of 0 .. 255 is held there, and nothing else is."""
    accumulator = np.array([[-300, -11, -10, -9, 244, 245, 246, 300]])
    found = requantize_function(accumulator, 1.0, 1.0, None, lambda x: x, 1.0, 10)
    assert [[0, 0, 0, 1, 254, 255, 255, 255]] == found.tolist()
