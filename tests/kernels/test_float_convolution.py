"""Convolution of floats, and its gradients, by every kernel against the equations."""

from __future__ import annotations

from collections.abc import Callable
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
#: Size of the image, kernel, stride, padding and dilation: most of what the taps meet is padding.
FAR = [
    ((9, 9), (3, 3), (1, 1), (7, 7), (7, 7)),
    ((20, 27), (3, 3), (1, 1), (12, 16), (12, 16)),
    ((16, 40), (3, 5), (2, 1), (9, 20), (9, 12)),
    ((70,), (3,), (1,), (62,), (62,)),
    ((4, 7, 8), (3, 3, 3), (1, 1, 1), (3, 5, 6), (3, 5, 6)),
]


_answers: dict[Any, np.ndarray] = {}


def agree(name: str, *given: Any) -> None:
    """A kernel and the equation, whose answer serves all kernels and numbers of threads."""
    key = (
        name,
        *((each.shape, each.tobytes()) if isinstance(each, np.ndarray) else each for each in given),
    )
    if key not in _answers:
        _answers[key] = getattr(reference, name)(*given)
    assert_same_bits(_answers[key], getattr(_kernels, name)(*given))


def check(
    x: np.ndarray,
    weight: np.ndarray,
    windows: Windows,
    groups: int = 1,
    biases: Callable[[int], np.ndarray] = numbers,
) -> None:
    """The result with and without a bias, and both gradients, bit for bit."""
    size = x.shape[2:]
    for bias in (None, biases(len(weight))):
        agree("convolution", x, weight, bias, windows, groups)
    grad = numbers(len(x), len(weight), *windows.output_size(size))
    for bias in (None, biases(x.shape[1])):
        agree("convolution_gradient", grad, weight, bias, windows, groups, size)
    agree("convolution_weight_gradient", grad, x, windows, groups)


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
        agree("convolution", x, weight, None, windows, 1)


def without_minus_zero(*shape: int) -> np.ndarray:
    return np.abs(numbers(*shape))


@pytest.mark.parametrize("far", FAR)
def test_far_taps(kernel: str, n_threads: int, far: Any) -> None:
    """Whole blocks of terms meet padding. Of a batch, of groups, and of more outputs than tiles."""
    size, *geometry = far
    windows = Windows.make(*geometry)
    channels = 60 // np.prod(windows.kernel) + 14
    x, weight = numbers(2, channels, *size), numbers(17, channels, *windows.kernel)
    check(x, weight, windows, 1, without_minus_zero)
    x, weight = numbers(1, 32, *size), numbers(40, 16, *windows.kernel)
    check(x, weight, windows, 2, without_minus_zero)


def test_far_taps_in_several_boxes(kernel: str) -> None:
    """Lines of more than a thousand results, cut between regions and within them."""
    for shape, kernel_size, far in (((1, 2, 45, 50), (3, 3), 30), ((1, 2, 1, 2100), (1, 3), 1500)):
        windows = Windows.make(
            kernel_size, (1, 1), tuple(k // 2 * far for k in kernel_size), (far, far)
        )
        x, weight = numbers(*shape), numbers(24, 2, *kernel_size)
        agree("convolution", x, weight, None, windows, 1)


@pytest.mark.parametrize("where", ["weight", "x", "grad", "unmet weight", "unmet grad"])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_far_taps_and_numbers_without_an_end(kernel: str, where: str, value: float) -> None:
    """Padding takes part in the result, even where no tap meets anything else."""
    far = 10 if where == "unmet weight" else 7  # of taps at the edges of 9 x 9
    padding = 15 if where == "unmet grad" else far
    windows = Windows.make((3, 3), (1, 1), (padding, padding), (far, far))
    x, weight = numbers(1, 16, 9, 9), numbers(24, 16, 3, 3)
    grad = numbers(1, 24, *windows.output_size((9, 9)))
    at = {"weight": weight[5, 11], "x": x[0, 3], "grad": grad[0, 23]}[where.split()[-1]]
    at[0, 2] = value
    with np.errstate(invalid="ignore"):
        agree("convolution", x, weight, None, windows, 1)
        agree("convolution_gradient", grad, weight, None, windows, 1, x.shape[2:])
        agree("convolution_weight_gradient", grad, x, windows, 1)


@pytest.mark.parametrize("bias", [None, 0.0, -0.0])
def test_far_taps_and_minus_zero(kernel: str, bias: float | None) -> None:
    """Products that are too small are -0, and padding makes +0 of it."""
    windows = Windows.make((3, 3), (1, 1), (7, 7), (7, 7))
    x, weight = numbers(1, 8, 9, 9), np.abs(numbers(24, 8, 3, 3))
    x[:, :, :5], weight[::2] = np.float32(-1e-30), weight[::2] * np.float32(1e-30)
    of_outputs = None if bias is None else np.full(24, bias, np.float32)
    agree("convolution", x, weight, of_outputs, windows, 1)


def test_numbers_without_an_end(kernel: str) -> None:
    """The padding takes part in the result: infinity times 0 is nan there."""
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight = numbers(1, 2, 5, 9), numbers(2, 2, 3, 3)
    weight[0, 0, 0, 0], weight[1, 1, 2, 1], x[0, 1, 2, 3] = np.inf, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        check(x, weight, windows)
