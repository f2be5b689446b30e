"""The largest of windows by every kernel against the twin in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import windows as reference
from pyqref.numerics.windows import Windows

#: Kernel, stride, padding and dilation: ordinary, of one pixel, apart, wider than the image.
GEOMETRIES = [
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1), (2, 2), (0, 0), (1, 1)),
    ((1, 1), (1, 1), (1, 0), (1, 1)),
    ((2, 3), (2, 1), (0, 2), (1, 1)),
    ((3, 2), (3, 2), (1, 1), (2, 3)),
    ((5, 5), (2, 3), (2, 2), (1, 1)),
    ((2, 2), (4, 5), (0, 0), (1, 1)),
]


def numbers(*shape: int) -> np.ndarray:
    """Floats of all sizes, the negative zero among them."""
    rng = np.random.default_rng(len(shape))
    x = rng.standard_normal(shape).astype(np.float32)
    return np.where(rng.random(shape) < 0.1, np.float32(-0.0), x)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("special", [False, True])
def test_largest_and_its_gradient(
    kernel: str, geometry: Any, special: bool, n_threads: int
) -> None:
    """Equals, nan and minus infinity among them, and windows that reach beside the image."""
    rng = np.random.default_rng(3)
    x = rng.integers(-3, 4, (2, 3, 7, 9)).astype(np.float32)
    if special:
        x = np.where(rng.random(x.shape) < 0.2, np.float32(-np.inf), x)
        x[0] = np.where(rng.random(x[0].shape) < 0.2, np.float32(np.nan), x[0])
    windows = Windows.make(*geometry)
    check_largest(x, windows, windows.output_size(x.shape[2:]))


def check_largest(x: np.ndarray, windows: Windows, count: tuple[int, ...]) -> None:
    y, winner = reference.largest(x, windows, count)
    for expected, actual in zip((y, winner), _kernels.largest(x, windows, count), strict=True):
        assert_same_bits(expected, actual)
    size = x.shape[-len(count) :]
    grad = numbers(*y.shape)
    assert_same_bits(
        reference.gradient_of_largest(grad, winner, windows, size),
        _kernels.gradient_of_largest(grad, winner, windows, size),
    )


@pytest.mark.parametrize("channels", [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33])
def test_windows_of_channels_last(kernel: str, channels: int, n_threads: int) -> None:
    """Channels around the vector of every kernel, nan and infinity among them, and a gap."""
    rng = np.random.default_rng(4)
    pixels = rng.integers(-3, 4, (2, 7, 9, channels + 1)).astype(np.float32)
    pixels[rng.random(pixels.shape) < 0.1] = -np.inf
    pixels[rng.random(pixels.shape) < 0.1] = -0.0
    pixels[0][rng.random(pixels[0].shape) < 0.02] = np.nan
    for x in (pixels[..., :channels], pixels[..., :channels].copy()):
        images = x.transpose(0, 3, 1, 2)
        for geometry in GEOMETRIES:
            windows = Windows.make(*geometry)
            count = windows.output_size((7, 9))
            check_largest(images, windows, count)
            assert _kernels.largest(images, windows, count)[0].strides[1] == 4
            every = rng.integers(1, 9, count).astype(np.float32)
            for divisor in (every, every[:1, :1]):
                arguments = windows, count, divisor
                with np.errstate(invalid="ignore"):
                    expected = reference.means_of_windows(images, *arguments)
                assert_same_bits(expected, _kernels.means_of_windows(images, *arguments))
                check_gradients(expected, images, windows, divisor)


def check_gradients(
    grad: np.ndarray, images: np.ndarray, windows: Windows, divisor: np.ndarray
) -> None:
    """Of the largest and of means, with the channels of ``grad`` last; so they are in results."""
    size = images.shape[2:]
    grad = np.ascontiguousarray(grad.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    _, winner = _kernels.largest(images, windows, grad.shape[2:])
    with np.errstate(invalid="ignore"):
        expected = reference.gradient_of_largest(grad, winner, windows, size)
        means = reference.gradient_of_means(grad, windows, size, divisor)
    for each in (winner, np.ascontiguousarray(winner)):
        found = _kernels.gradient_of_largest(grad, each, windows, size)
        assert_same_bits(expected, found)
        assert found.strides[1] == 4
    found = _kernels.gradient_of_means(grad, windows, size, divisor)
    assert_same_bits(means, found)
    assert found.strides[1] == 4


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_largest_of_lines_and_volumes(kernel: str, spatial: int) -> None:
    each = [(3,) * spatial, (2,) * spatial, (1,) * spatial, (1,) * spatial]
    windows = Windows.make(*each)
    for leading in ((), (2, 3)):
        x = numbers(*leading, *range(7, 7 + spatial))
        check_largest(x, windows, windows.output_size(x.shape[-spatial:]))


def test_largest_of_many_and_of_integers(kernel: str) -> None:
    """More positions than a byte can name, and other types, go to the twin."""
    windows = Windows.make((16, 17), (1, 1), (0, 0), (1, 1))
    check_largest(numbers(2, 18, 19), windows, (3, 3))
    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    small = Windows.make((2, 2), (1, 1), (0, 0), (1, 1))
    for expected, actual in zip(
        reference.largest(x, small, (2, 3)), _kernels.largest(x, small, (2, 3)), strict=True
    ):
        assert_same_bits(expected, actual)
