"""Mean and variance of channels, as batch norm takes them: exact sums, and their order."""

from __future__ import annotations

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational

from pyqref.numerics.moments import moments_of_channels, sums

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 33])
def test_sums__lane_by_lane(length: int) -> None:
    """Sixteen lanes through all images, then the second half is added to the first one."""
    x = RNG.standard_normal((3, 2, length))
    for channel, found in enumerate(sums(x)):
        lanes = [0.0] * 16
        for image in x[:, channel].tolist():
            for place, number in enumerate(image):
                lanes[place % 16] += number
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [a + b for a, b in zip(lanes[:half], lanes[half:], strict=True)]
        assert lanes[0] == found


def test_sums__of_nothing() -> None:
    """No elements, and no images, have the sum 0."""
    assert [0, 0] == sums(np.ones((3, 2, 0))).tolist() == sums(np.ones((0, 2, 3))).tolist()


@pytest.mark.parametrize("length", [1, 2, 16, 17])
def test_moments_of_channels__exact(length: int) -> None:
    """Fractions, rounded to float32 where the mean and the variance are.

    Numbers are multiples of 1/64 below 16, so that double holds the sums and the squares of
    numbers without a mean of float32; a quotient is rounded to double, then to float32.
    """
    x = (RNG.integers(-999, 999, (4, 3, length)) / 64).astype(np.float32)
    mean, variance = moments_of_channels(x)
    assert (np.float32, np.float32) == (mean.dtype, variance.dtype)
    for channel in range(3):
        numbers = fractions(x[:, channel])
        middle = f32(rational(float(sum(numbers)) / len(numbers)))
        assert middle == rational(mean[channel])
        squares = sum(f32(each - middle) ** 2 for each in numbers)
        assert abs(squares / len(numbers) - rational(variance[channel])) <= 2**-23 * squares


def test_moments_of_channels__double_stays() -> None:
    """Doubles have a mean and a variance of doubles; without elements they are nan."""
    mean, variance = moments_of_channels(np.float64([[[1, 2]]]) / 3)
    assert (np.float64, 0.5, 1 / 36) == (mean.dtype, mean[0], pytest.approx(variance[0], rel=1e-15))
    assert np.isnan(moments_of_channels(np.ones((0, 1, 3), np.float32))).all()
