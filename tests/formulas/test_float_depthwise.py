"""Depthwise convolution of floats against exact sums, within the bound of its order."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics import float_depthwise
from pyqref.numerics.windows import Windows

U = 2.0**-24


def within(exact: np.ndarray, size: np.ndarray, found: np.ndarray, roundings: int) -> None:
    """Each number is at most gamma times the sum of the sizes of its terms away."""
    gamma = roundings * U / (1 - roundings * U)
    assert (np.abs(found - exact) <= gamma * size).all()


@pytest.mark.parametrize(("kernel", "stride"), [((3, 3), (1, 1)), ((7, 7), (2, 2)), ((5,), (3,))])
def test_eq_float_depthwise__within_its_bound(
    kernel: tuple[int, ...], stride: tuple[int, ...]
) -> None:
    """eq-float-depthwise, eq-float-depthwise-gradient and eq-float-depthwise-weight-gradient.

    float64 holds products of two float32 exactly, and their sums well enough.
    """
    rng = np.random.default_rng(0)
    none = (1,) * len(kernel)
    windows = Windows.make(kernel, stride, tuple(k // 2 for k in kernel), none)
    size = (20, 37)[-len(kernel) :]
    x = rng.standard_normal((3, 2, *size)).astype(np.float32)
    weight = rng.standard_normal((2, *kernel)).astype(np.float32)
    bias = rng.standard_normal(2).astype(np.float32)
    functions = float_depthwise
    taps = weight[0].size
    y = functions.depthwise(x, weight, bias, windows)
    wide = [each.astype(np.float64) for each in (x, weight, bias)]
    sizes = [np.abs(each) for each in wide]
    within(functions.depthwise(*wide, windows), functions.depthwise(*sizes, windows), y, taps + 1)
    grad = rng.standard_normal(y.shape).astype(np.float32)
    wide_grad = grad.astype(np.float64)
    within(
        functions.depthwise_gradient(wide_grad, wide[1], windows, size),
        functions.depthwise_gradient(np.abs(wide_grad), sizes[1], windows, size),
        functions.depthwise_gradient(grad, weight, windows, size),
        taps + 1,
    )
    rows = grad[0, 0].size // grad.shape[-1] * -(-grad.shape[-1] // 16)
    within(
        functions.depthwise_weight_gradient(wide_grad, wide[0], windows),
        functions.depthwise_weight_gradient(np.abs(wide_grad), sizes[0], windows),
        functions.depthwise_weight_gradient(grad, x, windows),
        rows + 4 + len(x) + 1,
    )


def test_eq_float_depthwise_gradient__by_scattering() -> None:
    """Every product of a gradient and a tap goes where the tap met the image; integers are exact.

    Strides that are larger than the kernel leave places that nothing meets, along one axis alone,
    too, and images smaller than the stride have remainders without a place.
    """
    rng = np.random.default_rng(3)
    for kernel, stride, size in (((2, 3), (3, 2), (8, 7)), ((1, 2), (3, 3), (2, 5))):
        windows = Windows.make(kernel, stride, (0, 1), (1, 1))
        weight = rng.integers(-9, 10, (2, *kernel))
        counts = windows.output_size(size)
        grad = rng.integers(-9, 10, (3, 2, *counts))
        padded = np.zeros((3, 2, size[0], size[1] + 2), int)
        for r, c, i, j in np.ndindex(*counts, *kernel):
            padded[:, :, r * stride[0] + i, c * stride[1] + j] += grad[:, :, r, c] * weight[:, i, j]
        for kind in (np.float32, np.float64):
            found = float_depthwise.depthwise_gradient(
                grad.astype(kind), weight.astype(kind), windows, size
            )
            assert kind == found.dtype
            assert np.array_equal(padded[..., 1:-1], found)


def test_eq_float_depthwise__rounded_once() -> None:
    """-1 + (1 + 2**-12)**2 is 2**-11 + 2**-24 in float32; double holds what float32 does not."""
    windows = Windows.make((1,), (1,), (0,), (1,))
    for kind, small in ((np.float32, 2.0**-12), (np.float64, 2.0**-26)):
        one = np.array([[[1 + small]]], kind)
        found = float_depthwise.depthwise(one, one[0], np.array([-1], kind), windows)
        assert (kind, [2 * small + small**2]) == (found.dtype, found.ravel().tolist())
