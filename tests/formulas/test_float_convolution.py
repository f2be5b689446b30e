"""Convolution of floats against sums in double, within the bound of its order."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics import float_convolution
from pyqref.numerics.rounding import fma32
from pyqref.numerics.windows import Windows, pad_spatial

U = 2.0**-24
#: Kernel, stride, dilation.
GEOMETRIES = [((3, 3), (1, 1), (1, 1)), ((3, 2), (2, 3), (2, 1)), ((5,), (3,), (1,))]


def columns(x: np.ndarray, windows: Windows) -> np.ndarray:
    """``(N, C, *size)`` as ``(N, C, taps, *output_size)``."""
    size = windows.output_size(x.shape[2:])
    padded = pad_spatial(x, windows)
    return np.stack([padded[where] for _, where in windows.positions(size)], 2)


def within(exact: np.ndarray, size: np.ndarray, found: np.ndarray, roundings: int) -> None:
    """Each number is at most gamma times the sum of the sizes of its terms away."""
    gamma = roundings * U / (1 - roundings * U)
    assert (np.abs(found - exact) <= gamma * size).all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_eq_float_convolution__within_its_bound(geometry: tuple[tuple[int, ...], ...]) -> None:
    """eq-float-convolution, eq-float-convolution-gradient, eq-float-convolution-weight-gradient.

    float64 holds products of two float32 exactly, and their sums well enough. A term goes through
    as many roundings as a block has terms, and then one for each block.
    """
    rng = np.random.default_rng(0)
    kernel, stride, dilation = geometry
    windows = Windows.make(kernel, stride, tuple(k // 2 for k in kernel), dilation)
    size = (17, 19)[-len(kernel) :]
    x = rng.standard_normal((2, 4, *size)).astype(np.float32)
    weight = rng.standard_normal((6, 4, *kernel)).astype(np.float32)
    bias = rng.standard_normal(6).astype(np.float32)
    y = float_convolution.convolution(x, weight, bias, windows)
    grad = rng.standard_normal(y.shape).astype(np.float32)
    grad_x = float_convolution.convolution_gradient(grad, weight, None, windows, 1, size)
    grad_weight = float_convolution.convolution_weight_gradient(grad, x, windows)

    def exact(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, grad: np.ndarray) -> list:
        filters, met = weight.reshape(6, 4, -1), columns(x, windows)
        result = np.einsum("oct,nct...->no...", filters, met)
        result += bias.reshape(-1, *(1,) * len(size))
        spread = np.zeros((2, 4, *windows.padded_size(size)))
        for tap, where in windows.positions(y.shape[2:]):
            at = weight[(slice(None), slice(None), *tap)]
            spread[where] += np.einsum("oc,no...->nc...", at, grad)
        of_weight = np.einsum(
            "nop,nctp->oct", grad.reshape(*grad.shape[:2], -1), met.reshape(*met.shape[:3], -1)
        )
        return [result, spread[windows.interior(size)], of_weight.reshape(weight.shape)]

    wide = [each.astype(np.float64) for each in (x, weight, bias, grad)]
    sums, sizes = exact(*wide), exact(*map(np.abs, wide))
    length = y[0, 0].size
    forward, back, of_weight = (
        min(terms, block) + images * -(-terms // block)
        for terms, block, images in (
            (weight[0].size, float_convolution.TERMS, 1),
            (weight[:, 0].size, float_convolution.TERMS, 1),
            (length, float_convolution.RESULTS, len(x)),
        )
    )
    roundings = forward, back, of_weight
    for each in zip(sums, sizes, (y, grad_x, grad_weight), roundings, strict=True):
        within(*each)


def test_eq_float_convolution__in_blocks() -> None:
    """eq-float-convolution: 64 terms, then those after them, are added to the bias."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1, 100, 1)).astype(np.float32)
    weight = rng.standard_normal((1, 100, 1)).astype(np.float32)
    y = np.float32(0.5)
    for block in (slice(64), slice(64, 100)):
        total = np.float32(0)
        for a, b in zip(x[0, block, 0], weight[0, block, 0], strict=True):
            total = np.float32(fma32(a, b, total))
        y += total
    windows = Windows.make((1,), (1,), (0,), (1,))
    found = float_convolution.convolution(x, weight, np.float32([0.5]), windows)
    assert [y] == found.ravel().tolist()


def test_eq_float_convolution__groups() -> None:
    """Each group is a convolution of its own channels, bit by bit; so are both gradients."""
    rng = np.random.default_rng(2)
    windows = Windows.make((3, 2), (2, 1), (1, 0), (1, 1))
    x = rng.standard_normal((2, 6, 5, 4)).astype(np.float32)
    weight = rng.standard_normal((4, 3, 3, 2)).astype(np.float32)
    bias = rng.standard_normal(4).astype(np.float32)
    functions = float_convolution
    y = functions.convolution(x, weight, bias, windows, 2)
    grad = rng.standard_normal(y.shape).astype(np.float32)
    of_x = functions.convolution_gradient(grad, weight, None, windows, 2, (5, 4))
    of_weight = functions.convolution_weight_gradient(grad, x, windows, 2)
    for n in range(2):
        ins, outs = slice(3 * n, 3 * n + 3), slice(2 * n, 2 * n + 2)
        part = functions.convolution(x[:, ins], weight[outs], bias[outs], windows)
        assert np.array_equal(part, y[:, outs])
        part = functions.convolution_gradient(grad[:, outs], weight[outs], None, windows, 1, (5, 4))
        assert np.array_equal(part, of_x[:, ins])
        part = functions.convolution_weight_gradient(grad[:, outs], x[:, ins], windows)
        assert np.array_equal(part, of_weight[outs])


def test_eq_float_convolution_gradient__bias_alone() -> None:
    """Places that no tap meets hold the bias: two taps at a stride of 3 leave out every third."""
    grad, weight = np.float32([[[1, 2]]]), np.float32([[[1, 10]]])
    windows = Windows.make((2,), (3,), (0,), (1,))
    bias = np.float32([0.5])
    found = float_convolution.convolution_gradient(grad, weight, bias, windows, 1, (6,))
    assert [1.5, 10.5, 0.5, 2.5, 20.5, 0.5] == found.ravel().tolist()
