"""Running statistics of a few numbers by every kernel against the equations, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import dynamic_qparams, fused_observe, moving_average

SPECIAL = np.float32([np.inf, -np.inf, np.nan, 0.0, 1e-45, 3e38, -3e38, 1.5])
SHAPES = [(), (0,), (1,), (3,), (64,), (1000,), (2, 5)]


def _numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of every size, some of them special; no zero is negative, as none observed is."""
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)
    special = rng.choice(SPECIAL, shape)
    return np.asarray(np.where(rng.random(shape) < 0.2, special, x), np.float32)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("shape", SHAPES)
def test_ranges_are_those_of_the_equations(kernel: str, shape: tuple[int, ...]) -> None:
    """eq-running-range, eq-average-range and eq-fused-average, of numbers and of arrays."""
    rng = np.random.default_rng(0)
    for constant in (0.0, 0.01, 0.1, 1.0):
        state = [_numbers(rng, shape) for _ in range(4)]
        is_new = rng.random(shape) < 0.3
        state[0], state[1] = (
            np.asarray(np.where(is_new, end, each), np.float32)
            for end, each in zip((np.inf, -np.inf), state[:2], strict=True)
        )
        pairs = [
            (moving_average.extreme_range(*state), _kernels.extreme_range(*state)),
            (
                moving_average.average_range(*state, constant),
                _kernels.average_range(*state, constant),
            ),
        ]
        for expected, actual in pairs:
            for each, found in zip(expected, actual, strict=True):
                assert_same_bits(each, found)
        expected_mean = fused_observe.fused_average(state[0], state[2], constant)
        assert_same_bits(expected_mean, _kernels.fused_average(state[0], state[2], constant))


@pytest.mark.parametrize("size", [0, 1, 3, 64, 1000])
def test_one_number_that_is_not_finite_is_found(kernel: str, size: int) -> None:
    """Wherever it is; the largest numbers, subnormal ones and zeros are finite."""
    x = np.resize(np.float32([3.4028235e38, -3.4028235e38, 1e-45, -0.0]), size)
    assert _kernels.are_finite(x, x)
    for place in {0, size // 2, size - 1} if size else ():
        for special in (np.inf, -np.inf, np.nan):
            one = x.copy()
            one[place] = special
            assert not _kernels.are_finite(one, x)
            assert not _kernels.are_finite(x, one)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    "bounds", [(0, 255), (-128, 127), (-127, 127), (0, 3), (-(2**31), 2**31 - 1)]
)
def test_parameters_are_those_of_the_equation(
    kernel: str, bounds: tuple[int, int], symmetric: bool, single: bool
) -> None:
    """eq-choose-qparams-dynamic, of ranges of every kind, some too narrow or too wide."""
    rng = np.random.default_rng(3)
    ends = np.sort(rng.standard_normal((2, 500)) * 10.0 ** rng.integers(-3, 6, 500), axis=0)
    ends[:, :5] = [[-1, 0, -2.5, -255, 127], [1, 3, 2.5, 0, 128]]
    low, high = ends.astype(np.float32)
    for first, last in ((0, 5), (0, 500), (7, 8)):
        of_wide = np.flatnonzero(high - low > 0.1)[first:last]
        for where in (slice(first, last), of_wide):
            arguments = low[where], high[where], *bounds
            options = {"symmetric": symmetric, "single": single}
            expected = dynamic_qparams.choose_qparams_dynamic(*arguments, **options)
            found = _kernels.choose_qparams_dynamic(*arguments, **options)
            for each, actual in zip(expected, found, strict=True):
                assert_same_bits(each, actual)


def test_other_arrays_go_to_the_equations(kernel: str) -> None:
    """With gaps, in double, or of shapes that are broadcast."""
    rng = np.random.default_rng(1)
    low, high, batch_low, batch_high = rng.standard_normal((4, 6)).astype(np.float32)
    for first in (low[::2], low[:3].astype(np.float64), low[:1]):
        arguments = first, high[: first.size], batch_low[:3], batch_high[:3]
        expected = moving_average.average_range(*arguments, 0.5)
        for each, found in zip(expected, _kernels.average_range(*arguments, 0.5), strict=True):
            assert_same_bits(each, found)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "i8", "i2", "u1"])
def test_extremes(kernel: str, dtype: str) -> None:
    """Python's numbers, of every type and order; nan wins wherever it stands."""
    rng = np.random.default_rng(2)
    for size in (1, 2, 17, 1000):
        x = rng.integers(0, 100, size).astype(dtype)
        for each in (x, x[::-2], x.reshape(1, -1).T, x.astype(x.dtype.newbyteorder())):
            assert (each.min().item(), each.max().item()) == _kernels.extremes(each)
    if dtype.startswith("f"):
        for place in (0, 3, 4):
            x = np.arange(5).astype(dtype)
            x[place] = np.nan
            assert np.isnan(_kernels.extremes(x)).all()
