"""The error bounds of the theory pages, from requantization to parameters.

Both sides of every bound are exact: results are float32 numbers or integers, taken as
``Fraction``s, and so is the real value to which they are compared. Each bound is the one
displayed, with every small term in it; no tolerance is added.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import rational
from hypothesis import given
from hypothesis import strategies as st

from pyqref.numerics.requantize import requantization, requantize, scaled_accumulator

U = Fraction(1, 2**24)
HALF = Fraction(1, 2)


def gamma(n: int) -> Fraction:
    """Largest relative error of n roundings to float32: n u / (1 - n u)."""
    return n * U / (1 - n * U)


scales = st.floats(2.0**-12, 4.0)
steps = st.floats(0.25, 2.0**13)


@given(scales, scales, steps, st.integers(-(2**20), 2**20), st.floats(-(2.0**20), 2.0**20))
@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_eq_requantize_error__engines(
    engine: str, per_channel: bool, s_x: float, s_w: float, ratio: float, a: int, units: float
) -> None:
    """Half a step, 8 roundings of the sum, 12 of the bias; clamped as the exact value is."""
    s_y, bias = s_x * s_w * ratio, np.float32(units * s_x * s_w)
    requant = requantization(engine, s_x, [s_w] if per_channel else s_w, s_y, 101, [bias])
    unit = rational(s_x) * rational(s_w)
    real = (unit * a + rational(bias)) / rational(s_y) + 101
    bound = HALF + (gamma(8) * unit * abs(a) + gamma(12) * abs(rational(bias))) / rational(s_y)
    if engine == "qnnpack":
        bound += HALF * (1 + gamma(8)) * unit / rational(s_y)
    q = requantize(np.array([[a]]), requant).item()
    assert abs(q - min(max(real, Fraction(0)), Fraction(255))) <= bound


@given(scales, scales, steps, st.integers(-(2**20), 2**20), st.floats(-(2.0**20), 2.0**20))
def test_eq_engine_difference__before_rounding(
    s_x: float, s_w: float, ratio: float, a: int, units: float
) -> None:
    """Half a unit of the accumulator apart, and the roundings of both engines."""
    s_y, bias = s_x * s_w * ratio, np.float32(units * s_x * s_w)
    engines = ("fbgemm", "qnnpack")
    prepared = [requantization(engine, s_x, s_w, s_y, 0, [bias]) for engine in engines]
    fbgemm, qnnpack = (rational(scaled_accumulator(np.array([[a]]), each)) for each in prepared)
    unit, b = rational(s_x) * rational(s_w), abs(rational(bias))
    bound = HALF * (1 + gamma(8)) * unit + 2 * gamma(8) * unit * abs(a) + 2 * gamma(12) * b
    assert abs(fbgemm - qnnpack) <= bound / rational(s_y)


def test_eq_engine_difference__is_reached() -> None:
    """A bias of half a unit is rounded away by one engine and kept by the other."""
    prepared = [requantization(each, 1.0, 1.0, 1.0, 0, [0.5]) for each in ("fbgemm", "qnnpack")]
    kept, rounded = (scaled_accumulator(np.array([[3]]), each).item() for each in prepared)
    assert (3.5, 3.0) == (kept, rounded)
