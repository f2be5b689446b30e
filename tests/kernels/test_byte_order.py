"""Arrays whose bytes are in the other order, or at odd addresses, give what others give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._kernels.observe.histogram import count_and_range
from pyqref.numerics.requantize import requantization
from pyqref.numerics.windows import Windows

RNG = np.random.default_rng(0)
WINDOWS = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
BYTE = np.dtype(np.uint8)


def reals(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


LINES, IMAGE, FIVE, BIAS = reals(2, 5, 7), reals(2, 3, 6, 5), reals(5), reals(20)
INTEGERS = RNG.integers(-9, 99, (4, 5)).astype(np.int32)
SCALES, ZERO_POINTS = np.abs(FIVE) + 1, RNG.integers(0, 9, 5).astype(np.int32)
LINEAR = _kernels.pack_linear(RNG.integers(-9, 9, (20, 16)).astype(np.int8))
CONV = _kernels.pack_conv2d(RNG.integers(-9, 9, (4, 3, 3, 3)).astype(np.int8))
FINISH = requantization("fbgemm", 0.1, 0.1, 1.0, 3, np.ones(4, np.float32))

CALLS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "quantize": (lambda x: _kernels.quantize_per_tensor(x, 0.1, 3, 0, 255, BYTE), (LINES,)),
    "quantize channels": (
        lambda x, s, z: _kernels.quantize_per_channel(x, s, z, 1, 0, 255, BYTE),
        (LINES, SCALES, ZERO_POINTS),
    ),
    "dequantize": (lambda q: _kernels.dequantize_per_tensor(q, 0.1, 3), (INTEGERS,)),
    "dequantize channels": (
        lambda q, s, z: _kernels.dequantize_per_channel(q, s, z, 1),
        (INTEGERS, SCALES, ZERO_POINTS),
    ),
    "fake quantize": (
        lambda x: _kernels.fake_quantize_per_tensor(x, 0.1, 3, 0, 255, masked=False)[0],
        (LINES,),
    ),
    "fake quantize channels": (
        lambda x, s, z: _kernels.fake_quantize_per_channel(x, s, z, 1, 0, 255, masked=False)[0],
        (LINES, SCALES, ZERO_POINTS),
    ),
    "straight through": (lambda x: _kernels.straight_through(x, LINES > 0), (LINES,)),
    "count and range": (
        lambda x: count_and_range(x, np.zeros(40, np.float32), -5.0, 5.0),
        (LINES,),
    ),
    "min max": (_kernels.min_max, (LINES,)),
    "min max of channels": (lambda x: _kernels.min_max_per_channel(x, 1), (LINES,)),
    "extremes": (_kernels.extremes, (INTEGERS,)),
    "running range": (
        lambda low, high, x: _kernels.running_range(low, high, x, 1),
        (FIVE, FIVE + 1, LINES),
    ),
    "average": (lambda a, b: _kernels.fused_average(a, b, 0.1), (FIVE, FIVE + 1)),
    "moments": (_kernels.moments_of_channels, (LINES,)),
    "scale": (_kernels.scale_channels, (LINES, FIVE, FIVE + 1)),
    "sums": (_kernels.sums_of_channels, (LINES, LINES + 1, FIVE)),
    "largest": (lambda x: _kernels.largest(x, WINDOWS, (6, 5)), (IMAGE,)),
    "dynamic": (
        lambda x, bias: _kernels.linear_dynamic(x, LINEAR, 0, np.float64(0.1), bias, "fbgemm"),
        (reals(3, 16), BIAS),
    ),
    "real results": (
        lambda bias: _kernels.linear_float(
            np.ones((3, 16), BYTE), 3, LINEAR, 0, 0.1, 0.1, bias, "fbgemm"
        ),
        (BIAS,),
    ),
    "conv": (
        lambda x: _kernels.conv2d(x, 3, CONV, 0, FINISH, (1, 1), (1, 1), (1, 1), 0.1),
        (IMAGE,),
    ),
    "lstm": (_kernels.lstm_step, (reals(2, 24), reals(2, 24), reals(2, 6))),
    "gru": (_kernels.gru_step, (reals(2, 18), reals(2, 18), reals(2, 6))),
    "rnn": (_kernels.rnn_step, (reals(2, 6), reals(2, 6))),
    "relu": (lambda q: _kernels.relu(q, 3), (INTEGERS,)),
}
#: What says that it takes the order of this machine alone.
REFUSED = {("conv", 0), ("lstm", 2), ("gru", 2)}


def swapped(x: np.ndarray) -> np.ndarray:
    return x.astype(x.dtype.newbyteorder())


def at_an_odd_address(x: np.ndarray) -> np.ndarray:
    moved = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


def assert_same(expected: Any, actual: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(expected, actual, strict=True):
            assert_same(one, other)
    else:
        # NumPy's own results may have the byte order of what they are made of.
        actual = np.asarray(actual)
        assert_same_bits(expected, actual.astype(actual.dtype.newbyteorder("=")))


@pytest.mark.parametrize("change", [swapped, at_an_odd_address])
@pytest.mark.parametrize("name", CALLS)
def test_unusual_arrays(kernel: str, name: str, change: Any) -> None:
    call, arguments = CALLS[name]
    expected = call(*arguments)
    for place, argument in enumerate(arguments):
        given = (*arguments[:place], change(argument), *arguments[place + 1 :])
        if change is swapped and kernel != "reference" and (name, place) in REFUSED:
            with pytest.raises(TypeError, match="must be in the byte order of this machine"):
                call(*given)
        else:
            assert_same(expected, call(*given))
