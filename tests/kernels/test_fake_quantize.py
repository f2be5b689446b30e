"""Fake quantization by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.test_quantize import SHAPES, SIZES, near_ties, numbers

from pyqref import _kernels
from pyqref._kernels.fake_quantize.grid import unpacked
from pyqref.numerics import fake_quantize as reference

CONVENTIONS = ["documented", "torch"]
RANGES = [(0, 255), (0, 127), (-128, 127), (-8, 7), (-(2**31), 2**31 - 1)]


def assert_same_pair(expected: Any, actual: Any) -> None:
    assert_same_bits(expected[0], actual[0])
    assert_same_bits(expected[1], unpacked(actual[1], expected[1].shape))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_per_tensor_around_the_vector(
    kernel: str, convention: Any, low: int, high: int, n_threads: int
) -> None:
    """eq-fake-quantize and eq-fake-quantize-mask, bit for bit."""
    rng = np.random.default_rng(1)
    for size in SIZES:
        arguments = (numbers(rng, size), 0.037, 5, low, high, convention)
        expected = reference.fake_quantize_per_tensor(*arguments)
        assert_same_pair(expected, _kernels.fake_quantize_per_tensor(*arguments))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.1, 0.037, 1e-6, 1e-45])
@pytest.mark.parametrize("zero_point", [0, 1, 101])
def test_per_tensor_near_ties(kernel: str, convention: Any, scale: float, zero_point: int) -> None:
    """Where the zero point is added shows at ties with an odd one."""
    arguments = (near_ties(scale, zero_point, 301), scale, zero_point, 0, 255, convention)
    expected = reference.fake_quantize_per_tensor(*arguments)
    assert_same_pair(expected, _kernels.fake_quantize_per_tensor(*arguments))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_per_channel_along_every_axis(
    kernel: str, convention: Any, shape: tuple[int, ...], kind: Any, n_threads: int
) -> None:
    """eq-fake-quantize-channel, zero points whole or not."""
    rng = np.random.default_rng(2)
    x = numbers(rng, shape)
    for axis in (*range(len(shape)), -1):
        scales = rng.uniform(0.01, 0.1, shape[axis])
        zero_points = rng.uniform(0, 100, shape[axis]).astype(kind)
        arguments = (x, scales, zero_points, axis, 0, 255, convention)
        expected = reference.fake_quantize_per_channel(*arguments)
        assert_same_pair(expected, _kernels.fake_quantize_per_channel(*arguments))


@pytest.mark.parametrize("wrong", [0.0, -0.1, np.nan, np.inf])
def test_grids_that_are_right(compiled_kernel: str, wrong: float) -> None:
    """Scales positive and finite, zero points in the range, and as many as there are channels."""
    for channels in (0, 1, 15, 16, 33):
        scales, zero_points = np.full(channels, 0.1, np.float32), np.full(channels, 7, np.int32)
        assert _kernels.is_grid(scales, zero_points, channels, 7, 7)
        assert not _kernels.is_grid(scales, zero_points, channels, 8, 7)
        assert not _kernels.is_grid(scales, zero_points, channels + 1, 0, 255)
        assert not _kernels.is_grid(scales, zero_points.astype(np.int64), channels, 0, 255)
        for at in range(channels):
            other = scales.copy()
            other[at] = wrong
            assert not _kernels.is_grid(other, zero_points, channels, 0, 255)
            for outside in (-1, 256):
                points = zero_points.copy()
                points[at] = outside
                assert not _kernels.is_grid(scales, points, channels, 0, 255)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("kind", [np.float64, np.float16])
def test_other_float_types(kernel: str, convention: Any, kind: Any) -> None:
    x = np.linspace(-3, 3, 77).astype(kind)
    expected = reference.fake_quantize_per_tensor(x, 0.1, 3, 0, 255, convention)
    actual = _kernels.fake_quantize_per_tensor(x, 0.1, 3, 0, 255, convention)
    assert_same_pair(expected, actual)


def test_straight_through_around_the_vector(kernel: str, n_threads: int) -> None:
    """eq-straight-through, bit for bit: nan, infinity and -0.0 are masked to +0.0."""
    rng = np.random.default_rng(4)
    for size in SIZES:
        gradient = numbers(rng, size)
        mask = rng.integers(0, 2, size).astype(np.bool_)
        expected = reference.straight_through(gradient, mask)
        assert_same_bits(expected, _kernels.straight_through(gradient, mask))
    gradient, mask = numbers(rng, 24).reshape(2, 3, 4), rng.integers(0, 2, (2, 3, 4)) == 1
    expected = reference.straight_through(gradient, mask)
    assert_same_bits(expected, _kernels.straight_through(gradient.T.copy().T, mask))


@pytest.mark.parametrize(
    "shape",
    [(8, 5), (3, 7, 2), (40, 33), (129, 8), (700, 100), (5, 20000), (6, 37001), (17, 5003), (3, 1)],
)
def test_gradients_pass_by_the_mask_of_a_kernel(
    kernel: str, shape: tuple[int, ...], n_threads: int
) -> None:
    """eq-straight-through by bits, wherever in a byte channels, vectors and tasks begin."""
    rng = np.random.default_rng(7)
    x, gradient = numbers(rng, shape), numbers(rng, shape)
    for axis in range(-1, len(shape)):
        grid = np.full(shape[axis], 0.1), np.arange(shape[axis]) % 9
        arguments = (x, *grid, axis, 0, 9) if axis >= 0 else (x, 0.1, 3, 0, 9)
        name = "fake_quantize_per_channel" if axis >= 0 else "fake_quantize_per_tensor"
        _, expected = getattr(reference, name)(*arguments)
        _, mask = getattr(_kernels, name)(*arguments)
        passed = reference.straight_through(gradient, expected)
        assert_same_bits(passed, _kernels.straight_through(gradient, mask))
        other_order = gradient.T.copy().T
        assert_same_bits(passed, _kernels.straight_through(other_order, mask))
        assert_same_bits(
            passed.astype(np.float64), _kernels.straight_through(gradient.astype(np.float64), mask)
        )


@pytest.mark.parametrize(
    ("shape", "axis"), [((16411, 64), 1), ((1030, 1024), 0), ((1030, 1021), 0)]
)
def test_results_that_go_past_the_caches(
    kernel: str, shape: tuple[int, ...], axis: int, n_threads: int
) -> None:
    """Above 4 MiB results are written otherwise, whole lines at a time, and are the same."""
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    per_tensor = (x, 0.037, 5, 0, 63)
    expected = reference.fake_quantize_per_tensor(*per_tensor)
    assert_same_pair(expected, _kernels.fake_quantize_per_tensor(*per_tensor))
    channels = shape[axis]
    per_channel = (x, np.linspace(0.01, 0.05, channels), np.arange(channels) % 64, axis, 0, 63)
    expected = reference.fake_quantize_per_channel(*per_channel)
    assert_same_pair(expected, _kernels.fake_quantize_per_channel(*per_channel))
    passed = reference.straight_through(x, expected[1])
    for mask in (expected[1], _kernels.fake_quantize_per_channel(*per_channel)[1]):
        assert_same_bits(passed, _kernels.straight_through(x, mask))


@pytest.mark.parametrize("off", [0, 1, 4, 8])
def test_results_that_begin_in_a_line_stay_in_the_caches(compiled_kernel: str, off: int) -> None:
    """Results that go past the caches begin at a vector, wherever the array begins."""
    kernel = _kernels.registry.twin("fake_quantize")
    x = np.random.default_rng(6).standard_normal((1 << 20) + 5).astype(np.float32)
    buffer = np.empty(x.size + 32, np.float32)
    first = -buffer.ctypes.data // 4 % 16 + off
    y = buffer[first : first + x.size]
    kernel.fake_quantize_per_tensor(x, y, False, 0.037, 5.0, 0.0, 63.0, 0, 1)
    expected, mask = reference.fake_quantize_per_tensor(x, 0.037, 5, 0, 63)
    assert_same_bits(expected, y)
    kernel.straight_through(x, mask, y, 1)
    assert_same_bits(reference.straight_through(x, mask), y)
