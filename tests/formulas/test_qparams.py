"""Scale and zero point of a range against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import clamp, f32, rational, rne, single
from hypothesis import example, given
from hypothesis import strategies as st

from pyqref._kernels.observe.one_range import choose_qparams_of_range
from pyqref.dtypes import float32, qint8, qint32, quint8
from pyqref.numerics.dynamic_qparams import (
    SMALLEST_DYNAMIC_SCALE,
    choose_qparams_dynamic,
    symmetric_range,
)
from pyqref.numerics.qparams import (
    EPS,
    affine_qparams,
    choose_qparams,
    float_qparams,
    quant_range,
    reduce_range,
    symmetric_qparams,
    symmetric_zero_point,
)

RANGES = [(0, 255), (0, 127), (-128, 127), (-64, 63), (-127, 127), (0, 15)]
ends = st.floats(-1e6, 1e6, width=32)


def test_eq_reduce_range__named() -> None:
    """One bit less, also for ranges that a user chose."""
    assert reduce_range(0, 255) == (0, 127)
    assert reduce_range(-128, 127) == (-64, 63)
    assert reduce_range(-127, 127) == (-64, 63)


def test_eq_reduce_range__of_dtypes() -> None:
    """8-bit dtypes lose one bit; 32 bits stay."""
    assert quant_range(quint8, reduce=True) == (0, 127)
    assert quant_range(qint8) == (-128, 127)
    assert quant_range(qint32, reduce=True) == (-(2**31), 2**31 - 1)
    with pytest.raises(ValueError, match="quantized dtype"):
        quant_range(float32)


def test_eq_symmetric_zero_point__all_cases() -> None:
    """0 signed, 128 unsigned, the middle of a range that the user chose."""
    assert symmetric_zero_point(True) == 0
    assert symmetric_zero_point(True, -100, 27) == 0
    assert symmetric_zero_point(False) == 128
    assert symmetric_zero_point(False, 0, 255) == 127
    assert symmetric_zero_point(False, 0, 100) == 50


@pytest.mark.parametrize(("quant_min", "quant_max"), RANGES)
@given(low=ends, high=ends)
def test_eq_symmetric_scale__any(quant_min: int, quant_max: int, low: float, high: float) -> None:
    """The larger side over half of the whole range."""
    low, high = min(low, high), max(low, high)
    half = Fraction(quant_max - quant_min, 2)
    expected = max(f32(max(-rational(low), rational(high), Fraction(0)) / half), rational(EPS))
    assert expected == rational(symmetric_qparams(low, high, quant_min, quant_max))


@pytest.mark.parametrize(("quant_min", "quant_max"), RANGES)
@given(low=ends, high=ends)
def test_eq_affine_qparams__any(quant_min: int, quant_max: int, low: float, high: float) -> None:
    """The widened range over the number of steps, each operation rounded to float32."""
    low, high = min(low, high, 0.0), max(low, high, 0.0)
    width = f32(rational(high) - rational(low))
    scale = max(f32(width / (quant_max - quant_min)), rational(EPS))
    zero_point = clamp(quant_min - rne(f32(rational(low) / scale)), quant_min, quant_max)
    actual = affine_qparams(low, high, quant_min, quant_max)
    assert (scale, zero_point) == (rational(actual[0]), int(actual[1]))


def test_eq_affine_qparams__tie() -> None:
    """The zero point rounds half to even: 2.5 steps below zero give 2."""
    assert tuple(v.item() for v in affine_qparams(-2.5, 252.5, 0, 255)) == (1.0, 2)


@pytest.mark.parametrize(("quant_min", "quant_max"), RANGES)
@given(low=ends, high=ends)
def test_eq_affine_qparams__zero_is_exact(
    quant_min: int, quant_max: int, low: float, high: float
) -> None:
    """Real zero is one of the integers: the zero point lies in the range."""
    _, zero_point = affine_qparams(min(low, high), max(low, high), quant_min, quant_max)
    assert quant_min <= zero_point <= quant_max


@given(low=ends, high=ends)
def test_eq_float_qparams__any(low: float, high: float) -> None:
    """Scale without widening, zero point not rounded to an integer."""
    low, high = min(low, high), max(low, high)
    scale = f32(f32(rational(high) - rational(low)) / 15)
    scale = scale if scale > rational(EPS) else Fraction(1)
    actual = float_qparams(low, high, 0, 15)
    assert (scale, f32(-rational(low) / scale)) == (rational(actual[0]), rational(actual[1]))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("value", [0.0, 5.0, -3.0])
def test_eq_choose_qparams__constant(symmetric: bool, value: float) -> None:
    """The documentation: 'set to 1.0 and 0' where minimum and maximum are equal."""
    given_range = (value, value, 0, 255)
    scale, zero_point = choose_qparams(*given_range, symmetric=symmetric, midpoint=128)
    assert (scale.item(), zero_point.item()) == (1.0, 0)
    torch_scale, _ = choose_qparams(
        *given_range, symmetric=symmetric, midpoint=128, convention="torch"
    )
    assert torch_scale.item() != 1.0


@pytest.mark.parametrize("convention", ["documented", "torch"])
def test_eq_choose_qparams__never_observed(convention: str) -> None:
    """The empty range gives scale 1 and zero point 0, element by element."""
    low, high = np.float32([np.inf, -1]), np.float32([-np.inf, 3])
    scale, zero_point = choose_qparams(low, high, 0, 255, convention=convention)
    assert [1.0, float(single(4 / 255))] == scale.tolist()
    assert zero_point.tolist() == [0, 64]


def test_eq_choose_qparams__symmetric_midpoint() -> None:
    """A symmetric scheme puts the zero point where the caller says."""
    scale, zero_point = choose_qparams(-1.0, 2.0, 0, 255, symmetric=True, midpoint=128)
    assert (f32(Fraction(2) / Fraction(255, 2)), 128) == (rational(scale), zero_point)


@given(low=ends, high=ends)
def test_eq_symmetric_range__any(low: float, high: float) -> None:
    """Zero in the middle of 256 steps, one more below than above."""
    low, high = min(low, high), max(low, high)
    wide_low, wide_high = symmetric_range(low, high, -128, 127)
    if low < 0 < high:
        step = max(f32(-rational(low) / 128), f32(rational(high) / 127))
        expected = (f32(-128 * step), f32(127 * step))
    else:
        expected = (rational(low), rational(high))
    assert expected == (rational(wide_low), rational(wide_high))


def test_eq_symmetric_range__two_integers() -> None:
    """Two integers have none in the middle; a range on one side of zero needs none."""
    assert (0.0, 1.5) == symmetric_range(0.0, 1.5, 0, 1)
    with pytest.raises(ValueError, match=r"quant_max - quant_min >= 2, got \[0, 1\]"):
        symmetric_range(-1.0, 1.5, 0, 1)


@pytest.mark.parametrize(("quant_min", "quant_max"), RANGES)
@given(low=ends, high=ends)
def test_eq_choose_qparams_dynamic__any(
    quant_min: int, quant_max: int, low: float, high: float
) -> None:
    """Within the bounds of the rule: double division, then the nearer end's zero point."""
    low, high = min(low, high, 0.0), max(low, high, 0.0)
    scale, zero_point = choose_qparams_dynamic(low, high, quant_min, quant_max)
    exact = (high - low) / (quant_max - quant_min)
    if exact < 2.0**-128:  # zero, or so small that float32 has no reciprocal of it
        assert scale == 0.1
    elif exact < SMALLEST_DYNAMIC_SCALE:
        assert scale == SMALLEST_DYNAMIC_SCALE
    else:
        assert exact == scale
        from_low, from_high = quant_min - low / exact, quant_max - high / exact
        candidates = {clamp(round(v), quant_min, quant_max) for v in (from_low, from_high)}
        assert int(zero_point) in candidates


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 0.0, (0.1, 0)),
        (-1.0, 3.0, (4 / 255, 64)),
        (0.0, 5e-3, (SMALLEST_DYNAMIC_SCALE, 0)),
        (-5e-3, 0.0, (SMALLEST_DYNAMIC_SCALE, 255)),
        (-5e-3, 5e-3, (SMALLEST_DYNAMIC_SCALE, 127)),
    ],
)
def test_eq_choose_qparams_dynamic__small_ranges(
    low: float, high: float, expected: tuple[float, int]
) -> None:
    """All zero gives 0.1; small ranges grow to the smallest scale."""
    scale, zero_point = choose_qparams_dynamic(np.float32(low), np.float32(high), 0, 255)
    assert expected == (scale.item(), zero_point.item())


