"""The bounds that stand beside the equations: kept by every number, and reached by some."""

from __future__ import annotations

from fractions import Fraction
from math import log10

import numpy as np
import pytest
from formulas.exact import fractions, rational, single
from hypothesis import given
from hypothesis import strategies as st

from pyqref.numerics.accumulator import accumulator_bits, largest_depth
from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics.linear import linear_accumulator
from pyqref.numerics.noise import (
    clipping_error,
    gaussian_noise,
    rounding_bound,
    rounding_noise,
    uniform_sqnr,
)

U = Fraction(1, 2**24)
HALF = Fraction(1, 2)
# Three float32 roundings of numbers below 256 steps (docs/theory/affine.rst).
ROUNDINGS = 3 * 256 * U
SCALES = st.floats(2.0**-20, 2.0**20, width=32)


def round_trip(x: np.ndarray, scale: float, zero_point: int) -> np.ndarray:
    """Round to unsigned bytes and back."""
    q = quantize_per_tensor(x, scale, zero_point, 0, 255, np.uint8)
    return dequantize_per_tensor(q, scale, zero_point)


@pytest.mark.parametrize(
    ("bits", "x_size", "depth"), [(16, 255, 1), (16, 127, 2), (32, 255, 65793)]
)
def test_eq_accumulator_width__reached(bits: int, x_size: int, depth: int) -> None:
    """The largest depth fits with the largest integers, and one more does not."""
    assert depth == largest_depth(bits, x_size, 128)
    assert accumulator_bits(depth, x_size, 128) <= bits < accumulator_bits(depth + 1, x_size, 128)
    for count, fits in ((depth, True), (depth + 1, False)):
        x, w = np.full((1, count), x_size, np.uint8), np.full((1, count), -128, np.int8)
        total = int(linear_accumulator(x, 0, w, 0).item())
        assert -count * x_size * 128 == total
        assert fits == (abs(total) <= 2 ** (bits - 1) - 1)


@given(SCALES, st.integers(0, 255), st.floats(0, 255, width=32))
def test_eq_rounding_error_bound__any(scale: float, zero_point: int, steps: float) -> None:
    """No number inside the range is moved by more than half a step and three roundings."""
    x = np.float32([(steps - zero_point) * scale])
    error = abs(rational(x) - rational(round_trip(x, scale, zero_point)))
    assert error <= rational(rounding_bound(scale)) + ROUNDINGS * single(scale)


def test_eq_rounding_error_bound__reached() -> None:
    """At a tie the error is half a step."""
    x = np.float32([0.125, 0.375])
    assert [rational(rounding_bound(0.25))] * 2 == [
        abs(a - b) for a, b in zip(fractions(x), fractions(round_trip(x, 0.25, 7)), strict=True)
    ]


@given(SCALES, st.integers(0, 255), st.floats(-1000, 1000, width=32))
def test_eq_clipping_error__any(scale: float, zero_point: int, steps: float) -> None:
    """Outside, the error is the distance to the nearest end; inside, that distance is 0."""
    x = np.float32([steps * scale])
    clipped = rational(clipping_error(x, scale, zero_point, 0, 255))
    error = abs(rational(x) - rational(round_trip(x, scale, zero_point)))
    assert clipped <= error + ROUNDINGS * single(scale)
    if clipped > single(scale):
        assert abs(error - clipped) <= ROUNDINGS * single(scale)
    else:
        assert error <= max(HALF * single(scale), clipped) + ROUNDINGS * single(scale)


@pytest.mark.parametrize("points", [1, 2, 8, 1024])
def test_eq_rounding_noise__midpoint_sum(points: int) -> None:
    """The midpoint sum of n parts of a step falls short of the integral by 1/n^2 of it."""
    scale = Fraction(3, 8)
    errors = [scale * (Fraction(2 * i + 1, 2 * points) - HALF) for i in range(points)]
    mean = sum(error * error for error in errors) / points
    assert mean == rational(rounding_noise(float(scale))) * (1 - Fraction(1, points**2))


# Midpoints fall short by 1/n^2 with n numbers a step; the rest is the half steps beyond the
# ends, which are missing: at most 1 / (2^b - 1) of all.
@pytest.mark.parametrize("bits", [4, 5, 6, 7, 8])
def test_eq_sqnr_uniform__even_numbers(bits: int) -> None:
    """Evenly spread numbers, 1000 a step, over the whole range."""
    top, points = 2**bits - 1, 1000
    x = (np.arange(top * points) + 0.5) / points
    error = x - np.rint(x)
    signal = x - top / 2
    measured = 10 * log10(np.mean(signal**2) / np.mean(error**2))
    assert abs(uniform_sqnr(bits) - measured) < 1e-4


@pytest.mark.parametrize("bits", [4, 6, 8])
@pytest.mark.parametrize("clip", [2.0, 3.0, 4.0])
def test_eq_gaussian_noise__integral(bits: int, clip: float) -> None:
    r"""The integral of the squared error times the density, over 400,000 parts.

    The formula takes the density to be even within a step. Integrated by parts, the first term
    that this leaves out is :math:`s^4 a \varphi(a) / 360`, a part :math:`s^2 a \varphi(a) / 30`
    of the noise; with steps of at most 0.54 deviations three times that bounds the others too.
    """
    h, step, top = 4e-5, 2 * clip / (2**bits - 1), 2**bits - 1
    x = (np.arange(400_000) + 0.5) * h - 8
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    q = np.clip(np.rint(x / step + top / 2), 0, top)
    measured = float(np.sum((x - (q - top / 2) * step) ** 2 * density) * h)
    even = step**2 * clip * np.exp(-clip * clip / 2) / np.sqrt(2 * np.pi) / 10
    assert abs(measured / gaussian_noise(bits, clip) - 1) <= even
