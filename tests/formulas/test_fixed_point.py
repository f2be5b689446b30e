"""Multipliers as integers and shifts, and saturating sums, against exact arithmetic."""

from __future__ import annotations

import math
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from formulas.exact import rational, rha
from hypothesis import given
from hypothesis import strategies as st

from pyqref.numerics.accumulator import saturating_pairs
from pyqref.numerics.fixed_point import (
    bias_half_away,
    fixed_point_multiplier,
    multiply_rounded_once,
    multiply_rounded_twice,
    shift_right,
)

MULTIPLIERS = st.floats(2.0**-30, 2.0**10, allow_nan=False)
SUMS = st.integers(-(2**24), 2**24)


def up(value: Fraction) -> int:
    """The nearest integer, ties up."""
    return math.floor(value + Fraction(1, 2))


ROUND = {"up": up, "away": rha}


@given(MULTIPLIERS)
def test_eq_fixed_point_multiplier__exact(multiplier):
    """31 bits, the nearest there are, ties away from zero."""
    integer, exponent = (int(each) for each in fixed_point_multiplier(np.float64(multiplier)))
    assert 2**30 <= integer < 2**31
    real, unit = rational(multiplier), Fraction(2) ** (exponent - 31)
    assert abs(integer * unit - real) <= unit / 2


def test_eq_fixed_point_multiplier__ends():
    """Too small is 0, too large the largest; rounding to 2**31 raises the exponent by one."""
    given = [2.0**-33, 2.0**40, 1 - 2.0**-40, 0.5]
    integers, exponents = fixed_point_multiplier(np.array(given))
    assert [0, 2**31 - 1, 2**30, 2**30] == integers.tolist()
    assert [0, 30, 1, 0] == exponents.tolist()


@given(st.integers(-(2**61), 2**61), st.integers(0, 62), st.sampled_from(["up", "away"]))
def test_eq_shift_half_up__exact(x, shift, ties):
    """``eq-shift-half-up`` and ``eq-round-shift-right`` over all shifts."""
    assert ROUND[ties](Fraction(x, 2**shift)) == int(shift_right(x, shift, ties))


@given(SUMS, MULTIPLIERS, st.sampled_from(["up", "away"]), st.sampled_from(["up", "away"]))
def test_eq_multiply_rounded_twice__exact(x, multiplier, first, second):
    """The product is rounded to whole numbers of its upper half, then the shift is."""
    integer, exponent = fixed_point_multiplier(np.float64(multiplier))
    m, e = int(integer), int(exponent)
    left = min(max(x * 2 ** max(e, 0), -(2**31)), 2**31 - 1)
    high = ROUND[first](Fraction(left * m, 2**31))
    expected = ROUND[second](Fraction(high, 2 ** max(-e, 0)))
    assert expected == int(multiply_rounded_twice(x, integer, exponent, first, second))


@given(SUMS, MULTIPLIERS)
def test_eq_multiply_rounded_once__exact(x, multiplier):
    """One rounding, ties up."""
    integer, exponent = fixed_point_multiplier(np.float64(multiplier))
    expected = up(Fraction(x * int(integer)) * Fraction(2) ** (int(exponent) - 31))
    assert expected == int(multiply_rounded_once(x, integer, exponent))


def test_eq_multiply_rounded_twice__gemmlowp():
    """The nudge of gemmlowp gives ties that go up, also of negative products.

    It is 2**30 for a product that is not negative, else 1 - 2**30, before a division that drops
    what is behind the point.
    """
    rng = np.random.default_rng(0)
    x, m = rng.integers(-(2**20), 2**20, 10_000), rng.integers(2**30, 2**31, 10_000)
    x[::3], m[::3] = 2 * x[::3] + 1, 2**30
    for a, b in zip(x.tolist(), m.tolist(), strict=True):
        nudged = a * b + (2**30 if a * b >= 0 else 1 - 2**30)
        truncated = nudged // 2**31 if nudged >= 0 else -(-nudged // 2**31)
        assert truncated == int(multiply_rounded_twice(a, b, 0, "up", "away"))


