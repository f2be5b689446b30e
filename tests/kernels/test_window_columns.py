"""Windows as columns, times filters, by every kernel against NumPy's products."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.test_window_rows import GEOMETRIES, numbers

import pyqref
from pyqref import _kernels
from pyqref.numerics.windows import Windows
from pyqref.tape import columns
from pyqref.tape.products import held_back


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("outputs", [1, 9])
@pytest.mark.parametrize("channels", [1, 8])
def test_products_are_those_of_each_block(
    kernel: str, geometry: Any, outputs: int, channels: int, n_threads: int
) -> None:
    """Pixels and outputs of a task are laid out, multiplied by NumPy and shifted by the bias."""
    check(numbers(3, channels, 7, 8), Windows.make(*geometry), outputs, n_threads)


def test_products_of_lines(kernel: str, n_threads: int) -> None:
    check(numbers(2, 9, 8), Windows.make((3,), (2,), (1,), (2,)), 4, n_threads)
    check(numbers(2, 9, 8), Windows.make((1,), (1,), (0,), (1,)), 4, n_threads)


@held_back()
def check(x: np.ndarray, windows: Windows, outputs: int, n_threads: int) -> None:
    """Tasks of fewer pixels than a line, of some lines and of all; with a bias and without."""
    depth = int(np.prod(windows.kernel)) * x.shape[1]
    length = int(np.prod(windows.output_size(x.shape[2:])))
    filters, bias = numbers(outputs, depth), numbers(outputs)
    for step, share in ((3, outputs), (11, 2), (length, outputs)):
        for added in (None, bias):
            actual = _kernels.multiply_columns(x, windows, filters, added, step, share, n_threads)
            if actual is None:  # no kernel covers it
                continue
            with (
                mock.patch.object(columns, "_sizes_of_task", return_value=(step, share)),
                mock.patch.object(_kernels, "multiply_columns", return_value=None),
            ):
                expected = columns.multiply_columns(x, windows, filters, added)
            assert_same_bits(expected, actual)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_layers_above_multiply_the_same(geometry: Any) -> None:
    """The twin in NumPy is the definition: each output is the sum over what its window meets."""
    windows, x = Windows.make(*geometry), np.arange(2 * 3 * 7 * 8.0).reshape(2, 3, 7, 8)
    filters = np.arange(4.0 * 3 * np.prod(windows.kernel)).reshape(4, 3, *windows.kernel)
    padded = np.pad(x, ((0, 0), (0, 0), *windows.padding))
    count = windows.output_size(x.shape[2:])
    expected = np.empty((2, 4, *count))
    for at in np.ndindex(count):
        window = tuple(
            slice(i * s, i * s + d * (k - 1) + 1, d)
            for i, k, s, d in zip(at, windows.kernel, windows.stride, windows.dilation, strict=True)
        )
        part = padded[(slice(None), slice(None), *window)]
        expected[(..., *at)] = np.tensordot(part, filters, (range(1, 4), range(1, 4))) + 1
    actual = columns.multiply_columns(x, windows, filters.reshape(4, -1), np.ones(4))
    assert np.array_equal(expected, actual)


def test_other_types_and_nothing_are_not_covered() -> None:
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    x, filters, bias = numbers(2, 3, 5, 6), numbers(4, 27), numbers(4)
    for given in (
        (x.astype(np.float64), filters, bias),
        (x, filters.astype(np.float64), bias),
        (x, filters, bias.astype(np.float64)),
        (x[:0], filters, bias),
    ):
        images, by, added = given
        assert _kernels.multiply_columns(images, windows, by, added, 4, 4, 1) is None


def test_large_layers_are_shared_by_threads() -> None:
    """One image has a power of two of tasks, and where its pixels are one block two of outputs."""
    assert (784, 64) == columns._sizes_of_task(1, 112 * 112, 147, 64)
    assert (208, 128) == columns._sizes_of_task(1, 14 * 14, 2304, 256)
    assert (208, 256) == columns._sizes_of_task(8, 14 * 14, 2304, 256)
    assert (16, 8) == columns._sizes_of_task(1, 4, 8, 8)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("kernel_size", [(1, 1), (3, 1)])
def test_gradients_of_many_pixels(batch: int, kernel_size: tuple[int, int]) -> None:
    """Those of whole numbers, which are exact, are those of small images side by side."""
    x, grad = np.arange(batch * 1200.0).reshape(batch, 2, 1, 600) % 7, np.arange(3.0)
    weight = np.arange(6.0 * kernel_size[0]).reshape(3, 2, *kernel_size)
    given, by = (pyqref.from_numpy(each).requires_grad_() for each in (x, weight))
    padding = (kernel_size[0] // 2, 0)
    y = pyqref.nn.functional.conv2d(given, by, padding=padding)
    y.backward(pyqref.from_numpy(np.broadcast_to(grad[:, None, None], y.shape).copy()))
    middle = kernel_size[0] // 2
    expected = np.zeros_like(weight)
    expected[:, :, middle, 0] = np.outer(grad, x.sum((0, 2, 3)))
    assert np.array_equal(expected, by.grad.numpy())
    of_pixel = grad @ weight[:, :, middle, 0]
    assert np.array_equal(np.broadcast_to(of_pixel[:, None, None], x.shape), given.grad.numpy())
