"""Convolutions whose windows tile registers read where they lie, line by line of the outputs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from kernels.conv_cases import Case, plane
from kernels.layers import MODES
from kernels.test_conv import check

#: Taps at one end or both, or all of them, that lie in the padding under every output.
IDLE_TAPS = [
    plane(2, 40, 5, 70, 3, padding=6, dilation=6),
    plane(1, 64, 6, 48, 3, padding=9, dilation=5),
    plane(1, 20, 1, 20, 3, padding=1, groups=20),
    plane(2, 32, 4, 32, 3, padding=4, dilation=4, groups=8),
    plane(1, 12, 3, 8, 3, padding=4, dilation=4, groups=2),
    Case(1, 9, (2, 7), 6, (2, 4), (1, 2), (5, 0), (4, 2)),
    Case(2, 5, (2,), 7, (2,), (8,), (3,), (6,)),
    Case(1, 6, (1, 3, 1), 6, (3, 3, 2), (1, 1, 1), (2, 1, 3), (2, 1, 3)),
]


def image(
    size: tuple[int, int],
    batch: int = 2,
    channels: int = 64,
    outputs: int = 24,
    kernel: tuple[int, int] = (3, 3),
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
) -> Case:
    return Case(batch, channels, size, outputs, kernel, stride, padding, dilation)


@pytest.mark.parametrize("width", [*range(3, 20), 31, 32, 33, 48, 49])
def test_widths(kernel: str, width: int) -> None:
    """Lines of less than a tile, of whole ones, and of some that overlap; 256 rows and more."""
    rng = np.random.default_rng(1)
    check(rng, image((259 // width, width)), channels_last=True)


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 1), (1, 2)])
@pytest.mark.parametrize("taps", [(1, 1), (3, 3), (2, 4), (1, 3)])
def test_every_edge(kernel: str, stride: tuple[int, int], taps: tuple[int, int]) -> None:
    """Windows that reach over some edges, over none, or lie in the padding; taps that are apart."""
    rng = np.random.default_rng(2)
    for padding, dilation in itertools.product([(0, 0), (1, 0), (0, 2), (3, 4)], [(1, 1), (2, 3)]):
        size = (9, 24)
        case = image(size, 3, kernel=taps, stride=stride, padding=padding, dilation=dilation)
        check(rng, case, channels_last=True)


@pytest.mark.parametrize("outputs", [1, 16, 33, 64, 65, 200])
@pytest.mark.parametrize("channels", [64, 128, 192])
def test_channels_and_panels(kernel: str, channels: int, outputs: int) -> None:
    check(
        np.random.default_rng(3),
        image((11, 28), 1, channels, outputs),
        channels_last=True,
    )


def test_threads_share_lines(kernel: str, n_threads: int) -> None:
    """Blocks that begin amid an image and end amid another, of all outputs or of some."""
    rng = np.random.default_rng(4)
    for case in (
        image((13, 26), 5),
        image((9, 14), 3, outputs=300),
        image((40, 60), 1, 128, 32, stride=(2, 2)),
        image((3, 300), 2, kernel=(3, 2), padding=(1, 0)),
    ):
        check(rng, case, channels_last=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("output", [np.uint8, np.int8])
def test_every_engine_and_type(kernel: str, mode: Any, output: Any) -> None:
    rng = np.random.default_rng(5)
    for stored, zero_points in itertools.product((np.uint8, np.int8), (0, 3)):
        check(
            rng,
            image((8, 30), outputs=40),
            mode=mode,
            stored=stored,
            output=output,
            weight_zero_points=zero_points,
            channels_last=True,
        )


@pytest.mark.parametrize("case", IDLE_TAPS)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_taps_that_meet_padding_only(kernel: str, case: Case, stored: Any) -> None:
    """They add nothing to eq-conv-accumulator, whether weights have zero points or not."""
    for zero_points in (0, -3):
        rng = np.random.default_rng(6)
        check(rng, case, stored=stored, weight_zero_points=zero_points, channels_last=True)


@pytest.mark.parametrize("stride", [(1, 1, 1), (2, 2, 2), (3, 1, 1)])
@pytest.mark.parametrize("taps", [(3, 3, 3), (2, 1, 3), (1, 3, 2)])
def test_planes(kernel: str, stride: tuple[int, ...], taps: tuple[int, ...]) -> None:
    """Windows over several planes, over edges in front of and behind all of them, and over none."""
    rng = np.random.default_rng(7)
    for padding, dilation in itertools.product(
        [(0, 0, 0), (1, 0, 0), (2, 1, 1)], [(1, 1, 1), (2, 1, 2)]
    ):
        case = Case(2, 64, (5, 7, 18), 20, taps, stride, padding, dilation)
        check(rng, case, channels_last=True)
