"""Quantized convolution by every kernel against the equations in NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.conv_cases import (
    DENSE,
    DEPTHWISE,
    EVERY,
    FAR_APART,
    GROUPED,
    IN_PLACE,
    OTHER_DIMENSIONS,
    Case,
    plane,
)
from kernels.layers import MODES, finish, integers

from pyqref import _kernels
from pyqref.numerics import convolution as reference
from pyqref.numerics.requantize import requantization, requantize

PACK = {1: _kernels.pack_conv1d, 2: _kernels.pack_conv2d, 3: _kernels.pack_conv3d}
RUN = {1: _kernels.conv1d, 2: _kernels.conv2d, 3: _kernels.conv3d}


def check(
    rng: np.random.Generator,
    case: Case,
    *,
    mode: tuple[str, bool, bool] = MODES[3],
    stored: Any = np.uint8,
    output: Any = np.uint8,
    relu: bool = False,
    weight_zero_points: Any = 0,
    channels_last: bool = False,
) -> None:
    x = integers(rng, (case.batch, case.channels, *case.size), stored)
    if channels_last:
        x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    shape = (case.outputs, case.channels // case.groups, *case.kernel)
    weight = integers(rng, shape, np.int8)
    requant = finish(rng, mode, case.outputs, weight[0].size, output, relu)
    x_zero_point = int(integers(rng, 3, stored)[1])
    steps = (case.stride, case.padding, case.dilation)
    arguments = (weight_zero_points, requant, *steps)
    expected = reference.quantized_conv(x, x_zero_point, weight, *arguments, case.groups)
    # Weights with zero points may have been packed for that, or not.
    for centred in {True, not np.any(weight_zero_points)}:
        packed = PACK[len(case.size)](weight, case.groups, centred=centred)
        actual = RUN[len(case.size)](x, x_zero_point, packed, *arguments)
        assert_same_bits(expected, actual)
        assert_same_bits(weight, packed.weight)


@pytest.mark.parametrize("case", EVERY + FAR_APART)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_shapes(kernel: str, case: Case, stored: Any) -> None:
    """eq-conv-accumulator, then eq-requantize, bit for bit."""
    for channels_last in (False, True):
        check(np.random.default_rng(1), case, stored=stored, channels_last=channels_last)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", [DENSE[3], GROUPED[1], DEPTHWISE[10], IN_PLACE[0]])
@pytest.mark.parametrize("relu", [False, True])
def test_every_engine_type_and_relu(kernel: str, mode: Any, case: Case, relu: bool) -> None:
    for output in (np.uint8, np.int8):
        check(np.random.default_rng(2), case, mode=mode, output=output, relu=relu)


@pytest.mark.parametrize(
    "case",
    [DENSE[0], DENSE[3], *GROUPED, DEPTHWISE[0], DEPTHWISE[10], OTHER_DIMENSIONS[1]],
)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_weights_with_zero_points(kernel: str, case: Case, stored: Any) -> None:
    rng = np.random.default_rng(3)
    for zero_points in (-3, rng.integers(-128, 128, case.outputs)):
        check(rng, case, stored=stored, weight_zero_points=zero_points)


@pytest.mark.parametrize("outputs", [8, 24, 40, 64, 80])
@pytest.mark.parametrize("kernel_size", [1, 3])
def test_blocks_tiles_and_edges(kernel: str, outputs: int, kernel_size: int) -> None:
    """More pixels than a block has, in tiles of every width; pieces of lines that need padding."""
    rng = np.random.default_rng(8)
    padding = kernel_size // 2
    for channels in (3, 4, 20):
        check(
            rng, plane(1, channels, 36, outputs, kernel_size, padding=padding), channels_last=True
        )
    check(
        rng,
        plane(2, 16, 9, outputs, kernel_size, padding=2, stride=2, dilation=2),
        channels_last=True,
    )


@pytest.mark.parametrize("channels", range(1, 10))
def test_few_channels_under_every_small_window(kernel: str, channels: int) -> None:
    """Lines of a window that end within a quad of four bytes, one line or several."""
    rng = np.random.default_rng(channels)
    for height, width in itertools.product((1, 2, 3, 5), repeat=2):
        for padding in (0, 1):
            pair = (padding, padding)
            case = Case(
                2, channels, (9, 11), 7, (height, width), (1, 1 + padding), pair, (1, 1 + padding)
            )
            check(rng, case, channels_last=True)


@pytest.mark.parametrize("channels", [1, 3, 4, 20])
@pytest.mark.parametrize("width", range(1, 10))
def test_windows_over_one_edge_or_both(kernel: str, channels: int, width: int) -> None:
    """Lines of which the first pixels, the last ones, both or all lie in the padding."""
    rng = np.random.default_rng(width)
    for taps, padding, dilation in ((2, 1, 1), (3, 3, 1), (5, 2, 1), (7, 6, 1), (3, 4, 3)):
        steps = ((1, 1 + taps % 2), (1, padding), (1, dilation))
        case = Case(2, channels, (4, width), 17, (3, taps), *steps)
        check(rng, case, channels_last=True)


@pytest.mark.parametrize("outputs", [8, 16, 32, 48, 64])
@pytest.mark.parametrize("channels", [1, 3])
def test_few_channels_and_many_pixels(
    kernel: str, outputs: int, channels: int, n_threads: int
) -> None:
    """First layers: many tiles of few products, whose rows lie apart and whose results do not."""
    rng = np.random.default_rng(outputs)
    for taps in (3, 7):
        case = plane(2, channels, 45, outputs, taps, stride=2, padding=taps // 2)
        check(rng, case, channels_last=True, relu=taps == 3)


@pytest.mark.parametrize("seed", range(40))
def test_random_layers(kernel: str, seed: int) -> None:
    """Whatever a layer may be, dense, grouped or depthwise."""
    rng = np.random.default_rng((11, seed))
    for _ in range(3):
        groups = int(rng.choice([1, 1, 1, 2, 3, 8]))
        inputs, outputs = rng.integers(1, 20, 2) * groups
        window, dilation = rng.integers(1, 5, 2), rng.integers(1, 3, 2)
        size = (window - 1) * dilation + rng.integers(1, 14, 2)
        case = Case(
            *(int(rng.integers(1, 4)), int(inputs), tuple(size.tolist()), int(outputs)),
            tuple(window.tolist()),
            tuple(rng.integers(1, 4, 2).tolist()),
            tuple(rng.integers(0, 3, 2).tolist()),
            tuple(dilation.tolist()),
            groups,
        )
        zero_points = int(rng.integers(-3, 4)) if rng.random() < 0.25 else 0
        check(
            rng,
            case,
            stored=(np.uint8, np.int8)[rng.integers(2)],
            mode=MODES[rng.integers(len(MODES))],
            weight_zero_points=zero_points,
            channels_last=bool(rng.integers(2)),
        )


def test_multipliers_too_large_for_the_tile(kernel: str) -> None:
    """Real results of 2^31 and more saturate; tiles leave them to the general way."""
    rng = np.random.default_rng(9)
    x, weight = integers(rng, (1, 8, 4, 4), np.uint8), integers(rng, (70, 8, 1, 1), np.int8)
    for scale in (1e-3, 0.6, 1e6):
        bias = rng.standard_normal(70).astype(np.float32)
        requant = requantization("fbgemm", 0.5, scale, 0.5, 7, bias)
        steps = ((1, 1), (0, 0), (1, 1))
        expected = reference.quantized_conv(x, 3, weight, 0, requant, *steps, 1)
        packed = _kernels.pack_conv2d(weight)
        assert_same_bits(expected, _kernels.conv2d(x, 3, packed, 0, requant, *steps))


def test_enough_work_for_every_thread(kernel: str, n_threads: int) -> None:
    rng = np.random.default_rng(4)
    check(rng, plane(2, 20, 30, 70, 3, padding=1))
    check(rng, plane(1, 40, 6, 600, 3, padding=1))
    check(rng, plane(2, 96, 40, 96, 3, padding=1, groups=96))


def test_depthwise_at_full_range_is_exact(kernel: str) -> None:
    """9 * 255 * -128 does not fit 16 bits."""
    rng = np.random.default_rng(5)
    x, weight = np.full((1, 16, 5, 5), 255, np.uint8), np.full((16, 1, 3, 3), -128, np.int8)
    requant = finish(rng, MODES[0], 16, 9 * 400)
    steps = ((1, 1), (1, 1), (1, 1))
    expected = reference.quantized_conv(x, 0, weight, 0, requant, *steps, 16)
    packed = _kernels.pack_conv2d(weight, 16)
    assert_same_bits(expected, _kernels.conv2d(x, 0, packed, 0, requant, *steps))


@pytest.mark.parametrize("groups", [1, 2])
def test_one_weight_for_all_arguments(kernel: str, groups: int) -> None:
    """A call uses prepared values again if its arguments suit them, and otherwise not."""
    rng = np.random.default_rng(9)
    weight = integers(rng, (6, 4 // groups, 3, 3), np.int8)
    packed = _kernels.pack_conv2d(weight, groups)
    outputs = [finish(rng, mode, 6, weight[0].size) for mode in (MODES[0], MODES[3])]
    offsets = [np.zeros(1, np.int64), rng.integers(-9, 9, 6)]
    steps = [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((1, 1), (0, 2))]
    for _ in range(2):
        for size, zero_points, requant, (stride, padding) in itertools.product(
            (5, 6), offsets, outputs, steps
        ):
            x = integers(rng, (rng.integers(1, 3), 4, size, 7), np.uint8)
            given = (zero_points, requant, stride, padding, (1, 1))
            expected = reference.quantized_conv(x, 100, weight, *given, groups)
            assert_same_bits(expected, _kernels.conv2d(x, 100, packed, *given))


@pytest.mark.parametrize("groups", [1, 2])
def test_zero_points_that_are_written_to_between_calls(kernel: str, groups: int) -> None:
    rng = np.random.default_rng(10)
    weight, x = (
        integers(rng, (6, 4 // groups, 3, 3), np.int8),
        integers(rng, (1, 4, 5, 5), np.uint8),
    )
    packed, zero_points = _kernels.pack_conv2d(weight, groups), np.zeros(6, np.int64)
    given = (zero_points, finish(rng, MODES[3], 6, weight[0].size), (1, 1), (1, 1), (1, 1))
    for value in (0, 5, 0, -3):
        zero_points[...] = value
        expected = reference.quantized_conv(x, 100, weight, *given, groups)
        assert_same_bits(expected, _kernels.conv2d(x, 100, packed, *given))


def test_result_has_its_channels_last_in_memory(compiled_kernel: str) -> None:
    """The result has its channels last, so that the next convolution copies nothing."""
    rng = np.random.default_rng(6)
    packed = _kernels.pack_conv2d(integers(rng, (5, 3, 3, 3), np.int8))
    requant = finish(rng, MODES[0], 5, 27)
    steps = ((1, 1), (1, 1), (1, 1))
    y = _kernels.conv2d(integers(rng, (2, 3, 4, 4), np.uint8), 3, packed, 0, requant, *steps)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous


@pytest.mark.parametrize("case", EVERY)
def test_packed_weights_unpack_to_themselves(case: Case) -> None:
    shape = (case.outputs, case.channels // case.groups, *case.kernel)
    weight = integers(np.random.default_rng(7), shape, np.int8)
    assert_same_bits(weight, PACK[len(case.size)](weight, case.groups).weight)


@pytest.mark.parametrize(
    ("shape", "groups"),
    [
        ((64, 64, 3, 3), 1),
        ((256, 64, 1, 1), 1),
        ((128, 4, 3, 3), 32),
        ((1024, 32, 3, 3), 32),
        ((48, 8, 3, 3), 6),
        ((96, 3, 3, 3), 32),
        ((96, 1, 3, 3), 96),
    ],
)
def test_packed_weights_take_little_more_than_their_bytes(
    shape: tuple[int, ...], groups: int
) -> None:
    """Joined groups are kept without the zeros between them."""
    weight = np.ones(shape, np.int8)
    packed = _kernels.pack_conv2d(weight, groups)
    assert packed.panels.nbytes <= 1.1 * weight.nbytes


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("outputs", "inputs"), [(4, 0), (0, 2)])
def test_weights_without_inputs_or_outputs(
    kernel: str, outputs: int, inputs: int, groups: int, n_threads: int
) -> None:
    """A sum of no products is 0: what comes out is the bias alone."""
    weight = np.zeros((outputs, inputs, 3, 3), np.int8)
    requant = requantization("fbgemm", 0.5, 0.5, 0.25, 7, np.arange(outputs, dtype=np.float32))
    x, steps = np.zeros((2, groups * inputs, 4, 5), np.uint8), ((1, 1), (1, 1), (1, 1))
    expected = np.empty((2, outputs, 4, 5), np.uint8)
    expected[...] = requantize(np.zeros(outputs, np.int64), requant).reshape(1, -1, 1, 1)
    packed = _kernels.pack_conv2d(weight, groups)
    assert_same_bits(weight, packed.weight)
    assert_same_bits(expected, _kernels.conv2d(x, 3, packed, 0, requant, *steps))
