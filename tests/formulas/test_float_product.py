"""Products of float matrices and attention against exact sums, within their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.attention import attention
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


def test_eq_attention__within_its_bound() -> None:
    """eq-attention: an error d of the scores changes a weight by the factor e^(2 d).

    The scores have the error of their product, of the scaled query and of the largest one
    subtracted; a power 2 u (eq-exp-below); the sums of 40 terms, the reciprocal and the product
    with it one rounding each.
    """
    rng = np.random.default_rng(0)
    wide = [rng.standard_normal(shape) for shape in ((6, 8), (40, 8), (40, 3))]
    given = [each.astype(np.float32) for each in wide]
    q, k, v = (each.astype(np.float64) for each in given)
    scores = q @ k.T * 0.25
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    distance = gamma(9) * (np.abs(q) @ np.abs(k).T * 0.25).max() + 2 * U * np.abs(scores).max()
    most = np.expm1(2 * distance) + gamma(40) * 2 + gamma(2 * 2 + 2)
    found = attention(*given, None, False, 0.25)
    assert (np.abs(found - weights @ v) <= most * (weights @ np.abs(v))).all()
