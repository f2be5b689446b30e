"""Quantize and dequantize by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits, behind_a_line

from pyqref import _kernels
from pyqref._kernels import layout
from pyqref.numerics import affine

RANGES = [
    (np.uint8, 0, 255),
    (np.uint8, 0, 127),
    (np.int8, -128, 127),
    (np.int32, -(2**31), 2**31 - 1),
    (np.int32, -1000, 1000),
    (np.int16, -(2**15), 2**15 - 1),  # no kernel: the reference twin
]
#: Around the vectors of 4, 8 and 16 lanes, and the task of 2**15 elements.
SIZES = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 2**15 - 1, 2**15, 2**15 + 1, 70_001]
SHAPES = [(1, 1), (3, 5), (5, 1), (4, 16), (2, 17), (2, 3, 33), (5, 2, 4, 4), (0, 3), (300, 130)]


def numbers(rng: np.random.Generator, shape: Any) -> np.ndarray:
    """Ordinary, saturating and special numbers."""
    x = (rng.standard_normal(shape) * 10 ** rng.uniform(-3, 3, shape)).astype(np.float32)
    special = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45])
    x.reshape(-1)[: len(special)] = special[: x.size]
    return x


def near_ties(scale: float, zero_point: int, n: int) -> np.ndarray:
    """Numbers half way between two integers of the grid, and their float32 neighbours."""
    ties = (np.arange(n) - n // 2 + 0.5 - zero_point).astype(np.float32) * np.float32(scale)
    return np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)])


@pytest.mark.parametrize(("storage", "low", "high"), RANGES)
def test_per_tensor_around_the_vector(
    kernel: str, storage: Any, low: int, high: int, n_threads: int
) -> None:
    """eq-affine-quantize and eq-affine-dequantize, bit for bit."""
    rng = np.random.default_rng(1)
    for size in SIZES:
        x = numbers(rng, size)
        expected = affine.quantize_per_tensor(x, 0.037, 5, low, high, storage)
        assert_same_bits(expected, _kernels.quantize_per_tensor(x, 0.037, 5, low, high, storage))
        real = affine.dequantize_per_tensor(expected, 0.037, 5)
        assert_same_bits(real, _kernels.dequantize_per_tensor(expected, 0.037, 5))


@pytest.mark.parametrize("elements", [0, 1, 3, 4, 8, 12, 15])
def test_arrays_that_begin_behind_a_cache_line(kernel: str, elements: int, n_threads: int) -> None:
    """From 256 numbers on, the second vector is aligned, and overlaps the first."""
    rng = np.random.default_rng(12)
    for storage, low, high in RANGES[:3]:
        for size in (255, 256, 257, 271, 272, 319, 320, 337, 70_001):
            x = behind_a_line(numbers(rng, size), elements)
            expected = affine.quantize_per_tensor(x, 0.037, 5, low, high, storage)
            actual = _kernels.quantize_per_tensor(x, 0.037, 5, low, high, storage)
            assert_same_bits(expected, actual)
        for shape in ((1, 256), (2, 128), (9, 32), (40, 16), (7, 80), (6, 144), (5, 60), (700, 64)):
            x = behind_a_line(numbers(rng, shape), elements)
            for axis in (0, 1):
                scales = rng.uniform(0.01, 0.1, shape[axis])
                arguments = (scales, rng.integers(0, 100, shape[axis]), axis, low, high, storage)
                expected = affine.quantize_per_channel(x, *arguments)
                assert_same_bits(expected, _kernels.quantize_per_channel(x, *arguments))


@pytest.mark.parametrize(("storage", "low", "high"), RANGES)
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.1, 0.037, 1e-6, 3e30, 1e-39, 1e-45])
@pytest.mark.parametrize("zero_point", [0, 1, 101])
def test_per_tensor_near_ties(
    kernel: str, storage: Any, low: int, high: int, scale: float, zero_point: int
) -> None:
    """The product and sum of eq-affine-quantize are rounded once for bytes, twice for 32 bits."""
    x = near_ties(scale, zero_point, 301)
    expected = affine.quantize_per_tensor(x, scale, zero_point, low, high, storage)
    actual = _kernels.quantize_per_tensor(x, scale, zero_point, low, high, storage)
    assert_same_bits(expected, actual)


@pytest.mark.parametrize(("storage", "low", "high"), RANGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_per_channel_along_every_axis(
    kernel: str, storage: Any, low: int, high: int, shape: tuple[int, ...], n_threads: int
) -> None:
    """eq-affine-quantize-channel and eq-affine-dequantize-channel, bit for bit."""
    rng = np.random.default_rng(2)
    x = numbers(rng, shape)
    for axis in (*range(len(shape)), -1):
        scales = rng.uniform(0.01, 0.1, shape[axis])
        zero_points = rng.integers(0, 100, shape[axis])
        arguments = (scales, zero_points, axis)
        expected = affine.quantize_per_channel(x, *arguments, low, high, storage)
        actual = _kernels.quantize_per_channel(x, *arguments, low, high, storage)
        assert_same_bits(expected, actual)
        real = affine.dequantize_per_channel(expected, *arguments)
        assert_same_bits(real, _kernels.dequantize_per_channel(expected, *arguments))


def test_per_channel_near_ties(kernel: str) -> None:
    scales = np.array([1.0, 0.5, 0.1, 0.037, 1e-6])
    zero_points = np.array([0, 1, 101, 7, 255])
    rows = [near_ties(s, z, 101) for s, z in zip(scales, zero_points, strict=True)]
    for axis, x in ((0, np.stack(rows)), (1, np.stack(rows, axis=1))):
        expected = affine.quantize_per_channel(x, scales, zero_points, axis, 0, 255, np.uint8)
        actual = _kernels.quantize_per_channel(x, scales, zero_points, axis, 0, 255, np.uint8)
        assert_same_bits(expected, actual)


def test_per_channel_with_zero_points_that_are_not_whole(kernel: str) -> None:
    """The scheme per_channel_affine_float_qparams."""
    rng = np.random.default_rng(3)
    x, scales, zero_points = numbers(rng, (4, 50)), rng.uniform(0.1, 1, 4), rng.normal(size=4)
    expected = affine.quantize_per_channel(x, scales, zero_points, 0, 0, 255, np.uint8)
    actual = _kernels.quantize_per_channel(x, scales, zero_points, 0, 0, 255, np.uint8)
    assert_same_bits(expected, actual)
    real = affine.dequantize_per_channel(expected, scales, zero_points, 0)
    assert_same_bits(real, _kernels.dequantize_per_channel(expected, scales, zero_points, 0))


@pytest.mark.parametrize(
    ("storage", "low", "high"), [*RANGES[:3], (np.int8, -100, 90), (np.uint8, 3, 200)]
)
@pytest.mark.parametrize("special", [np.nan, -np.nan, np.inf, -np.inf, 3e38, -3e38, 2.0**31])
def test_a_special_number_in_each_place(
    kernel: str, storage: Any, low: int, high: int, special: float
) -> None:
    """Four vectors are held to the range at once, unless one has such a number."""
    ordinary = np.random.default_rng(13).normal(0, 60, (2, 81)).astype(np.float32)
    for place in range(81):
        x = ordinary.copy()
        x[1, place] = special
        expected = affine.quantize_per_tensor(x, 0.5, 5, low, high, storage)
        assert_same_bits(expected, _kernels.quantize_per_tensor(x, 0.5, 5, low, high, storage))
        for axis in (0, 1):
            scales, zero_points = np.full(x.shape[axis], 1.0), np.arange(x.shape[axis])
            arguments = (scales, zero_points, axis, low, high, storage)
            expected = affine.quantize_per_channel(x, *arguments)
            assert_same_bits(expected, _kernels.quantize_per_channel(x, *arguments))


@pytest.mark.parametrize("zero_point", [-(2**31), -1, 0, 1, 2**31 - 1])
def test_32_bit_integers_at_the_ends(kernel: str, zero_point: int) -> None:
    q = np.int32([-(2**31), -(2**24) - 1, -1, 0, 1, 2**24 + 1, 2**31 - 1])
    expected = affine.dequantize_per_tensor(q, 0.1, zero_point)
    assert_same_bits(expected, _kernels.dequantize_per_tensor(q, 0.1, zero_point))


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: x[::2], lambda x: x[:, ::-1]])
def test_arrays_that_are_not_contiguous(kernel: str, make: Any) -> None:
    x = make(numbers(np.random.default_rng(4), (6, 35)))
    expected = affine.quantize_per_tensor(x, 0.1, 3, 0, 255, np.uint8)
    assert_same_bits(expected, _kernels.quantize_per_tensor(x, 0.1, 3, 0, 255, np.uint8))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    "shape", [(3, 5, 8), (2, 7, 4, 33), (2, 3, 2, 5, 40), (9, 300, 20), (0, 9)]
)
def test_rows_in_any_order(kernel: str, dtype: Any, shape: tuple[int, ...], n_threads: int) -> None:
    """eq-affine-quantize and eq-affine-dequantize of permuted arrays, and of some of their rows."""
    rng = np.random.default_rng(9)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    last = len(shape) - 1
    for order in ((*range(last)[::-1], last), (*range(1, last), 0, last), (last, *range(last))):
        lies = np.moveaxis(numbers(rng, [shape[each] for each in order]), range(last + 1), order)
        for x in (lies, lies[::-1, ..., 1:], lies[..., ::2, :], lies[..., :1]):
            q = affine.quantize_per_tensor(x, 0.1, 3, low, high, dtype)
            actual = _kernels.quantize_per_tensor(x, 0.1, 3, low, high, dtype)
            assert_same_bits(q, actual)
            integers = np.empty_like(x, dtype, order="K")
            integers[...] = q
            expected = affine.dequantize_per_tensor(integers, 0.1, 3)
            assert_same_bits(expected, _kernels.dequantize_per_tensor(integers, 0.1, 3))


@pytest.mark.parametrize("size", [(5,), (6, 5), (3, 6, 5)])
def test_parts_of_images_with_their_channels_last(kernel: str, size: tuple[int, ...]) -> None:
    """Channels, pixels or both: the results have their channels last too, without gaps."""
    rng = np.random.default_rng(10)
    reals = np.moveaxis(numbers(rng, (2, *size, 24)), -1, 1)
    integers = np.moveaxis(rng.integers(0, 256, (2, *size, 24), np.uint8), -1, 1)
    for part in (np.s_[:, 8:], np.s_[..., 1::2], np.s_[:1, 3:20, ..., :3]):
        x, q = reals[part], integers[part]
        bytes_ = _kernels.quantize_per_tensor(x, 0.1, 3, 0, 255, np.uint8)
        assert_same_bits(affine.quantize_per_tensor(x, 0.1, 3, 0, 255, np.uint8), bytes_)
        numbers_ = _kernels.dequantize_per_tensor(q, 0.1, 3)
        assert_same_bits(affine.dequantize_per_tensor(q, 0.1, 3), numbers_)
        for result in (bytes_, numbers_):
            assert np.moveaxis(result, 1, -1).flags.c_contiguous is (len(size) > 1)


@pytest.mark.parametrize("kind", [np.float64, np.float16])
def test_other_float_types(kernel: str, kind: Any) -> None:
    x = np.linspace(-3, 3, 77).astype(kind)
    expected = affine.quantize_per_tensor(x, 0.1, 3, 0, 255, np.uint8)
    assert_same_bits(expected, _kernels.quantize_per_tensor(x, 0.1, 3, 0, 255, np.uint8))


@pytest.mark.parametrize("kind", ["=f8", ">f8", "=f4", "=i8"])
def test_parameters_that_lie_otherwise(kernel: str, kind: str) -> None:
    """Between two numbers, backwards, of another type or order of bytes: all become doubles."""
    x = np.random.default_rng(9).standard_normal((4, 5)).astype(np.float32)
    values = np.arange(1, 6).astype(kind)
    within = np.zeros(values.nbytes + 1, np.uint8)[1:].view(kind)
    within[:] = values
    expected = affine.quantize_per_channel(x, values, values, 1, 0, 255, np.uint8)
    for each in (within, values[::-1].copy()[::-1], values.repeat(2)[::2], values.tolist()):
        q = _kernels.quantize_per_channel(x, each, each, 1, 0, 255, np.uint8)
        assert_same_bits(expected, q)
        real = affine.dequantize_per_channel(q, values, values, 1)
        assert_same_bits(real, _kernels.dequantize_per_channel(q, each, each, 1))


@pytest.mark.parametrize("storage", [np.uint8, np.int8])
@pytest.mark.parametrize("off", [0, 1])
def test_results_past_the_caches(
    compiled_kernel: str, storage: Any, off: int, n_threads: int
) -> None:
    """Results of 16 MiB, and real ones of 32, go there if they begin at a line."""
    kernel = _kernels.registry.twin("quantize")
    low, high = np.iinfo(storage).min, np.iinfo(storage).max
    some = numbers(np.random.default_rng(10), 100_003)
    x = np.resize(some, (1 << 24) + 77)
    q = layout.empty((x.size + off,), np.dtype(storage))[off:]
    kernel.quantize_per_tensor(x, q, 0.05, 3.0, low, high, n_threads)
    expected = affine.quantize_per_tensor(some, 0.05, 3, low, high, storage)
    assert_same_bits(np.resize(expected, x.size), q)
    y = layout.empty((x.size + off,), np.dtype(np.float32))[off:]
    kernel.dequantize_per_tensor(q, y, 0.05, 3, n_threads)
    expected = affine.dequantize_per_tensor(expected, 0.05, 3)
    assert_same_bits(np.resize(expected, x.size), y)
