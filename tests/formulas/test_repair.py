"""Equalization and corrections of biases against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import erf, exp, pi, sqrt

import numpy as np
import pytest
from formulas.exact import f32, fractions, rational, single

from pyqref.numerics.bias_repair import (
    absorbed_bias,
    corrected_bias,
    expected_shift,
    mean_of_clipped_normal,
    mean_of_rectified_normal,
)
from pyqref.numerics.equalization import (
    channel_range,
    equalizing_factors,
    input_weight_factors,
    smoothing_factors,
)

RNG = np.random.default_rng(0)


def test_eq_channel_range__exact() -> None:
    """The range of each channel is its largest number minus its smallest, rounded once."""
    weight = RNG.standard_normal((3, 4, 5)).astype(np.float32)
    for axis in range(3):
        for i, found in enumerate(channel_range(weight, axis)):
            numbers = fractions(weight.take(i, axis))
            assert rational(found) == f32(max(numbers) - min(numbers))


def test_eq_cross_layer_equalization__each_operation_is_rounded() -> None:
    """Two sums, a quotient and a root, each rounded to float32."""
    first, second = RNG.uniform(0, 9, (2, 50)).astype(np.float32)
    first[0] = second[1] = 0.0
    delta = single(1e-9)
    for a, b, found in zip(first, second, equalizing_factors(first, second), strict=True):
        quotient = f32(f32(rational(a) + delta) / f32(rational(b) + delta))
        below, above = (rational(np.nextafter(found, np.float32(end))) for end in (0, np.inf))
        half = (below + rational(found)) / 2, (above + rational(found)) / 2
        assert half[0] ** 2 <= quotient <= half[1] ** 2


def test_eq_cross_layer_equalization__both_layers_get_the_geometric_mean() -> None:
    """``r1 / s`` and ``r2 s`` are the same number but for three roundings of each."""
    first, second = RNG.uniform(0.1, 9, (2, 50)).astype(np.float32)
    factors = equalizing_factors(first, second)
    np.testing.assert_allclose(first / factors, second * factors, rtol=6 * 2**-24)


def test_eq_input_weight_equalization__each_operation_is_rounded() -> None:
    """A quotient and a root, each rounded to float32; empty columns keep theirs."""
    columns, weight = RNG.uniform(0.1, 9, (2, 50)).astype(np.float32)
    columns[0] = weight[1] = 0.0
    factors = input_weight_factors(columns, weight)
    assert [1.0, 1.0] == factors[:2].tolist()
    for x, w, found in zip(columns[2:], weight[2:], factors[2:], strict=True):
        quotient = f32(rational(w) / rational(x))
        below, above = (rational(np.nextafter(found, np.float32(end))) for end in (0, np.inf))
        half = (below + rational(found)) / 2, (above + rational(found)) / 2
        assert half[0] ** 2 <= quotient <= half[1] ** 2


def test_eq_smooth_quant__powers_of_two() -> None:
    """Where roots are exact the factors are, for every share; empty channels keep theirs."""
    activation, weight = [256.0, 1.0, 0.0, 2.0], [16.0, 256.0, 1.0, 0.0]
    wanted = {0.0: [2**-4, 2**-8], 0.5: [4.0, 2**-4], 1.0: [256.0, 1.0]}
    for alpha, expected in wanted.items():
        assert [*expected, 1.0, 1.0] == smoothing_factors(activation, weight, alpha).tolist()


def test_eq_bias_correction__rounded_once() -> None:
    """The float64 operations are exact for these numbers, so one rounding is left."""
    bias, expected, found = RNG.integers(-(2**20), 2**20, (3, 40)) / 2**10
    for b, e, f, got in zip(
        bias, expected, found, corrected_bias(bias, expected, found), strict=True
    ):
        assert rational(got) == f32(rational(b) + rational(e) - rational(f))


def test_eq_expected_shift__all_taps_meet_the_mean() -> None:
    """Sum over channels and taps of the weight's error, times the channel's mean."""
    weight, rounded = (RNG.integers(-64, 64, (2, 3, 2, 2)) / 8 for _ in range(2))
    mean = RNG.integers(-8, 8, 3) / 4
    for n, found in enumerate(expected_shift(weight, rounded, mean)):
        total = sum(
            (rational(rounded[n, k, i, j]) - rational(weight[n, k, i, j])) * rational(mean[k])
            for k in range(3)
            for i in range(2)
            for j in range(2)
        )
        assert rational(found) == total


def test_eq_rectified_normal__integral() -> None:
    """The mean of ``max(x, 0)`` by a sum over a fine grid, whose error is below 1e-6."""
    steps = np.linspace(-8, 8, 64_001)
    density = np.exp(-(steps**2) / 2) / sqrt(2 * pi) * (steps[1] - steps[0])
    for mu in (-2.0, 0.0, 0.5, 3.0):
        for sigma in (0.1, 1.0, 2.0):
            numeric = float((np.maximum(mu + sigma * steps, 0) * density).sum())
            closed = sigma * exp(-((mu / sigma) ** 2) / 2) / sqrt(2 * pi)
            closed += mu * (1 + erf(mu / sigma / sqrt(2))) / 2
            found = float(mean_of_rectified_normal([mu], [sigma])[0])
            assert abs(found - numeric) < 1e-6
            assert abs(found - closed) < 1e-12


def test_eq_clipped_normal__integral() -> None:
    """The mean of a clipped number by a sum over a fine grid, whose error is below 1e-6."""
    steps = np.linspace(-8, 8, 64_001)
    density = np.exp(-(steps**2) / 2) / sqrt(2 * pi) * (steps[1] - steps[0])
    for mu in (-2.0, 0.5, 5.5, 9.0):
        for sigma in (0.1, 1.0, 4.0):
            numeric = float((np.clip(mu + sigma * steps, 0, 6) * density).sum())
            t, u = ((end - mu) / sigma for end in (0.0, 6.0))
            bells = [exp(-(end**2) / 2) / sqrt(2 * pi) for end in (t, u)]
            shares = [(1 + erf(end / sqrt(2))) / 2 for end in (t, u)]
            closed = sigma * (bells[0] - bells[1]) + mu * (shares[1] - shares[0])
            closed += 6 * (1 - shares[1])
            found = float(mean_of_clipped_normal([mu], [sigma], 0.0, 6.0)[0])
            assert abs(found - numeric) < 1e-6
            assert abs(found - closed) < 1e-12


def test_eq_rectified_normal__without_a_deviation() -> None:
    """A deviation of zero gives ``max(mean, 0)``."""
    assert [0.0, 0.5, 2.0] == mean_of_rectified_normal([-1.0, 0.5, 2.0], np.zeros(3)).tolist()


def test_eq_clipped_normal__symmetric() -> None:
    """A mean in the middle of the two ends stays, whatever the deviation: within 16 roundings."""
    found = mean_of_clipped_normal([0.5, 0.5], [0.25, 8.0], -1.0, 2.0)
    assert (np.abs(found - 0.5) <= 16 * 8 * 2.0**-53).all()


def test_eq_high_bias_absorption__exact() -> None:
    """Three deviations below the mean, and never below zero."""
    mean, deviation = RNG.integers(-64, 64, (2, 40)) / 8
    for m, d, found in zip(mean, deviation, absorbed_bias(mean, deviation), strict=True):
        assert rational(found) == max(Fraction(0), rational(m) - 3 * abs(rational(d)))


def test_eq_smooth_quant__share_beyond_one() -> None:
    """A share of the difficulty lies in [0, 1]."""
    for alpha in (-0.5, 1.5):
        with pytest.raises(ValueError, match=r"alpha must be in \[0, 1\]"):
            smoothing_factors([1.0], [1.0], alpha)
    assert [4.0] == smoothing_factors([4.0], [9.0], 1.0).tolist()
