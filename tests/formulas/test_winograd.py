"""Winograd's convolution: exact in integers, and in as few bits as kernels have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyqref.numerics.winograd import _INPUTS, _WEIGHTS, winograd_tile

INVERSE_OF_9 = 954_437_177
whole = st.integers(-(2**20), 2**20)


@given(arrays(np.int64, (6, 6), elements=whole), arrays(np.int64, (3, 3), elements=whole))
def test_eq_winograd__any_integers(x: np.ndarray, weight: np.ndarray) -> None:
    """36 products are the 16 sums of 9, without a remainder."""
    direct = [[np.sum(x[i : i + 3, j : j + 3] * weight) for j in range(4)] for i in range(4)]
    assert np.array_equal(winograd_tile(x, weight), direct)


@pytest.mark.parametrize(("matrix", "most"), [(_INPUTS, 12_800), (_WEIGHTS, 18_432)])
def test_eq_winograd__fits_16_bits(matrix: np.ndarray, most: int) -> None:
    """The largest of all transformed numbers of at most 128 in size, which are reached."""
    factors = np.einsum("ik,jl->ijkl", matrix, matrix)
    assert 128 * np.abs(factors).sum(axis=(2, 3)).max() == most < 2**15
    worst = np.unravel_index(np.argmax(np.abs(factors).sum(axis=(2, 3))), factors.shape[:2])
    reached = matrix @ (128 * np.sign(factors[worst])) @ matrix.T
    assert reached[worst] == most


@given(st.integers(-(2**25), 2**25 - 1))
def test_eq_winograd__comes_back_from_32_bits(total: int) -> None:
    """576 times a sum, modulo 2^32, times the inverse of 9, shifted by 6 bits."""
    assert 9 * 128 * 128 * 227 < 2**25 <= 9 * 128 * 128 * 228
    wrapped = (576 * total) % 2**32 * INVERSE_OF_9 % 2**32
    signed = wrapped - 2**32 if wrapped >= 2**31 else wrapped
    assert signed >> 6 == total


def test_eq_winograd__lowered_inputs() -> None:
    """Six equal inputs have one sum that is not zero: -6 times each, or 36 times in a square."""
    assert (_INPUTS.sum(axis=1) == [0, -6, 0, 0, 0, 0]).all()
