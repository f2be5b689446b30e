"""Winograd's convolution: its equation and its bounds, and the bits of the kernel."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from kernels.test_conv import MODES, check, plane

#: What inputs, weights and products are multiplied by along each axis (eq-winograd).
INPUTS = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
WEIGHTS = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 12]])
OUTPUTS = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 2]])


def test_equation() -> None:
    """eq-winograd: 36 products are 576 times the 16 sums of 9, for any integers."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, w = rng.integers(0, 256, (6, 6)), rng.integers(-128, 128, (3, 3))
        products = (INPUTS @ x @ INPUTS.T) * (WEIGHTS @ w @ WEIGHTS.T)
        direct = [[np.sum(x[i : i + 3, j : j + 3] * w) for j in range(4)] for i in range(4)]
        assert np.array_equal(OUTPUTS @ products @ OUTPUTS.T, 576 * np.array(direct))


def test_sixteen_bits_hold_what_is_multiplied() -> None:
    """Each number is a sum of bytes whose factors have a largest sum, for either sign."""
    for matrix, low, high in ((INPUTS, 0, 255), (WEIGHTS, -128, 127)):
        factors = np.einsum("ik,jl->ijkl", matrix, matrix).reshape(-1, matrix.shape[1] ** 2)
        up, down = np.maximum(factors, 0).sum(axis=1), np.minimum(factors, 0).sum(axis=1)
        assert np.max(up * high + down * low) < 2**15
        assert np.min(up * low + down * high) >= -(2**15)


def test_sums_come_back_from_32_bits() -> None:
    """Of 576 times a sum modulo 2^32, times the inverse of 9: 64 times the sum."""
    most = 255 * 128 * 9 * 64
    sums = np.array([0, 1, -1, most, -most, most - 1, 2**25 - 1, -(2**25)], np.int64)
    assert most < 2**25
    wrapped = (576 * sums % 2**32 * 0x38E38E39 % 2**32).astype(np.uint32).view(np.int32)
    assert np.array_equal(wrapped >> 6, sums)


SIZES = [(1, 3, 3), (1, 8, 8), (2, 9, 14), (3, 13, 7)]
"""Images: how many, height, width."""


@pytest.mark.parametrize("channels", [32, 64, 96, 160])
@pytest.mark.parametrize("outputs", [16, 40, 64, 136])
def test_channels_and_tiles(kernel: str, channels: int, outputs: int) -> None:
    """Whole groups of channels and a rest; panels of every width; tiles cut off by the edges."""
    rng = np.random.default_rng(2)
    for (batch, height, width), padding in itertools.product([(3, 13, 14)], (0, 1, 2)):
        case = plane(batch, channels, height, outputs, 3, padding=padding)
        check(rng, case._replace(size=(height, width)), channels_last=True)