@pytest.mark.parametrize("single_scale", [False, True])
@pytest.mark.parametrize(("quant_min", "quant_max"), [(0, 255), (-128, 127), (0, 127)])
def test_eq_choose_qparams_dynamic__zero_points_at_a_half(
    quant_min: int, quant_max: int, single_scale: bool
) -> None:
    """The end whose terms are smaller decides, with a double or a float32 scale."""
    rng = np.random.default_rng(0)
    for low, high in [*rng.integers(1, 1000, (300, 2)), *((k, k) for k in range(1, 60))]:
        scale = (int(high) + int(low)) / (quant_max - quant_min)
        scale = float(np.float32(scale)) if single_scale else scale
        below, above = -int(low) / scale, int(high) / scale
        from_low = abs(quant_min) - below < abs(quant_max) + above
        zero_point = quant_min - below if from_low else quant_max - above
        actual = choose_qparams_dynamic(
            -np.float32(low), np.float32(high), quant_min, quant_max, single=single_scale
        )
        assert (scale, clamp(round(zero_point), quant_min, quant_max)) == actual


@pytest.mark.parametrize("single_scale", [False, True])
@pytest.mark.parametrize(("quant_min", "quant_max"), RANGES)
@given(low=ends, high=ends)
@example(low=0.0, high=0.0)
@example(low=-1e-3, high=0.0)
@example(low=-3e38, high=3e38)
@example(low=0.0, high=1e-44)
def test_eq_choose_qparams_dynamic__of_one_range(
    quant_min: int, quant_max: int, single_scale: bool, low: float, high: float
) -> None:
    """Python's numbers give the results of arrays."""
    low, high = min(low, high), max(low, high)
    expected = choose_qparams_dynamic(low, high, quant_min, quant_max, single=single_scale)
    actual = choose_qparams_of_range(low, high, quant_min, quant_max, single=single_scale)
    assert expected == actual
    assert (float, int) == (type(actual[0]), type(actual[1]))


