"""Requantization, engine by engine, against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, inverse, rational, rne, single

from pyqref.numerics.fused_function import leaky, plus, requantize_function
from pyqref.numerics.requantize import (
    accumulator_scale,
    bias_as_integer,
    multiplier_fbgemm,
    multiplier_qnnpack,
    requantization,
    requantize,
    scaled_accumulator,
)

ENGINES = ["fbgemm", "x86", "onednn", "qnnpack"]
CHANNELS = 5
RNG = np.random.default_rng(0)
WEIGHT_SCALES = np.exp(RNG.uniform(-6, 0, CHANNELS))
BIAS = RNG.standard_normal(CHANNELS).astype(np.float32)
ACCUMULATORS = RNG.integers(-(2**17), 2**17, (200, CHANNELS))
INPUT_SCALE, OUTPUT_SCALE, ZERO_POINT = 0.037, 1.7, 101


def exact_value(engine: str, a: int, n: int, per_channel: bool, bias: bool) -> Fraction:
    """The accumulator of channel n in units of the output, as the engine has it."""
    weight_scale = WEIGHT_SCALES[n if per_channel else 0]
    unit = f32(single(INPUT_SCALE) * single(weight_scale))
    b = rational(BIAS[n])
    if engine == "qnnpack":
        multiplier = f32(unit * inverse(OUTPUT_SCALE))
        if bias:
            product = single(np.float64(INPUT_SCALE) * np.float64(weight_scale))
            a = a + rne(f32(b * f32(1 / product)))
        return f32(f32(a) * multiplier)
    multiplier = f32(unit / single(OUTPUT_SCALE))
    value = f32(a)
    if bias and per_channel:
        value = f32(value + f32(b / unit))
    elif bias:
        value = fma(b, f32(1 / unit), value)
    return f32(value * multiplier)


def prepared(engine: str, per_channel: bool, bias: bool, relu: bool = False):
    """The requantization under test."""
    scales = WEIGHT_SCALES if per_channel else WEIGHT_SCALES[0]
    terms = BIAS if bias else None
    return requantization(engine, INPUT_SCALE, scales, OUTPUT_SCALE, ZERO_POINT, terms, relu=relu)


CASES = [(e, c, b) for e in ENGINES for c in (False, True) for b in (False, True)]


@pytest.mark.parametrize(("engine", "per_channel", "bias"), CASES)
def test_eq_requantize_bias__engines(engine: str, per_channel: bool, bias: bool) -> None:
    """Where each engine adds the bias, and what it rounds on the way."""
    actual = scaled_accumulator(ACCUMULATORS, prepared(engine, per_channel, bias))
    for row, values in zip(ACCUMULATORS.tolist(), actual, strict=True):
        exact = [exact_value(engine, a, n, per_channel, bias) for n, a in enumerate(row)]
        assert exact == [rational(v) for v in values]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(("engine", "per_channel", "bias"), CASES)
def test_eq_requantize__engines(engine: str, per_channel: bool, bias: bool, relu: bool) -> None:
    """Round half to even, add the zero point, clamp; a ReLU clamps at the zero point."""
    actual = requantize(ACCUMULATORS, prepared(engine, per_channel, bias, relu))
    assert np.uint8 == actual.dtype
    low = ZERO_POINT if relu else 0
    for row, values in zip(ACCUMULATORS.tolist(), actual.tolist(), strict=True):
        exact = [exact_value(engine, a, n, per_channel, bias) for n, a in enumerate(row)]
        assert [clamp(rne(v) + ZERO_POINT, low, 255) for v in exact] == values


def test_eq_requantize__ties() -> None:
    """Accumulators that fall on every half: 0.5 -> 0, 1.5 -> 2, -0.5 -> 0, -1.5 -> -2."""
    requant = requantization("fbgemm", 0.5, 0.5, 0.5, 100)
    accumulators = np.array([[-3], [-1], [1], [3], [5]])
    assert requantize(accumulators, requant)[:, 0].tolist() == [98, 100, 100, 102, 102]


def test_eq_requantize__saturates() -> None:
    """The largest accumulators and multipliers end at the range."""
    requant = requantization("fbgemm", 1e30, 1.0, 1e-9, 3)
    assert requantize(np.array([[-(2**31)], [2**31 - 1]]), requant).tolist() == [[0], [255]]


def test_eq_requantize__empty() -> None:
    """No rows in, no rows out."""
    requant = requantization("qnnpack", 0.1, [0.1, 0.2], 1.0, 0, [1.0, 2.0])
    assert requantize(np.zeros((0, 2), np.int64), requant).shape == (0, 2)


def test_eq_accumulator_scale__any() -> None:
    """A product of two float32 numbers, rounded once."""
    expected = [f32(single(INPUT_SCALE) * single(s)) for s in WEIGHT_SCALES]
    assert expected == [rational(a) for a in accumulator_scale(INPUT_SCALE, WEIGHT_SCALES)]


def test_eq_multiplier_fbgemm__division() -> None:
    """A true division by the output scale."""
    scale = accumulator_scale(INPUT_SCALE, WEIGHT_SCALES)
    expected = [f32(rational(a) / single(OUTPUT_SCALE)) for a in scale]
    assert expected == [rational(m) for m in multiplier_fbgemm(scale, OUTPUT_SCALE)]


def test_eq_multiplier_qnnpack__reciprocal() -> None:
    """A product with the rounded reciprocal of the output scale."""
    scale = accumulator_scale(INPUT_SCALE, WEIGHT_SCALES)
    expected = [f32(rational(a) * inverse(OUTPUT_SCALE)) for a in scale]
    assert expected == [rational(m) for m in multiplier_qnnpack(scale, OUTPUT_SCALE)]


def test_eq_bias_integer__rounds_and_saturates() -> None:
    """Ties to even, and the ends of 32 bits."""
    bias = np.float32([0.5, 1.5, -2.5, 1e20, -1e20])
    expected = [0, 2, -2, 2**31 - 1, -(2**31)]
    assert expected == bias_as_integer(bias, 1.0, 1.0).tolist()


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["leaky", "plus", "plus relu"])
def test_eq_requantize_function__one_rounding(per_channel: bool, bias: bool, kind: str) -> None:
    """Product, sum and function in float32, one rounding each; then the fused quantization."""
    rng = np.random.default_rng(5)
    accumulator = rng.integers(-3000, 3000, (40, 3))
    scales = np.array([0.02, 0.03, 0.05]) if per_channel else np.float64(0.03)
    terms = rng.standard_normal(3).astype(np.float32) if bias else None
    other = rng.standard_normal((40, 3)).astype(np.float32)
    function = leaky(0.3) if kind == "leaky" else plus(other, kind == "plus relu")
    actual = requantize_function(accumulator, 0.11, scales, terms, function, 0.21, 101)
    for row, values in enumerate(accumulator.tolist()):
        for column, value in enumerate(values):
            weight_scale = scales[column] if per_channel else scales
            real = f32(value * f32(single(0.11) * single(weight_scale)))
            if terms is not None:
                real = f32(real + rational(terms[column]))
            if kind == "leaky":
                real = real if real > 0 else f32(real * single(0.3))
            else:
                real = f32(real + rational(other[row, column]))
                real = max(real, Fraction(0)) if kind == "plus relu" else real
            expected = clamp(rne(fma(real, inverse(0.21), Fraction(101))), 0, 255)
            assert expected == actual[row, column]


def test_eq_requantize_function__ties() -> None:
    """The zero point is inside the rounding: 0.5 + 101 and 1.5 + 101 go to even sums."""
    actual = requantize_function(
        np.array([[1, 3, -1]]), 1.0, 0.5, None, lambda real: real, 1.0, 101
    )
    assert [102, 102, 100] == actual[0].tolist()
