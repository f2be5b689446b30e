"""Resizing of floats: sums along axes, on integers, which float32 holds exactly."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.float_resize import gather, resample

X = np.random.default_rng(0).integers(-9, 10, (3, 4, 5))
INDICES = np.array([[0, 2, 1], [1, 1, 0]])
WEIGHTS = np.array([[1.0, -2.0, 4.0], [8.0, 0.5, 3.0]])


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_gather__sums_of_taps(axis: int) -> None:
    """Element i is the sum over t of ``x[indices[i, t]] * weights[i, t]`` along the axis."""
    lines = np.moveaxis(X, axis, 0)
    expected = np.einsum("it,it...->i...", WEIGHTS, lines[INDICES])
    found = gather(X.astype(np.float32), axis, INDICES, WEIGHTS.astype(np.float32))
    assert np.float32 == found.dtype
    assert np.array_equal(np.moveaxis(expected, 0, axis), found)
    one = gather(X.astype(np.float32), axis, INDICES[:, :1], None)
    assert np.array_equal(np.take(X, [0, 1], axis), one)


def test_gather__each_operation_rounded() -> None:
    """Products and sums are rounded one by one: 1 + 2**-24 is 1, three times."""
    x = np.float32([1, 2.0**-24, 2.0**-24])
    found = gather(x, -1, np.array([[0, 1, 2]]), np.ones((1, 3), np.float32))
    assert [1.0] == found.tolist()


def test_resample__axes_in_their_order() -> None:
    """Taps stand for the last axes, the first one first: 2 + 2**24 + 1 depends on the order."""
    both = np.array([[0, 1]]), np.ones((1, 2), np.float32)
    x = np.float32([[[2.0**24, 1], [0, 1]]])  # columns: 2**24, 2; rows: 2**24 + 1, which is 2**24
    assert [[[2.0**24 + 2]]] == resample(x, [both, both]).tolist()
    rows = resample(X.astype(np.float32), [(np.array([[3], [0]]), None), (INDICES[:, 1:2], None)])
    assert np.array_equal(X[:, [3, 0]][:, :, [2, 1]], rows)
