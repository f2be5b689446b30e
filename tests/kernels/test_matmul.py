"""Products of two activations by every kernel against the equation in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref.numerics import matmul as reference
from pyqref.numerics.elementwise import Grid


def check(
    shape: tuple[int, ...],
    depth: int,
    columns: int,
    *,
    stored: Any = np.uint8,
    zero_points: tuple[int, int] = (3, 100),
    turned: bool = False,
) -> None:
    rng = np.random.default_rng(depth)
    a = integers(rng, (*shape, depth), stored)
    b = integers(rng, (*shape[:-1], depth, columns), stored)
    if turned:
        a, b = (np.ascontiguousarray(each.swapaxes(-1, -2)).swapaxes(-1, -2) for each in (a, b))
    limits = np.iinfo(stored)
    grids = [Grid(0.1, each, limits.min, limits.max, stored) for each in zero_points]
    out = Grid(0.3 * depth**0.5, 7, limits.min, limits.max, stored)
    expected = reference.quantized_matmul(a, grids[0], b, grids[1], out)
    assert_same_bits(expected, _kernels.quantized_matmul(a, grids[0], b, grids[1], out))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 255])
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_depths(kernel: str, depth: int, stored: Any, n_threads: int) -> None:
    """eq-quantized-matmul, bit for bit."""
    for rows, columns in ((1, 1), (7, 17), (49, 64), (65, 130)):
        check((rows,), depth, columns, stored=stored)


@pytest.mark.parametrize("turned", [False, True])
def test_pairs_in_any_order(kernel: str, turned: bool, n_threads: int) -> None:
    check((2, 3, 9), 10, 11, turned=turned)


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3, 9), ()), ((9,), (2, 3)), ((2, 1, 9), (4,)), ((4, 9), (2, 1)), ((0, 9), ())],
)
def test_leading_axes_broadcast(
    kernel: str, left: tuple[int, ...], right: tuple[int, ...], n_threads: int
) -> None:
    rng = np.random.default_rng(0)
    a, b = integers(rng, (*left, 10), np.uint8), integers(rng, (*right, 10, 11), np.uint8)
    operands = (a, Grid(0.1, 3), b, Grid(0.2, 100), Grid(1.0, 7))
    assert_same_bits(reference.quantized_matmul(*operands), _kernels.quantized_matmul(*operands))


@pytest.mark.parametrize("zero_points", [(0, 128), (255, 0), (0, 255), (128, 127)])
def test_zero_points(kernel: str, zero_points: tuple[int, int]) -> None:
    check((5,), 70, 66, zero_points=zero_points)


@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [(70, 520, 515), (300, 130, 600), (65, 2047, 65), (65, 2048, 65), (66, 2049, 65), (3, 5000, 3)],
)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_around_blocks(kernel: str, rows: int, depth: int, columns: int, stored: Any) -> None:
    check((rows,), depth, columns, stored=stored, zero_points=(5, -3 if stored is np.int8 else 9))


def test_sums_beyond_32_bits(kernel: str) -> None:
    """Depths of which 32 bits do not hold all sums."""
    a, grid = np.full((2, 40000), 255, np.uint8), Grid(1.0, 0)
    out = Grid(1e8, 3)
    expected = reference.quantized_matmul(a, grid, a.T, grid, out)
    assert_same_bits(expected, _kernels.quantized_matmul(a, grid, a.T, grid, out))


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_empty(kernel: str, shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    check((rows,), depth, columns)
    check((0, rows), depth, columns)
