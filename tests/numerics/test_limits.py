"""The edges of what the equations take: nothing at all, nan, infinities, extreme scales."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.affine import (
    dequantize_per_channel,
    dequantize_per_tensor,
    quantize_per_channel,
    quantize_per_tensor,
)
from pyqref.numerics.convolution import quantized_conv_transpose
from pyqref.numerics.dynamic import linear_dynamic
from pyqref.numerics.elementwise import Grid, add, cat, clamp, mul, relu
from pyqref.numerics.fake_quantize import fake_quantize_per_channel, fake_quantize_per_tensor
from pyqref.numerics.histogram import merge_histogram, search_range
from pyqref.numerics.interpolate import bilinear, nearest
from pyqref.numerics.linear import quantized_linear
from pyqref.numerics.pooling import adaptive_avg_pool, avg_pool, max_pool
from pyqref.numerics.qparams import choose_qparams
from pyqref.numerics.requantize import requantization, requantize
from pyqref.numerics.scalar import add_scalar, mul_scalar

NONE = np.zeros((0, 3), np.float32)
NO_BYTES = np.zeros((0, 3), np.uint8)
NO_IMAGES = np.zeros((0, 2, 4, 4), np.uint8)
BYTE = (0, 255, np.uint8)
GRID = Grid(0.5, 3)


def test_no_elements() -> None:
    """Empty arrays go through everything elementwise and keep their shape."""
    scales, zeros = [1.0, 2.0, 3.0], [0, 1, 2]
    requant = requantization("fbgemm", 1.0, 1.0, 1.0, 0)
    results = [
        quantize_per_tensor(NONE, 0.1, 3, *BYTE),
        dequantize_per_tensor(NO_BYTES, 0.1, 3),
        quantize_per_channel(NONE, scales, zeros, 1, *BYTE),
        dequantize_per_channel(NO_BYTES, scales, zeros, 1),
        *fake_quantize_per_tensor(NONE, 0.1, 3, 0, 255),
        *fake_quantize_per_channel(NONE, scales, zeros, 1, 0, 255),
        add(NO_BYTES, GRID, NO_BYTES, GRID, GRID),
        add(NO_BYTES, GRID, NO_BYTES, GRID, GRID, "qnnpack"),
        mul(NO_BYTES, GRID, NO_BYTES, GRID, GRID),
        relu(NO_BYTES, 3),
        clamp(NO_BYTES, GRID, -1.0, 1.0),
        cat([NO_BYTES, NO_BYTES], [GRID, GRID], 0, GRID),
        add_scalar(NO_BYTES, GRID, 1000.0)[0],
        mul_scalar(NO_BYTES, GRID, -1.0)[0],
        quantized_linear(NO_BYTES, 0, np.ones((3, 3), np.int8), 0, requant),
        linear_dynamic(NONE, np.ones((3, 3), np.int8), 1.0, 0),
    ]
    assert {(0, 3)} == {each.shape for each in results}


def test_no_images() -> None:
    """An empty batch of images gives an empty batch of results."""
    requant = requantization("fbgemm", 1.0, 1.0, 1.0, 0)
    weight, one = np.ones((2, 5, 3, 3), np.int8), [1, 1]
    assert (0, 2, 2, 2) == max_pool(NO_IMAGES, [2, 2], [2, 2], [0, 0], one).shape
    assert (0, 2, 2, 2) == avg_pool(NO_IMAGES, 1, [2, 2], [2, 2], [0, 0]).shape
    assert (0, 2, 3, 1) == adaptive_avg_pool(NO_IMAGES, 1, [3, 1]).shape
    assert (0, 2, 8, 5) == nearest(NO_IMAGES, [8, 5]).shape
    assert (0, 2, 8, 5) == bilinear(NO_IMAGES, 1, [8, 5]).shape
    y = quantized_conv_transpose(NO_IMAGES, 0, weight, 0, requant, one, [0, 0], [0, 0], one, 1)
    assert (0, 5, 6, 6) == y.shape


@pytest.mark.parametrize(
    ("low", "high", "storage", "per_tensor", "per_channel"),
    [
        (0, 255, np.uint8, 255, 0),
        (-128, 127, np.int8, 127, 0),
        (-(2**31), 2**31 - 1, np.int32, -(2**31), -(2**31)),
    ],
)
def test_special_numbers(
    low: int, high: int, storage: type, per_tensor: int, per_channel: int
) -> None:
    """Infinities saturate, nan has the integer that torch gives it, without a warning."""
    x = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38])
    expected = [high, low, high, low]
    actual = quantize_per_tensor(x, 0.1, 3, low, high, storage).tolist()
    assert [per_tensor, *expected] == actual
    actual = quantize_per_channel(x[None], [0.1], [3], 0, low, high, storage)[0].tolist()
    assert [per_channel, *expected] == actual


@pytest.mark.parametrize("convention", ["documented", "torch"])
def test_special_numbers_faked(convention: str) -> None:
    """Outside the range there is no gradient, and nan is outside."""
    x = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38])
    ends = [-3.0, 252.0, -3.0, 252.0, -3.0]
    for y, mask in (
        fake_quantize_per_tensor(x, 1.0, 3, 0, 255, convention),
        fake_quantize_per_channel(x[None], [1.0], [3], 0, 0, 255, convention),
    ):
        assert (ends, [False] * 5) == (y.ravel().tolist(), mask.ravel().tolist())


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_fake_quantization_keeps_the_type(kind: type) -> None:
    """The result has the type of the input, for each of the three."""
    x = np.linspace(-3, 3, 7).astype(kind)
    assert kind == fake_quantize_per_tensor(x, 0.5, 3, 0, 255)[0].dtype
    assert kind == fake_quantize_per_channel(x[None], [0.5], [3], 0, 0, 255)[0].dtype


@pytest.mark.parametrize("scale", [1e-45, 1e-38, 1e38])
def test_extreme_scales(scale: float) -> None:
    """Subnormal and huge scales give integers of the range, without a warning."""
    x = np.float32([-1e38, -1.0, 0.0, 1.0, 1e38])
    q = quantize_per_tensor(x, scale, 100, *BYTE)
    assert sorted(q.tolist()) == q.tolist()


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize(("small", "large"), [(1e-38, 1e38), (1e38, 1e-38)])
@pytest.mark.parametrize("scales", [1.0, [1.0, 1e-30]])
def test_extreme_multipliers(engine: str, small: float, large: float, scales: object) -> None:
    """Multipliers that underflow or overflow give integers of the range, no warning."""
    requant = requantization(engine, small, scales, large, 7, [1.0, -1.0])
    q = requantize(np.array([[2**31 - 1, -(2**31)]]), requant)
    assert (np.uint8, (1, 2)) == (q.dtype, q.shape)


def test_extreme_ranges() -> None:
    """The widest range of float32 overflows to an infinite scale, which the caller refuses."""
    scale, zero_point = choose_qparams(np.float32(-3e38), np.float32(3e38), 0, 255)
    assert (np.inf, 0) == (scale, zero_point)


def test_constant_histograms() -> None:
    """A range of one point is its own result."""
    for value in (0.0, 5.0, -3.0):
        histogram = merge_histogram(None, np.full(7, value), 2048, 16)
        assert (value, value) == search_range(histogram)


def test_layouts_and_views() -> None:
    """Strided views give what their copies give."""
    x = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
    view = x.T[::2, ::-1]
    expected = quantize_per_tensor(view.copy(), 0.1, 3, *BYTE)
    assert expected.tolist() == quantize_per_tensor(view, 0.1, 3, *BYTE).tolist()
    scales, zeros = np.arange(1, 5) / 10, np.arange(4)
    expected = quantize_per_channel(view.copy(), scales, zeros, 0, *BYTE)
    assert expected.tolist() == quantize_per_channel(view, scales, zeros, 0, *BYTE).tolist()
