"""Resizing by every kernel against the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import interpolate

DTYPES = (np.uint8, np.int8)


def image(dtype: Any, *shape: int) -> np.ndarray:
    """All bytes, in C order or with the channels last by turns."""
    rng = np.random.default_rng(len(shape))
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max + 1, shape).astype(dtype)
    if shape[1] % 2:
        return x
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    return np.moveaxis(last, -1, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 4, 15, 16, 17, 32, 50])
def test_bilinear_around_the_vector(kernel: str, n_threads: int, dtype: Any, channels: int) -> None:
    """eq-quantized-bilinear, in both ways of placing corners."""
    x = image(dtype, 2, channels, 5, 4)
    for size in ((1, 1), (5, 4), (10, 8), (7, 9), (3, 2)):
        for corners in (False, True):
            for point in (0, 7, -9):
                expected = interpolate.bilinear(x, point, size, corners)
                assert_same_bits(expected, _kernels.bilinear(x, point, size, corners))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(7,), (5, 4), (3, 5, 4)])
@pytest.mark.parametrize("channels", [1, 3, 16, 50])
def test_nearest_along_every_axis(
    kernel: str, n_threads: int, dtype: Any, sizes: tuple[int, ...], channels: int
) -> None:
    """eq-quantized-nearest, larger and smaller."""
    x = image(dtype, 2, channels, *sizes)
    for factor in (0.5, 1, 2, 2.6):
        size = [max(int(each * factor), 1) for each in sizes]
        factors = [factor] * len(sizes)
        assert_same_bits(interpolate.nearest(x, size), _kernels.nearest(x, size))
        for exact in (False, True):
            arguments = (x, size, factors, exact)
            assert_same_bits(interpolate.nearest(*arguments), _kernels.nearest(*arguments))


@pytest.mark.parametrize("sizes", [(3000,), (200, 60), (5, 50, 60)])
def test_large_images_in_any_order(kernel: str, n_threads: int, sizes: tuple[int, ...]) -> None:
    """Large images agree band by band, forwards, backwards, and in lines wider than a band."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, (2, 50, *sizes)).astype(np.uint8)
    wide = rng.integers(0, 256, (1, 300, *sizes[:-2], *[3, 1000][-len(sizes) :])).astype(np.uint8)
    for q in (x, x[..., ::-1], wide):
        for factor in (0.5, 1.3):
            size = [max(int(each * factor), 1) for each in q.shape[2:]]
            assert_same_bits(interpolate.nearest(q, size), _kernels.nearest(q, size))
            if len(size) == 2:
                for corners in (False, True):
                    expected = interpolate.bilinear(q, 7, size, corners)
                    assert_same_bits(expected, _kernels.bilinear(q, 7, size, corners))


def test_what_no_kernel_covers(kernel: str) -> None:
    """32-bit integers and empty images go to the equations."""
    x = np.arange(24, dtype=np.int32).reshape(1, 2, 3, 4)
    assert_same_bits(interpolate.nearest(x, (6, 8)), _kernels.nearest(x, (6, 8)))
    assert_same_bits(interpolate.bilinear(x, 3, (6, 8)), _kernels.bilinear(x, 3, (6, 8)))
    empty = np.zeros((0, 2, 3, 4), np.uint8)
    assert _kernels.bilinear(empty, 0, (6, 8)).shape == (0, 2, 6, 8)
