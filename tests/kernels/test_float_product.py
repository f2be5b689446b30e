"""Products of float32 matrices by every kernel against the equation in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import float_product as reference

RNG = np.random.default_rng(0)


def reals(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def check(a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> None:
    assert_same_bits(reference.float_product(a, b, start), _kernels.float_product(a, b, start))


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 7, 13, 129])
def test_around_the_tile(kernel: str, n_threads: int, rows: int) -> None:
    """eq-float-product, of columns around vectors and panels, from a bias or from nothing."""
    a = reals(rows, 9)
    for columns in (1, 3, 4, 15, 16, 17, 31, 33, 47, 63, 65, 127, 129, 133):
        check(a, reals(columns, 9).T, reals(columns))
        check(a, reals(9, columns))


@pytest.mark.parametrize(("rows", "depth"), [(2, 127), (2, 128), (7, 129), (1, 300), (257, 130)])
def test_around_a_block(kernel: str, n_threads: int, rows: int, depth: int) -> None:
    """eq-float-product, of depths around a block, for few rows and for many."""
    check(reals(rows, depth), reals(17, depth).T, reals(17))
    check(reals(depth, rows).T, reals(depth, 5))


def test_rows_that_are_far(kernel: str, n_threads: int) -> None:
    """eq-float-product, where a block meets many columns before the next, or spans end."""
    check(reals(66, 2000), reals(36, 2000).T, reals(36))
    check(reals(258, 2050), reals(2050, 3))


def test_any_layout(kernel: str, n_threads: int) -> None:
    """Stacks, axes that broadcast, rows that run backwards or lie apart, and no elements."""
    check(reals(2, 3, 5, 4), reals(2, 3, 7, 4).swapaxes(-1, -2))
    check(reals(5, 2, 3, 4).transpose(1, 2, 0, 3), reals(2, 3, 4, 7))
    check(reals(2, 1, 5, 4), reals(3, 4, 7))
    check(reals(2, 5, 4), reals(4, 7), reals(7))
    check(reals(2, 2, 1, 5, 4), reals(2, 1, 2, 4, 3))
    check(reals(10, 8)[::-2, ::2], reals(8, 12)[::-2, ::2])
    check(reals(10, 8)[::-2], reals(8, 12)[:, ::-1])
    check(np.broadcast_to(reals(4), (5, 4)), np.broadcast_to(reals(4, 1), (4, 3)))
    for rows, depth, columns in ((0, 3, 2), (3, 0, 2), (3, 2, 0)):
        check(reals(rows, depth), reals(depth, columns), reals(columns))


def test_special_numbers(kernel: str) -> None:
    """Infinities, nan and zeros with a sign, which what fills a vector does not touch."""
    a, b = reals(7, 6), reals(6, 5)
    a[0, 0], a[1, 1], b[2, 2], b[3, 1] = np.nan, np.inf, -np.inf, np.inf
    check(a, b)
    check(np.float32([[-0.0, 0.0]]), np.float32([[1.0], [1.0]]), np.float32([-0.0]))