def test_eq_choose_qparams_dynamic__symmetric() -> None:
    """max(|min| / 128, |max| / 127), zero point in the middle; one-sided stays affine."""
    scale, zero_point = choose_qparams_dynamic(-1.0, 1.0, -128, 127, symmetric=True)
    assert (rational(np.float32(1) / np.float32(127)), 0) == (single(scale), zero_point)
    scale, zero_point = choose_qparams_dynamic(0.0, 1.0, -128, 127, symmetric=True)
    assert (scale, zero_point) == (1 / 255, -128)
    scale, zero_point = choose_qparams_dynamic(-1.0, 0.0, -128, 127, symmetric=True)
    assert (scale, zero_point) == (1 / 255, 127)
    assert 128 == choose_qparams_dynamic(-1.0, 1.0, 0, 255, symmetric=True)[1]


def test_eq_choose_qparams_dynamic__each_of_an_array() -> None:
    """Each range of an array has its own parameters, also where the scales of some are raised."""
    low, high = np.float32([-1e-6, -3.0, 0.0]), np.float32([2e-6, 0.5, 1e-3])
    scale, zero_point = choose_qparams_dynamic(low, high, 0, 255)
    assert (SMALLEST_DYNAMIC_SCALE, 85) == (scale[0], zero_point[0])  # 0 is a third of the way
    assert (3.5 / 255, 219) == (scale[1], zero_point[1])  # 3 / 3.5 * 255 = 218.6
    assert (SMALLEST_DYNAMIC_SCALE, 0) == (scale[2], zero_point[2])


def test_eq_symmetric_range__each_of_an_array() -> None:
    """Of two ranges the one that holds zero is widened, the other stays."""
    low, high = symmetric_range(np.float32([-1, 2]), np.float32([254, 3]), -128, 127)
    assert ([-256, 2], [254, 3]) == (low.tolist(), high.tolist())
