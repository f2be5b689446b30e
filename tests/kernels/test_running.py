"""Running statistics of a few numbers by every kernel against the equations, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits, behind_a_line

from pyqref import _kernels
from pyqref.numerics import dynamic_qparams, fused_observe, moving_average

SPECIAL = np.float32([np.inf, -np.inf, np.nan, 0.0, 1e-45, 3e38, -3e38, 1.5])
SHAPES = [(), (0,), (1,), (3,), (64,), (1000,), (2, 5)]
#: Shapes of batches, and where their channels are.
BATCHES = [
    ((), None),
    ((1,), None),
    ((17, 3), None),
    ((300, 131), None),
    ((1,), 0),
    ((5, 3), 1),
    ((2, 64, 3), 1),
    ((9, 70), 0),
    ((4, 1000), 1),
    ((4100, 70), 0),  # and of which several threads take some
    ((300, 1003), 1),
    ((3000, 64), 1),  # in blocks of rows, and from a cache line on
    ((15_000, 3), 1),
]


def _numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of every size, some of them special; no zero is negative, as none observed is."""
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)
    special = rng.choice(SPECIAL, shape)
    return np.asarray(np.where(rng.random(shape) < 0.2, special, x), np.float32)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("shape", SHAPES)
def test_averages_are_those_of_the_equation(kernel: str, shape: tuple[int, ...]) -> None:
    """eq-fused-average, of numbers and of arrays."""
    rng = np.random.default_rng(0)
    for constant in (0.0, 0.01, 0.1, 1.0):
        state = [_numbers(rng, shape) for _ in range(2)]
        expected_mean = fused_observe.fused_average(*state, constant)
        assert_same_bits(expected_mean, _kernels.fused_average(*state, constant))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(("shape", "axis"), BATCHES)
@pytest.mark.parametrize("constant", [None, 0.0, 0.01, 1.0])
def test_ranges_are_those_of_the_equations(
    kernel: str, n_threads: int, shape: tuple[int, ...], axis: int | None, constant: float | None
) -> None:
    """eq-running-range and eq-average-range, of all numbers or of channels, whatever was seen."""
    rng = np.random.default_rng(0)
    x = np.asarray(rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape), np.float32)
    x = behind_a_line(x, 4)
    ranges = expected_ranges(x, axis)
    empty = np.empty(0, np.float32)
    for expected, found in zip(
        ranges, _kernels.running_range(empty, empty, x, axis, constant), strict=True
    ):
        assert_same_bits(expected, found)
    for _ in range(4):
        seen = [_numbers(rng, ranges[0].shape) for _ in range(2)]
        is_new = rng.random(ranges[0].shape) < 0.3
        low, high = (
            np.asarray(np.where(is_new, end, each), np.float32)
            for end, each in zip((np.inf, -np.inf), seen, strict=True)
        )
        if constant is None:
            wanted = moving_average.extreme_range(low, high, *ranges)
        else:
            wanted = moving_average.average_range(low, high, *ranges, constant)
        found = _kernels.running_range(low, high, x, axis, constant)
        for expected, actual in zip(wanted, found, strict=True):
            assert_same_bits(expected, actual)


@pytest.mark.parametrize(("axis", "shape"), [(None, ()), (0, (5,)), (1, (3,))])
@pytest.mark.parametrize("constant", [None, 0.5])
def test_what_was_found_is_seen_with_the_next_batch(
    kernel: str, axis: int | None, shape: tuple[int, ...], constant: float | None
) -> None:
    """eq-running-range and eq-average-range: arrays, in whatever order the batches lie."""
    seen = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    batch = np.arange(15, dtype=np.float32).reshape(3, 5).T
    for x in (batch, batch, np.ascontiguousarray(batch), np.repeat(batch, 2, 1)[:, ::2]):
        found = _kernels.running_range(*seen, x, axis, constant)
        for expected, actual in zip(expected_ranges(x, axis), found, strict=True):
            assert isinstance(actual, np.ndarray)
            assert_same_bits(expected, actual)
        seen = found


def expected_ranges(x: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    others = None if axis is None else tuple(each for each in range(x.ndim) if each != axis)
    return np.asarray(x.min(others) + np.float32(0)), np.asarray(x.max(others) + np.float32(0))


@pytest.mark.parametrize("size", [1, 3, 64, 1000, 70000])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_one_number_that_is_not_finite_is_found(
    kernel: str, n_threads: int, size: int, axis: int | None
) -> None:
    """Wherever it is; the largest numbers, subnormal ones and zeros are finite."""
    x = np.resize(np.float32([3.4028235e38, -3.4028235e38, 1e-45, -0.0]), (2, size))
    empty = np.empty(0, np.float32)
    assert _kernels.running_range(empty, empty, x, axis) is not None
    for place in {0, size // 2, size - 1}:
        for special in (np.inf, -np.inf, np.nan):
            one = x.copy()
            one[1, place] = special
            assert _kernels.running_range(empty, empty, one, axis) is None


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
    """Arrays with gaps, in double, or with shapes that broadcast go to the equations."""
    rng = np.random.default_rng(1)
    low, high = rng.standard_normal((2, 6)).astype(np.float32)
    x = rng.standard_normal((5, 3)).astype(np.float32)
    for batch in (x, x.astype(np.float64), np.asfortranarray(x)):
        for first in (low[::2], low[:3].astype(np.float64), low[:1]):
            seen = first, high[: first.size]
            expected = moving_average.average_range(*seen, *expected_ranges(batch, 1), 0.5)
            for each, found in zip(
                expected, _kernels.running_range(*seen, batch, 1, 0.5), strict=True
            ):
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
