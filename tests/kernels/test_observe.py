"""Ranges of observed data by every kernel against NumPy's minimum and maximum."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits, behind_a_line
from kernels.test_quantize import SHAPES, SIZES

from pyqref import _kernels


def test_min_max_around_the_vector(kernel: str, n_threads: int) -> None:
    """eq-min-max; each place holds the largest and the smallest once in the small sizes."""
    rng = np.random.default_rng(1)
    for size in filter(None, SIZES):
        x = rng.standard_normal(size).astype(np.float32)
        for place in range(size if size < 40 else 3):
            for value in (-9, 9):
                y = x.copy()
                y[-place] = value
                low, high = _kernels.min_max(y)
                assert_same_bits(y.min(), low)
                assert_same_bits(y.max(), high)


@pytest.mark.parametrize("size", [1, 4, 7, 16, 17, 64, 65, 100, 2**15 + 3])
def test_nan_anywhere_makes_both_ends_nan(kernel: str, size: int) -> None:
    for place in {0, size // 2, size - 1}:
        x = np.ones(size, np.float32)
        x[place] = np.nan
        assert np.isnan(_kernels.min_max(x)).all()


def test_infinities_and_zeros(kernel: str) -> None:
    low, high = _kernels.min_max(np.float32([1, np.inf, -np.inf]))
    assert (-np.inf, np.inf) == (low, high)
    low, high = _kernels.min_max(np.float32([-0.0, 0.0] * 20))
    assert_same_bits(np.float32(0), low)
    assert_same_bits(np.float32(0), high)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if 0 not in shape])
def test_min_max_per_channel_along_every_axis(
    kernel: str, shape: tuple[int, ...], n_threads: int
) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(shape).astype(np.float32)
    for axis in (*range(len(shape)), -1):
        others = tuple(each for each in range(x.ndim) if each != axis % x.ndim)
        low, high = _kernels.min_max_per_channel(x, axis)
        assert_same_bits(x.min(axis=others), low)
        assert_same_bits(x.max(axis=others), high)


@pytest.mark.parametrize("inner", [2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70, 512, 513])
def test_short_lines_of_many_channels(kernel: str, inner: int, n_threads: int) -> None:
    """eq-min-max of channels observed together: infinities and nan stay in theirs."""
    rng = np.random.default_rng(4)
    for outer, channels in ((1, 53), (2, 37), (1, 16), (3, 17)):
        x = rng.standard_normal((outer, channels, inner)).astype(np.float32)
        with np.errstate(invalid="ignore"):
            for value in (1e9, -1e9, np.inf, -np.inf, np.nan, -0.0):
                for place in (0, inner - 1):
                    x[rng.integers(outer), rng.integers(channels), place] = value
                low, high = _kernels.min_max_per_channel(x, 1)
                assert_same_bits(x.min(axis=(0, 2)) + np.float32(0), low)
                assert_same_bits(x.max(axis=(0, 2)) + np.float32(0), high)


@pytest.mark.parametrize("elements", [0, 1, 4, 12, 15])
@pytest.mark.parametrize("channels", [1, 16, 60, 64, 80, 128, 4096, 4112])
def test_rows_of_channels(kernel: str, channels: int, elements: int, n_threads: int) -> None:
    """eq-min-max of innermost channels: rows in blocks, and from a cache line on."""
    rng = np.random.default_rng(5)
    for rows in (1, 2, 256 // channels + 1, 70_000 // channels + 1):
        x = behind_a_line(rng.standard_normal((rows, channels)).astype(np.float32), elements)
        for value in (1e9, -1e9, np.inf, -np.inf, np.nan, -0.0):
            for row in (0, rows // 2, rows - 1):
                x[row, rng.integers(channels)] = value
            low, high = _kernels.min_max_per_channel(x, 1)
            assert_same_bits(x.min(axis=0) + np.float32(0), low)
            assert_same_bits(x.max(axis=0) + np.float32(0), high)


@pytest.mark.parametrize("elements", [1, 4, 12, 15])
def test_numbers_that_begin_behind_a_cache_line(kernel: str, elements: int) -> None:
    rng = np.random.default_rng(6)
    for size in (255, 256, 257, 300, 600):
        x = behind_a_line(rng.standard_normal(size).astype(np.float32), elements)
        for place in range(size):
            y = behind_a_line(x, elements)
            y[place], y[-1 - place] = 9, -9
            low, high = _kernels.min_max(y)
            assert_same_bits(y.min(), low)
            assert_same_bits(y.max(), high)


@pytest.mark.parametrize("elements", [1, 4, 12, 15])
@pytest.mark.parametrize("inner", [256, 257, 268, 271, 272, 300, 511])
def test_lines_that_begin_behind_a_cache_line(kernel: str, inner: int, elements: int) -> None:
    """The second vector of a line overlaps the first, and the last the one before."""
    rng = np.random.default_rng(7)
    x = behind_a_line(rng.standard_normal((17, inner)).astype(np.float32), elements)
    for place in range(inner):
        x[:, place], x[:, -1 - place] = 9, -9
        low, high = _kernels.min_max_per_channel(x, 0)
        assert_same_bits(x.min(axis=1), low)
        assert_same_bits(x.max(axis=1), high)
        x[:, place], x[:, -1 - place] = 0, 0


@pytest.mark.parametrize("elements", range(16))
@pytest.mark.parametrize("inner", [8, 16, 32, 64, 512])
def test_lines_that_share_a_vector(kernel: str, inner: int, elements: int, n_threads: int) -> None:
    """eq-min-max where a vector holds the end of a line and the beginning of the next one."""
    rng = np.random.default_rng(8)
    x = behind_a_line(rng.standard_normal((67, inner)).astype(np.float32), elements)
    for place in {0, 1, elements, 15 - elements, inner - elements, inner - 1} & {*range(inner)}:
        for value in (1e9, -1e9, np.inf, -np.inf, np.nan, -0.0):
            y = behind_a_line(x, elements)
            y[rng.permutation(67)[:9], place] = value
            low, high = _kernels.min_max_per_channel(y, 0)
            assert_same_bits(y.min(axis=1) + np.float32(0), low)
            assert_same_bits(y.max(axis=1) + np.float32(0), high)


def test_as_many_blocks_of_rows_as_there_can_be(kernel: str, n_threads: int) -> None:
    x = behind_a_line(np.zeros((1 << 16, 48), np.float32), 4)
    for row in range(0, len(x), 997):
        x[row, row % 48], x[-1 - row, row % 47] = row + 1, -row - 1
    low, high = _kernels.min_max_per_channel(x, 1)
    assert_same_bits(x.min(axis=0), low)
    assert_same_bits(x.max(axis=0), high)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_nan_stays_in_its_channel(kernel: str, axis: int) -> None:
    x = np.random.default_rng(3).standard_normal((4, 5, 19)).astype(np.float32)
    x[1, 2, 0] = np.nan
    low, high = _kernels.min_max_per_channel(x, axis)
    expected = np.arange(x.shape[axis]) == (1, 2, 0)[axis]
    assert np.array_equal(expected, np.isnan(low))
    assert np.array_equal(expected, np.isnan(high))


def test_float64_keeps_its_type(kernel: str) -> None:
    low, high = _kernels.min_max(np.array([0.1, 0.3]))
    assert_same_bits(np.float64(0.1), low)
    assert_same_bits(np.float64(0.3), high)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 0), (0, 3)])
def test_channels_without_numbers_have_no_range(kernel: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="zero-size array"):
        _kernels.min_max_per_channel(np.zeros(shape, np.float32), 1)


def test_no_channels_have_no_ranges(kernel: str) -> None:
    lows, highs = _kernels.min_max_per_channel(np.zeros((2, 0, 3), np.float32), 1)
    assert ((0,), (0,)) == (lows.shape, highs.shape)
