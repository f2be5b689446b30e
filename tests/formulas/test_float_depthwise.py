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
