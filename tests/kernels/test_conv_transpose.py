"""Transposed quantized convolution by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import MODES, finish, integers

from pyqref import _kernels
from pyqref.numerics import convolution as reference


class Case(NamedTuple):
    """A transposed convolution in any number of dimensions."""

    batch: int
    channels: int
    size: tuple[int, ...]
    outputs: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...] = (0, 0)
    output_padding: tuple[int, ...] = (0, 0)
    dilation: tuple[int, ...] = (1, 1)
    groups: int = 1


CASES = [
    Case(1, 10, (1, 1), 70, (4, 4), (1, 1)),
    Case(2, 40, (4, 5), 66, (4, 4), (2, 2), (1, 1)),
    Case(1, 24, (9, 7), 16, (2, 2), (2, 2)),
    Case(2, 16, (7, 9), 3, (3, 3), (2, 2), (1, 1), (1, 1)),
    Case(1, 5, (4, 3), 7, (2, 3), (4, 3), (0, 1), (3, 1)),
    Case(1, 6, (5, 5), 4, (3, 3), (2, 3), (5, 0), (1, 2), (2, 3)),
    # Margins that are cut off: windows begin behind the first pixel and end before the last.
    Case(1, 6, (9, 8), 5, (2, 2), (1, 1), (3, 4)),
    Case(0, 3, (2, 2), 4, (2, 2), (2, 2)),
    # More results than a block has, of many outputs.
    Case(1, 4, (30, 41), 130, (3, 3), (2, 2)),
    Case(2, 8, (130,), 20, (16,), (8,), (4,), (0,), (1,)),
    Case(1, 3, (3, 2, 4), 5, (3, 2, 4), (2, 1, 3), (1, 0, 2), (1, 0, 0), (1, 2, 1)),
    # Groups: joined, depthwise, in strips; long lines, and many channels.
    Case(2, 12, (5, 6), 18, (3, 3), (2, 2), (1, 1), groups=3),
    Case(1, 130, (4, 4), 130, (4, 4), (2, 2), (1, 1), groups=2),
    Case(1, 21, (6, 5), 21, (4, 4), (2, 2), (1, 1), groups=21),
    Case(2, 72, (5, 9), 72, (3, 5), (1, 2), (1, 2), (0, 1), groups=72),
    Case(1, 64, (6, 5), 64, (4, 4), (2, 2), (1, 1), groups=64),
    Case(2, 128, (4, 7), 128, (3, 5), (1, 2), (1, 1), groups=128),
    Case(1, 1, (3, 70), 1, (3, 3), (2, 3), groups=1),
    Case(1, 700, (3, 4), 700, (3, 3), (2, 2), groups=700),
    Case(1, 40, (3, 700), 40, (3, 3), (1, 2), (1, 1), groups=40),
    Case(1, 48, (5, 6), 48, (3, 3), (2, 2), (1, 1), groups=6),
    Case(1, 144, (4, 5), 144, (3, 2), (1, 3), (1, 0), groups=9),
    Case(1, 16, (3, 900), 16, (2, 4), (2, 2), (0, 1), groups=4),
    # Taps that are far apart.
    Case(1, 40, (3, 50), 40, (2, 3), (1, 2), dilation=(1, 95), groups=40),
    Case(1, 32, (3, 50), 32, (2, 3), (2, 1), dilation=(1, 90), groups=4),
]


def check(
    rng: np.random.Generator,
    case: Case,
    *,
    mode: tuple[str, bool, bool] = MODES[3],
    stored: Any = np.uint8,
    output: Any = np.uint8,
    weight_zero_points: Any = 0,
    channels_last: bool = True,
) -> None:
    x = integers(rng, (case.batch, case.channels, *case.size), stored)
    if channels_last:
        x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    shape = (case.channels, case.outputs // case.groups, *case.kernel)
    weight = integers(rng, shape, np.int8)
    requant = finish(rng, mode, case.outputs, max(weight[:, 0].size // case.groups, 1), output)
    x_zero_point = int(integers(rng, 3, stored)[1])
    rest = (case.stride, case.padding, case.output_padding, case.dilation, case.groups)
    expected = reference.quantized_conv_transpose(
        x, x_zero_point, weight, weight_zero_points, requant, *rest
    )
    packed = _kernels.pack_conv_transpose(weight, case.stride, case.dilation, case.groups)
    actual = _kernels.conv_transpose(
        x, x_zero_point, packed, weight_zero_points, requant, case.padding, case.output_padding
    )
    assert_same_bits(expected, actual)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_shapes(kernel: str, case: Case, stored: Any, n_threads: int) -> None:
    """eq-conv-transpose-accumulator, then eq-requantize, bit for bit."""
    for channels_last in (False, True):
        check(np.random.default_rng(1), case, stored=stored, channels_last=channels_last)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", [CASES[1], CASES[11], CASES[13], CASES[17]])
def test_every_engine_and_type(kernel: str, mode: Any, case: Case) -> None:
    for output in (np.uint8, np.int8):
        check(np.random.default_rng(2), case, mode=mode, output=output)


@pytest.mark.parametrize("case", CASES)
def test_weights_with_zero_points(kernel: str, case: Case) -> None:
    """Gaps between the inputs stand for 0.0, whatever the zero point of the weight is."""
    rng = np.random.default_rng(3)
    check(rng, case, weight_zero_points=-3)
    check(rng, case, weight_zero_points=rng.integers(-128, 128, case.outputs))


@pytest.mark.parametrize("seed", range(60))
def test_random_layers(kernel: str, seed: int) -> None:
    """Whatever a layer may be: phases with many taps, one, or none; outputs far from any input."""
    rng = np.random.default_rng((12, seed))
    n = 1 + seed % 3
    groups = int(rng.choice([1, 1, 2, 3, 8]))
    inputs, outputs = rng.integers(1, 12, 2) * groups
    if rng.random() < 0.25:
        inputs = outputs = groups = int(rng.integers(1, 40))
    stride, dilation = rng.integers(1, 5, n), rng.integers(1, 4, n)
    window, size = rng.integers(1, 6 - n // 2, n), rng.integers(1, 12 - 3 * n, n)
    extra = rng.integers(0, np.maximum(stride, dilation))
    most = ((size - 1) * stride + dilation * (window - 1) + extra) // 2
    padding = np.minimum(rng.integers(0, 6, n), most)
    steps = [tuple(each.tolist()) for each in (window, stride, padding, extra, dilation)]
    case = Case(
        *(int(rng.integers(1, 3)), int(inputs), tuple(size.tolist()), int(outputs)),
        *steps,
        groups,
    )
    check(
        rng,
        case,
        stored=(np.uint8, np.int8)[rng.integers(2)],
        mode=MODES[rng.integers(len(MODES))],
        weight_zero_points=int(rng.integers(-3, 4)) if rng.random() < 0.25 else 0,
        channels_last=bool(rng.integers(2)),
    )


@pytest.mark.parametrize("case", CASES)
def test_packed_weights_unpack_to_themselves(case: Case) -> None:
    shape = (case.channels, case.outputs // case.groups, *case.kernel)
    weight = integers(np.random.default_rng(7), shape, np.int8)
    packed = _kernels.pack_conv_transpose(weight, case.stride, case.dilation, case.groups)
    assert_same_bits(weight, packed.weight)


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("channels", "outputs", "groups"), [(64, 32, 1), (48, 48, 48), (32, 64, 8)]
)
def test_phases_share_the_weights_out(
    stride: int, channels: int, outputs: int, groups: int
) -> None:
    """Together they take the memory of the weights: each tap belongs to one of them."""
    weight = np.ones((channels, outputs // groups, 4, 5), np.int8)
    packed = _kernels.pack_conv_transpose(weight, (stride, stride), (1, 2), groups)
    assert weight.nbytes <= sum(each.panels.nbytes for _, each in packed.phases)
    assert 1.1 * weight.nbytes >= sum(each.panels.nbytes for _, each in packed.phases)


def test_result_has_its_channels_last_in_memory(compiled_kernel: str) -> None:
    """The result has its channels last, so that the next convolution copies nothing."""
    rng = np.random.default_rng(6)
    packed = _kernels.pack_conv_transpose(integers(rng, (3, 5, 3, 3), np.int8), (2, 2), (1, 1))
    x = integers(rng, (2, 3, 4, 4), np.uint8)
    y = _kernels.conv_transpose(x, 3, packed, 0, finish(rng, MODES[0], 5, 27), (1, 1), (0, 0))
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
