"""Products of float matrices against exact sums, within their bound."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.float_product import BLOCK, float_product

U = 2.0**-24


def gamma(roundings: int) -> float:
    return roundings * U / (1 - roundings * U)


@pytest.mark.parametrize("depth", [0, 1, 255, 256, 257, 600])
def test_eq_float_product__within_its_bound(depth: int) -> None:
    """eq-float-product: a rounding for each term of a block, and one for each block.

    float64 holds products of two float32 exactly, and their sums well enough.
    """
    rng = np.random.default_rng(depth)
    a, b = rng.standard_normal((3, depth)), rng.standard_normal((depth, 5))
    start = rng.standard_normal(5)
    a, b, start = (each.astype(np.float32).astype(np.float64) for each in (a, b, start))
    most = gamma(min(depth, BLOCK) + -(-depth // BLOCK))
    for first in (None, start):
        begin = np.zeros(5) if first is None else first
        given = None if first is None else np.float32(first)
        found = float_product(np.float32(a), np.float32(b), given)
        size = np.abs(a) @ np.abs(b) + np.abs(begin)
        assert (np.abs(found - (a @ b + begin)) <= most * size).all()


def test_eq_float_product__nothing_to_add() -> None:
    """Products of depth 0 are zeros, or the start, of every pair of matrices."""
    a, b = np.zeros((2, 1, 4, 0), np.float32), np.zeros((3, 0, 5), np.float32)
    assert np.array_equal(np.zeros((2, 3, 4, 5)), float_product(a, b))
    start = np.arange(5, dtype=np.float32)
    assert np.array_equal(np.broadcast_to(start, (2, 3, 4, 5)), float_product(a, b, start))
