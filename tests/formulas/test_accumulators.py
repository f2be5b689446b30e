"""Integer sums of linear layers and convolutions against loops over every product."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pyqref.numerics.convolution import (
    conv_accumulator,
    conv_transpose_accumulator,
    quantized_conv,
    quantized_conv_transpose,
)
from pyqref.numerics.linear import linear_accumulator, quantized_linear
from pyqref.numerics.requantize import requantization, requantize

RNG = np.random.default_rng(0)


def integers(*shape: int) -> np.ndarray:
    """Centred integers of 9 bits."""
    return RNG.integers(-255, 256, shape)


def brute_conv(x, w, stride, padding, dilation, groups):
    """Every product of a convolution, one by one."""
    batch, _, *size = x.shape
    outputs, per_group, *kernel = w.shape
    out = [
        (i + 2 * p - d * (k - 1) - 1) // s + 1
        for i, p, d, k, s in zip(size, padding, dilation, kernel, stride, strict=True)
    ]
    y = np.zeros((batch, *out, outputs), dtype=object)
    for b, n, c in product(range(batch), range(outputs), range(per_group)):
        source = n // (outputs // groups) * per_group + c
        for o in product(*map(range, out)):
            for k in product(*map(range, kernel)):
                at = [
                    a * s + t * d - p
                    for a, s, t, d, p in zip(o, stride, k, dilation, padding, strict=True)
                ]
                if all(0 <= a < i for a, i in zip(at, size, strict=True)):
                    y[(b, *o, n)] += int(x[(b, source, *at)]) * int(w[(n, c, *k)])
    return y.tolist()


def brute_transpose(x, w, stride, padding, output_padding, dilation, groups):
    """Every product of a transposed convolution: each input is scattered."""
    batch, channels, *size = x.shape
    _, per_group, *kernel = w.shape
    out = [
        (i - 1) * s - 2 * p + d * (k - 1) + extra + 1
        for i, s, p, d, k, extra in zip(
            size, stride, padding, dilation, kernel, output_padding, strict=True
        )
    ]
    y = np.zeros((batch, *out, per_group * groups), dtype=object)
    for b, c, m in product(range(batch), range(channels), range(per_group)):
        n = c // (channels // groups) * per_group + m
        for i in product(*map(range, size)):
            for k in product(*map(range, kernel)):
                at = [
                    a * s + t * d - p
                    for a, s, t, d, p in zip(i, stride, k, dilation, padding, strict=True)
                ]
                if all(0 <= a < o for a, o in zip(at, out, strict=True)):
                    y[(b, *at, n)] += int(x[(b, c, *i)]) * int(w[(c, m, *k)])
    return y.tolist()


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (1, 1, 1), (3, 17, 5), (2, 0, 3)])
def test_eq_linear_accumulator__products(m: int, k: int, n: int) -> None:
    """Exact sums, with a zero point for each row of the weight."""
    x = RNG.integers(0, 256, (m, k)).astype(np.uint8)
    w = RNG.integers(-128, 128, (n, k)).astype(np.int8)
    zero_points = RNG.integers(-128, 128, n)
    expected = [
        [
            sum((int(x[i, t]) - 7) * (int(w[j, t]) - int(zero_points[j])) for t in range(k))
            for j in range(n)
        ]
        for i in range(m)
    ]
    assert expected == linear_accumulator(x, 7, w, zero_points).tolist()


def test_eq_linear_accumulator__extremes() -> None:
    """The largest products, in a sum beyond 32 bits: still exact."""
    depth = 70000
    x, w = np.full((1, depth), 255, np.uint8), np.full((1, depth), -128, np.int8)
    assert -255 * 255 * depth == linear_accumulator(x, 0, w, 127).item()


def test_eq_linear_accumulator__leading_axes() -> None:
    """Axes before the last are carried along, and the result is requantized."""
    x = RNG.integers(0, 256, (2, 3, 4)).astype(np.uint8)
    w = RNG.integers(-128, 128, (5, 4)).astype(np.int8)
    requant = requantization("fbgemm", 0.1, 0.1, 2.0, 9)
    y = quantized_linear(x, 3, w, 0, requant)
    assert y.shape == (2, 3, 5)
    assert requantize(linear_accumulator(x, 3, w, 0), requant).tolist() == y.tolist()


CONVOLUTIONS = [
    # size, kernel, stride, padding, dilation, groups, channels, outputs
    ([7], [3], [1], [0], [1], 1, 2, 3),
    ([7], [3], [2], [2], [2], 2, 4, 6),
    ([5, 6], [3, 2], [1, 2], [1, 0], [1, 2], 1, 3, 2),
    ([4, 4], [1, 1], [1, 1], [0, 0], [1, 1], 4, 4, 8),
    ([6, 5], [3, 3], [2, 1], [1, 1], [1, 1], 3, 3, 3),
    ([3, 4, 3], [2, 2, 2], [1, 2, 1], [1, 0, 1], [1, 1, 2], 2, 2, 2),
]


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation", "groups", "channels", "outputs"),
    CONVOLUTIONS,
)
def test_eq_conv_accumulator__products(
    size,
    kernel,
    stride,
    padding,
    dilation,
    groups,
    channels,
    outputs,
) -> None:
    """One, two and three dimensions, groups, depthwise, stride, padding, dilation."""
    x, w = integers(2, channels, *size), integers(outputs, channels // groups, *kernel)
    expected = brute_conv(x, w, stride, padding, dilation, groups)
    actual = conv_accumulator(x, w, stride, padding, dilation, groups)
    assert expected == actual.tolist()


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation", "groups", "channels", "outputs"),
    [*CONVOLUTIONS, ([3], [2], [3], [0], [1], 1, 1, 1), ([3], [1], [3], [1], [1], 1, 1, 1)],
)
def test_eq_conv_transpose_accumulator__products(
    size,
    kernel,
    stride,
    padding,
    dilation,
    groups,
    channels,
    outputs,
) -> None:
    """Transposed convolutions of these shapes, with output padding where the stride allows it."""
    x, w = integers(2, channels, *size), integers(channels, outputs // groups, *kernel)
    extra = [max(s, d) - 1 for s, d in zip(stride, dilation, strict=True)]
    expected = brute_transpose(x, w, stride, padding, extra, dilation, groups)
    actual = conv_transpose_accumulator(x, w, stride, padding, extra, dilation, groups)
    assert expected == actual.tolist()


def test_eq_conv_accumulator__padding_is_zero_point() -> None:
    """The padding stands for real zero: it holds the zero point and adds nothing."""
    x = np.full((1, 1, 2, 2), 9, np.uint8)
    w = np.ones((1, 1, 3, 3), np.int8)
    requant = requantization("fbgemm", 1.0, 1.0, 1.0, 5)
    y = quantized_conv(x, 9, w, 0, requant, [1, 1], [1, 1], [1, 1], 1)
    assert y.tolist() == [[[[5, 5], [5, 5]]]]


def test_eq_conv_accumulator__empty_batch() -> None:
    """A batch of none gives a result of none, of the right shape."""
    requant = requantization("fbgemm", 1.0, 1.0, 1.0, 5)
    x, w = np.zeros((0, 2, 5, 5), np.uint8), np.ones((3, 2, 3, 3), np.int8)
    y = quantized_conv(x, 9, w, 0, requant, [1, 1], [0, 0], [1, 1], 1)
    assert y.shape == (0, 3, 3, 3)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_eq_conv_transpose_accumulator__per_channel(groups: int) -> None:
    """Zero points of a transposed weight: one for each output, group after group."""
    channels, per_group = 2 * groups, 3
    x = RNG.integers(0, 256, (1, channels, 3)).astype(np.uint8)
    w = RNG.integers(-128, 128, (channels, per_group, 2)).astype(np.int8)
    zero_points = np.arange(groups * per_group) * 3 - 4
    requant = requantization("qnnpack", 0.1, np.linspace(0.1, 0.3, groups * per_group), 2.0, 9)
    centred_w = [
        w[c].astype(int) - zero_points[c // 2 * per_group :][:per_group, None]
        for c in range(channels)
    ]
    accumulator = np.array(
        brute_transpose(x.astype(int) - 4, np.array(centred_w), [1], [0], [0], [1], groups),
        dtype=np.int64,
    )
    y = quantized_conv_transpose(x, 4, w, zero_points, requant, [1], [0], [0], [1], groups)
    assert np.moveaxis(requantize(accumulator, requant), -1, 1).tolist() == y.tolist()
