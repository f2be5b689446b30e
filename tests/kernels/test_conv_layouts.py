"""Images that lie in any order, whose channels the kernels of a convolution put last, in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.conv_cases import Case, plane
from kernels.layers import MODES, finish, integers
from kernels.test_conv import PACK, RUN

from pyqref import _kernels
from pyqref.numerics import convolution as reference


def check(rng: np.random.Generator, x: np.ndarray, case: Case) -> None:
    """One convolution of an image as it lies."""
    assert x.shape == (case.batch, case.channels, *case.size)
    shape = (case.outputs, case.channels // case.groups, *case.kernel)
    weight = integers(rng, shape, np.int8)
    steps = (case.stride, case.padding, case.dilation)
    requant = finish(rng, MODES[3], case.outputs, weight[0].size)
    expected = reference.quantized_conv(x, 3, weight, 0, requant, *steps, case.groups)
    packed = PACK[len(case.size)](weight, case.groups)
    assert_same_bits(expected, RUN[len(case.size)](x, 3, packed, 0, requant, *steps))


@pytest.mark.parametrize("channels", [1, 3, 15, 16, 17, 40])
@pytest.mark.parametrize("pixels", [1, 15, 16, 17, 1030])
def test_channels_are_put_last(
    compiled_kernel: str, channels: int, pixels: int, n_threads: int
) -> None:
    """Channels move in blocks of 16 pixels and 16 channels; the last may overlap or be narrow."""
    rng = np.random.default_rng(1)
    x = integers(rng, (2, channels, pixels), np.uint8)
    check(rng, x, Case(2, channels, (pixels,), 3, (1,), (1,), (0,), (1,)))


def every_order(rng: np.random.Generator, case: Case, stored: Any) -> list[np.ndarray]:
    """Images in other orders than a convolution wants, with gaps, backwards, one value for all."""
    batch, channels, height, width = case.batch, case.channels, *case.size
    first = integers(rng, (2 * batch, channels + 2, height + 1, width + 2), stored)
    last = integers(rng, (batch, height + 1, width + 1, channels + 1), stored)
    return [
        first[::2, 1:-1, 1:, 2:],
        first[batch:, 2:, :-1, :width][:, :, ::-1, ::-1],
        last[:, 1:, :-1, 1:].transpose(0, 3, 1, 2),
        last[:, :-1, 1:, ::-1][..., :channels].transpose(0, 3, 1, 2),
        integers(rng, (width, batch, channels, height), stored).transpose(1, 2, 3, 0),
        np.broadcast_to(integers(rng, (channels, 1, 1), stored), (batch, channels, height, width)),
    ]


@pytest.mark.parametrize(
    "case",
    [
        plane(2, 1, 9, 3, 3, padding=1),
        plane(2, 3, 20, 5, 3, padding=1, stride=2),
        plane(1, 20, 18, 4, 1),
        plane(2, 12, 7, 12, 3, padding=1, groups=12),
        plane(1, 32, 6, 32, 3, padding=1, groups=4),
    ],
)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_whatever_the_order(kernel: str, case: Case, stored: Any) -> None:
    rng = np.random.default_rng(2)
    for x in every_order(rng, case, stored):
        check(rng, x, case)


LARGE = [
    # Lines after lines; lines that are cut; planes; dilated taps alone; few outputs far apart.
    plane(1, 40, 110, 3, 3, padding=1),
    plane(2, 24, 130, 2, 5, padding=2, stride=3),
    Case(1, 60, (3, 8000), 2, (2, 3), (1, 2), (1, 1), (1, 1)),
    Case(1, 8, (70000,), 3, (3,), (2,), (1,), (1,)),
    Case(1, 16, (5, 70, 80), 2, (2, 3, 1), (1, 1, 1), (1, 1, 0), (1, 1, 1)),
    Case(1, 150, (60, 61), 2, (2, 2), (1, 1), (0, 0), (59, 60)),
    Case(1, 150, (60, 61), 2, (3, 2), (50, 60), (40, 0), (29, 40)),
    plane(1, 48, 100, 48, 3, padding=1, groups=48),
    plane(1, 48, 100, 48, 3, padding=1, stride=2, groups=6),
    plane(1, 40, 110, 20, 3, padding=1, stride=4, groups=5),
]


@pytest.mark.parametrize("case", LARGE)
def test_part_by_part(compiled_kernel: str, case: Case) -> None:
    """More than 384 KiB: some outputs at a time, and no more of the image than they see."""
    rng = np.random.default_rng(3)
    check(rng, integers(rng, (case.batch, case.channels, *case.size), np.uint8), case)


def test_parts_that_threads_share(compiled_kernel: str, n_threads: int) -> None:
    rng = np.random.default_rng(4)
    case = plane(1, 90, 120, 2, 1, stride=3)
    check(rng, integers(rng, (1, 90, 120, 121), np.uint8), case)


@pytest.mark.parametrize("size", [(6, 7), (90, 100)])
def test_transposed(compiled_kernel: str, size: tuple[int, int]) -> None:
    """All phases of a small image, or part by part each phase of a large one."""
    rng = np.random.default_rng(5)
    x, weight = integers(rng, (2, 48, *size), np.uint8), integers(rng, (48, 2, 3, 3), np.int8)
    requant = finish(rng, MODES[3], 2, 48 * 4)
    steps = ((2, 2), (1, 1), (1, 0), (1, 1))
    expected = reference.quantized_conv_transpose(x, 3, weight, 0, requant, *steps, 1)
    packed = _kernels.pack_conv_transpose(weight, (2, 2), (1, 1))
    actual = _kernels.conv_transpose(x, 3, packed, 0, requant, (1, 1), (1, 0))
    assert_same_bits(expected, actual)


@pytest.mark.parametrize("along", [0, 1])
def test_transposed_to_less_than_a_stride(compiled_kernel: str, along: int) -> None:
    """Two outputs where the stride is 4: of a large image, too, phases without outputs are none."""
    rng = np.random.default_rng(6)
    size, window, padding = (
        tuple(each[:: 1 - 2 * along]) for each in ([1, 13_000], [4, 1], [1, 0])
    )
    x, weight = integers(rng, (1, 64, *size), np.uint8), integers(rng, (64, 3, *window), np.int8)
    requant = finish(rng, MODES[3], 3, 64)
    expected = reference.quantized_conv_transpose(
        x, 3, weight, 0, requant, window, padding, (0, 0), (1, 1), 1
    )
    packed = _kernels.pack_conv_transpose(weight, window, (1, 1))
    actual = _kernels.conv_transpose(x, 3, packed, 0, requant, padding, (0, 0))
    assert_same_bits(expected, actual)


@pytest.mark.parametrize("channels", [130, 160, 192, 250])
def test_pixels_of_many_channels(kernel: str, channels: int) -> None:
    """Pixels that are not neighbours are copied by pieces of a constant size."""
    rng = np.random.default_rng(channels)
    case = plane(1, channels, 11, channels, 3, stride=2, padding=1, groups=channels)
    check(rng, np.moveaxis(integers(rng, (1, *case.size, channels), np.uint8), -1, 1), case)