@given(st.floats(-1e6, 1e6, width=32), st.floats(1e-3, 10), st.floats(1e-3, 10))
def test_eq_bias_half_away__exact(bias, s_x, s_w):
    """The quotient is taken in double precision of float32 scales, then ties go away."""
    unit = np.float64(np.float32(s_x)) * np.float64(np.float32(s_w))
    quotient = rational(np.float64(np.float32(bias)) / unit)
    expected = min(max(rha(quotient), -(2**31)), 2**31 - 1)
    assert expected == int(bias_half_away(bias, s_x, s_w))


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_eq_saturating_pairs__exact(depth, seed):
    """Neighbours are added and clamped to 16 bits; a last one alone never needs it."""
    rng = np.random.default_rng(seed)
    x, w = rng.integers(0, 256, depth), rng.integers(-128, 128, depth)
    products = [*(int(a) * int(b) for a, b in zip(x, w, strict=True)), 0]
    pairs = [products[k] + products[k + 1] for k in range(0, depth, 2)]
    expected = sum(min(max(each, -(2**15)), 2**15 - 1) for each in pairs)
    assert expected == int(
        saturating_pairs(x[None].astype(np.uint8), w[None].astype(np.int8))[0, 0]
    )


def test_eq_saturating_pairs__is_cured_by_7_bits():
    """``eq-pair-sum``: exact if inputs have 7 bits, or weights are in -64..63; else not."""
    ends = np.array(np.meshgrid([0, 127, 128, 255], [0, 127, 128, 255])).reshape(2, -1).T
    weights = np.array(np.meshgrid([-128, -65, -64, 63, 64, 127], [-128, -65, -64, 63, 64, 127]))
    weights = weights.reshape(2, -1).T
    exact = ends @ weights.T
    equal = saturating_pairs(ends, weights) == exact
    narrow = (ends < 128).all(axis=1)[:, None] | ((weights >= -64) & (weights <= 63)).all(axis=1)
    assert equal[narrow].all()
    assert not equal.all()


#: CMSIS-NN's requantization, from its documented formula: a rounding offset of 2**30 and the upper
#: bits of the doubled product; then a shift whose remainder is compared with half the divisor.
CMSIS_NN = """
#include <stdint.h>
#include <stdio.h>
static int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
    const int32_t left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    const int64_t product = (int64_t)(value * (1 << left)) * multiplier + (1 << 30);
    const int32_t high = (int32_t)(product >> 31);
    const int32_t mask = (int32_t)((1u << right) - 1), rest = mask & high;
    int32_t result = high >> right;
    if (rest > (mask >> 1) + (result < 0)) result++;
    return result;
}
int main(void) {
    int value, multiplier, shift;
    while (scanf("%d %d %d", &value, &multiplier, &shift) == 3)
        printf("%d\\n", (int)requantize(value, multiplier, shift));
    return 0;
}
"""


def test_eq_multiply_rounded_twice__compiled(tmp_path: Path):
    """CMSIS-NN's formula in C gives the same integers, ties included."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "requantize.c").write_text(CMSIS_NN, encoding="utf-8")
    program = str(tmp_path / "requantize")
    subprocess.run([compiler, "-O1", "-o", program, str(tmp_path / "requantize.c")], check=True)
    rng = np.random.default_rng(0)
    x = rng.integers(-(2**20), 2**20, 20_000)
    m = rng.integers(2**30, 2**31, x.size)
    m[::4] = 2**30
    exponent = rng.integers(-20, 8, x.size)
    lines = "\n".join(f"{a} {b} {c}" for a, b, c in zip(x, m, exponent, strict=True))
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    expected = np.array(done.stdout.split(), np.int64)
    assert np.array_equal(expected, multiply_rounded_twice(x, m, exponent, "up", "away"))
