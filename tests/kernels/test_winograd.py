"""Convolutions whose products kernels transform (eq-winograd), against the direct sums."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.conv_cases import Case
from kernels.layers import MODES, finish
from kernels.test_conv import check

from pyqref import _kernels, kernels
from pyqref._kernels import threads
from pyqref.numerics import convolution as reference


def image(
    batch: int,
    channels: int,
    size: tuple[int, int],
    outputs: int,
    padding: tuple[int, int] = (1, 1),
) -> Case:
    """Build a convolution by 3 x 3 that moves by one pixel."""
    return Case(batch, channels, size, outputs, (3, 3), (1, 1), padding, (1, 1))


@pytest.mark.parametrize("channels", [32, 96, 128, 160, 320])
@pytest.mark.parametrize("outputs", [32, 64, 80, 136])
def test_channels_and_panels(kernel: str, channels: int, outputs: int) -> None:
    """Channels that are summed at once and one part after the other; panels of every width."""
    check(np.random.default_rng(1), image(2, channels, (12, 16), outputs), channels_last=True)


@pytest.mark.parametrize("height", [8, 10, 11, 13])
@pytest.mark.parametrize("width", [12, 13, 14, 15, 29])
def test_tiles_and_what_is_beside_them(kernel: str, height: int, width: int) -> None:
    """Outputs right of and below whole tiles, or in tiles that reach over the edge."""
    rng = np.random.default_rng(2)
    for padding in itertools.product((0, 1), (1, 2)):
        check(rng, image(3, 64, (height, width), 32, padding), channels_last=True)


def test_threads_share_tiles_and_panels(kernel: str, n_threads: int) -> None:
    rng = np.random.default_rng(3)
    for case in (
        image(1, 64, (17, 22), 48),
        image(5, 192, (14, 14), 80),
        image(2, 32, (9, 40), 200),
    ):
        check(rng, case, channels_last=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("output", [np.uint8, np.int8])
@pytest.mark.parametrize("relu", [False, True])
def test_every_engine_type_and_relu(kernel: str, mode: Any, output: Any, relu: bool) -> None:
    case = image(2, 160, (12, 18), 72)
    for stored in (np.uint8, np.int8):
        check(
            np.random.default_rng(4),
            case,
            mode=mode,
            stored=stored,
            output=output,
            relu=relu,
            channels_last=True,
        )


def test_channels_first_and_weights_with_zero_points(kernel: str) -> None:
    rng = np.random.default_rng(5)
    case = image(2, 64, (40, 70), 40)
    check(rng, case)
    check(rng, case, weight_zero_points=3, channels_last=True)


@pytest.mark.parametrize("channels", [64, 128, 288])
def test_largest_sums(kernel: str, channels: int) -> None:
    """Every sum as large as it can be, of either sign: no bit is lost on the way."""
    rng = np.random.default_rng(6)
    sign = np.where(rng.integers(0, 2, (64, 1, 1, 1)), 127, -128)
    weight = np.broadcast_to(sign, (64, channels, 3, 3)).astype(np.int8)
    requant = finish(rng, MODES[3], 64, 9 * channels * 40)
    packed = _kernels.pack_conv2d(weight)
    for value, zero_point in ((0, 0), (255, 0), (255, 255), (0, 255), (128, 128)):
        x = np.full((1, 12, 12, channels), value, np.uint8).transpose(0, 3, 1, 2)
        steps = ((1, 1), (1, 1), (1, 1))
        expected = reference.quantized_conv(x, zero_point, weight, 0, requant, *steps, 1)
        assert_same_bits(expected, _kernels.conv2d(x, zero_point, packed, 0, requant, *steps))


def test_transposed(kernel: str) -> None:
    """A transposed convolution that moves by one pixel is one with its kernel turned around."""
    rng = np.random.default_rng(7)
    weight = rng.integers(-128, 128, (64, 40, 3, 3)).astype(np.int8)
    x = np.moveaxis(rng.integers(0, 256, (2, 13, 18, 64)).astype(np.uint8), -1, 1)
    requant = finish(rng, MODES[3], 40, 9 * 64)
    for padding in ((0, 0), (1, 1), (2, 1)):
        turned = weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
        around = (2 - padding[0], 2 - padding[1])
        expected = reference.quantized_conv(x, 7, turned, 0, requant, (1, 1), around, (1, 1), 1)
        packed = _kernels.pack_conv_transpose(weight, (1, 1), (1, 1), 1)
        actual = _kernels.conv_transpose(x, 7, packed, 0, requant, padding, (0, 0))
        assert_same_bits(expected, actual)


def scratch_of(x: np.ndarray, packed: Any, requant: Any) -> int:
    """Bytes that a convolution takes for a while, beside its result."""
    steps = ((1, 1), (1, 1), (1, 1))
    size = _kernels.conv2d(x, 3, packed, 0, requant, *steps).nbytes
    tracemalloc.start()
    try:
        _kernels.conv2d(x, 3, packed, 0, requant, *steps)
        return tracemalloc.get_traced_memory()[1] - size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["portable", "avx2", "avxvnni", "avx512vnni"])
def test_takes_the_room_that_there_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 128 channels at a time where inputs are read in place, 64 beside a copy of them."""
    if name not in kernels.usable():
        pytest.skip(f"{name} does not run here")
    monkeypatch.setattr(threads, "limit", 1)
    rng = np.random.default_rng(9)
    x = np.moveaxis(rng.integers(0, 256, (1, 28, 32, 256)).astype(np.uint8), -1, 1)
    packed = _kernels.pack_conv2d(rng.integers(-128, 128, (64, 256, 3, 3)).astype(np.int8))
    requant = finish(rng, MODES[3], 64, 9 * 256)
    with kernels.use(name):
        assert 1 << 20 > scratch_of(x, packed, requant) > 7 << 17
        assert 1 << 20 > scratch_of(np.ascontiguousarray(x), packed, requant) > 5 << 17
