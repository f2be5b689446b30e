"""Convolution of floats, and its gradients, by every kernel against the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.test_largest import numbers

from pyqref import _kernels
from pyqref.numerics import float_convolution as reference
from pyqref.numerics.windows import Windows

#: Kernel, stride, padding and dilation: ordinary, of a pixel, beside each other, apart, other axes.
GEOMETRIES = [
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1), (2, 3), (1, 0), (1, 1)),
    ((2, 3), (2, 3), (0, 0), (1, 1)),
    ((3, 3), (2, 2), (1, 1), (1, 1)),
    ((5, 3), (3, 2), (2, 4), (1, 2)),
    ((2, 7), (1, 4), (0, 3), (3, 1)),
    ((3, 2), (1, 1), (4, 5), (2, 3)),
    ((5,), (1,), (2,), (1,)),
    ((4,), (3,), (1,), (2,)),
    ((2, 3, 3), (1, 2, 1), (1, 1, 0), (1, 1, 1)),
    ((3, 1, 2), (2, 1, 3), (2, 0, 1), (2, 3, 1)),
]


def check(x: np.ndarray, weight: np.ndarray, windows: Windows, groups: int = 1) -> None:
    """The result with and without a bias, and both gradients, bit for bit."""
    size = x.shape[2:]
    for bias in (None, numbers(len(weight))):
        given = x, weight, bias, windows, groups
        expected = reference.convolution(*given)
        assert_same_bits(expected, _kernels.convolution(*given))
    grad = numbers(*expected.shape)
    for bias in (None, numbers(x.shape[1])):
        back = grad, weight, bias, windows, groups, size
        assert_same_bits(
            reference.convolution_gradient(*back), _kernels.convolution_gradient(*back)
        )
    assert_same_bits(
        reference.convolution_weight_gradient(grad, x, windows, groups),
        _kernels.convolution_weight_gradient(grad, x, windows, groups),
    )


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_geometries(kernel: str, n_threads: int, geometry: Any) -> None:
    """eq-float-convolution, eq-float-convolution-gradient, eq-float-convolution-weight-gradient"""
    windows = Windows.make(*geometry)
    size = (5, 6, 9)[-len(windows.kernel) :]
    check(numbers(2, 3, *size), numbers(7, 3, *windows.kernel), windows)
    check(numbers(1, 4, *size), numbers(6, 2, *windows.kernel), windows, 2)


@pytest.mark.parametrize("outputs", [1, 5, 6, 7, 13, 17])
@pytest.mark.parametrize("width", [7, 8, 15, 16, 17, 33])
def test_around_the_tile(kernel: str, outputs: int, width: int) -> None:
    """Outputs around six rows and 16 lanes, positions around vectors and tiles of them."""
    windows = Windows.make((1, 3), (1, 1), (0, 1), (1, 1))
    check(numbers(1, 2, 2, width), numbers(outputs, 2, 1, 3), windows)


@pytest.mark.parametrize(("terms", "results"), [(63, 255), (64, 256), (65, 257)])
def test_around_a_block(kernel: str, terms: int, results: int) -> None:
    """Counts of terms around a block agree, and of results in the gradient of the filters."""
    pixel = Windows.make((1,), (1,), (0,), (1,))
    check(numbers(1, terms, 3), numbers(2, terms, 1), pixel)
    check(numbers(1, 1, results), numbers(2, 1, 1), pixel)


def test_boxes(kernel: str, n_threads: int) -> None:
    """Images and lines that are not copied at once, of few channels and of many."""
    windows = Windows.make((2, 1), (1, 3), (1, 0), (1, 1))
    for shape in ((1, 1, 30, 200), (1, 1, 2, 5000), (1, 300, 2, 200)):
        x, weight = numbers(*shape), numbers(1, shape[1], 2, 1)
        given = x, weight, None, windows, 1
        assert_same_bits(reference.convolution(*given), _kernels.convolution(*given))


def test_numbers_without_an_end(kernel: str) -> None:
    """The padding takes part in the result: infinity times 0 is nan there."""
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight = numbers(1, 2, 5, 9), numbers(2, 2, 3, 3)
    weight[0, 0, 0, 0], weight[1, 1, 2, 1], x[0, 1, 2, 3] = np.inf, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        check(x, weight, windows)
