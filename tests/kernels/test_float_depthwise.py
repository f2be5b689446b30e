"""Depthwise convolution of floats, and its gradients, by every kernel against the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.test_largest import numbers

from pyqref import _kernels
from pyqref.numerics import float_depthwise as reference
from pyqref.numerics.windows import Windows

#: Kernel, stride, padding and dilation.
GEOMETRIES = [
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1), (2, 3), (1, 0), (1, 1)),
    ((3, 3), (2, 2), (1, 1), (1, 1)),
    ((5, 3), (3, 2), (2, 4), (1, 2)),
    ((2, 7), (1, 4), (0, 3), (3, 1)),
    ((3, 2), (5, 4), (1, 1), (2, 3)),
]
#: Around one, two and four vectors of 4, 8 and 16.
WIDTHS = [7, 8, 17, 32, 49, 65]


def check(x: np.ndarray, weight: np.ndarray, windows: Windows) -> None:
    """The result with and without a bias, and both gradients, bit for bit."""
    size = x.shape[2:]
    for bias in (None, numbers(len(weight))):
        expected = reference.depthwise(x, weight, bias, windows)
        assert_same_bits(expected, _kernels.depthwise(x, weight, bias, windows))
    grad = numbers(*expected.shape)
    assert_same_bits(
        reference.depthwise_gradient(grad, weight, windows, size),
        _kernels.depthwise_gradient(grad, weight, windows, size),
    )
    assert_same_bits(
        reference.depthwise_weight_gradient(grad, x, windows),
        _kernels.depthwise_weight_gradient(grad, x, windows),
    )


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("width", WIDTHS)
def test_around_the_vector(kernel: str, n_threads: int, geometry: Any, width: int) -> None:
    """eq-float-depthwise, eq-float-depthwise-gradient, eq-float-depthwise-weight-gradient"""
    windows = Windows.make(*geometry)
    check(numbers(2, 3, 9, width), numbers(3, *windows.kernel), windows)


@pytest.mark.parametrize("geometry", [(1,), (2,), (3,)])
def test_lines(kernel: str, geometry: tuple[int]) -> None:
    """One spatial axis, as in a conformer."""
    windows = Windows.make((31,), geometry, (15,), (1,))
    check(numbers(2, 5, 100), numbers(5, 31), windows)


def test_three_axes(kernel: str) -> None:
    """No kernel covers volumes: these are the equations themselves."""
    windows = Windows.make((2, 3, 3), (1, 2, 1), (1, 1, 0), (1, 1, 1))
    check(numbers(1, 3, 4, 5, 6), numbers(3, 2, 3, 3), windows)


@pytest.mark.parametrize("stride", [1, 3])
def test_strips(kernel: str, n_threads: int, stride: int) -> None:
    """Planes that do not fit the scratch memory of a thread, and lines that do not."""
    windows = Windows.make((2, 1), (stride, stride), (1, 0), (1, 1))
    for size in ((600, 450), (3, 90_000)):
        x, weight = numbers(1, 1, *size), numbers(1, 2, 1)
        expected = reference.depthwise(x, weight, None, windows)
        assert_same_bits(expected, _kernels.depthwise(x, weight, None, windows))
        assert_same_bits(
            reference.depthwise_gradient(expected, weight, windows, size),
            _kernels.depthwise_gradient(expected, weight, windows, size),
        )
    windows = Windows.make((2, 1), (7, stride), (1, 0), (1, 1))  # a step for 16 results
    check(numbers(1, 1, *size), numbers(1, 2, 1), windows)


def test_numbers_without_an_end(kernel: str) -> None:
    """Zeros beside an image, and beside a gradient, take part: infinity times 0 is nan there."""
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight = numbers(1, 2, 5, 9), numbers(2, 3, 3)
    weight[0, 0, 0], weight[1, 2, 1], x[0, 1, 2, 3] = np.inf, -np.inf, np.nan
    with np.errstate(all="ignore"):
        check(x, weight, windows)
        grad = _kernels.depthwise_gradient(np.ones_like(x), np.abs(weight), windows, (5, 9))
    assert np.isnan(grad[0, 0, :, -1]).all()
    assert not np.isnan(grad[0, 0, :-1, :-1]).any()


def test_memory_in_any_order(kernel: str) -> None:
    """Channels last, a slice, nothing at all."""
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    weight = numbers(4, 3, 6)[..., ::2]
    check(np.moveaxis(numbers(2, 6, 7, 4), -1, 1), weight, windows)
    check(numbers(2, 8, 6, 7)[:, ::2], weight, windows)
    check(numbers(0, 4, 6, 7), weight, windows)
