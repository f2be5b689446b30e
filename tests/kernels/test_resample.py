"""Resizing of real numbers: what the kernel in use gives is what the twin in NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import float_resize as reference
from pyqref.tape.interpolate import taps

FLOAT32 = np.dtype(np.float32)
MODES = ("nearest", "nearest-exact", "linear", "bicubic")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_resampling(kernel: str, mode: str, dtype: Any, n_threads: int) -> None:
    """Larger and smaller, along one axis to three, widths around the vector."""
    rng = np.random.default_rng(0)
    for sizes, counts in (
        ((7,), (15,)),
        ((33,), (9,)),
        ((5, 16), (9, 33)),
        ((6, 17), (3, 8)),
        ((1, 1), (4, 5)),
        ((3, 4, 15), (6, 2, 31)),
    ):
        x = rng.standard_normal((2, 3, *sizes)).astype(dtype)
        along = [
            taps(length, count, mode, False, None, np.dtype(dtype))
            for length, count in zip(sizes, counts, strict=True)
        ]
        assert_same_bits(reference.resample(x, along), _kernels.resample(x, along))
        moved = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
        assert_same_bits(reference.resample(x, along), _kernels.resample(moved, along))
        assert _kernels.resample(x[:0], along).shape == (0, 3, *counts)


@pytest.mark.parametrize("channels", [2, 3, 5, 7, 8, 9, 15, 16, 17, 33])
def test_resampling_channels_last(kernel: str, channels: int, n_threads: int) -> None:
    """Channels around the vector of every kernel; results have their channels last, too."""
    x = np.random.default_rng(2).standard_normal((2, 4, 5, channels)).astype(FLOAT32)
    x = x.transpose(0, 3, 1, 2)
    for mode in MODES:
        along = [taps(n, 7, mode, False, None, FLOAT32) for n in (4, 5)]
        resized = _kernels.resample(x, along)
        assert_same_bits(reference.resample(x, along), resized)
        assert resized.strides[1] == 4


@pytest.mark.parametrize("channels", [1, 3, 8, 17])
@pytest.mark.parametrize("counts", [(7, 9), (2, 3), (11, 33)])
def test_gradients_of_resampling(
    kernel: str, channels: int, counts: tuple[int, int], n_threads: int
) -> None:
    """Elements with many results and with none, in both orders in memory; infinity stays apart."""
    grad = np.random.default_rng(2).standard_normal((2, *counts, channels)).astype(FLOAT32)
    grad[0, 1, 1] = np.inf
    last = grad.transpose(0, 3, 1, 2)
    for mode in MODES:
        back = [
            reference.adjoint(taps(n, count, mode, False, None, FLOAT32), n, FLOAT32)
            for n, count in zip((5, 6), counts, strict=True)
        ]
        expected = reference.resample(last, back)
        assert_same_bits(expected, _kernels.resample(last, back))
        assert_same_bits(expected, _kernels.resample(np.ascontiguousarray(last), back))
        assert mode != "nearest" or np.isnan(expected).sum() == 0


@pytest.mark.parametrize("width", [4095, 4096, 4097])
def test_resampling_around_the_task(kernel: str, width: int, n_threads: int) -> None:
    """Resampling agrees around a task of 2**13 results, with lines of half a task."""
    x = np.random.default_rng(1).standard_normal((1, 1, 3, width)).astype(FLOAT32)
    along = [taps(3, 5, "linear", True, None, FLOAT32)]
    along.append(taps(width, width + 1, "linear", True, None, FLOAT32))
    assert_same_bits(reference.resample(x, along), _kernels.resample(x, along))
