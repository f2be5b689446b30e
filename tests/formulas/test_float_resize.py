"""Resizing of floats: sums along axes, on integers, which float32 holds exactly."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.float_resize import adjoint, gather, resample

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


def test_eq_resize_gradient__transposed() -> None:
    """Each tap takes its share back: taps side by side, twice in one place, at -1 and nowhere."""
    indices = np.array([[0, 2, 1], [4, 4, -1], [1, -1, -1], [0, 0, 2]])
    weights = np.float32([[1, -2, 4], [8, 0.5, 0], [3, 0, 0], [7, -5, 2]])
    matrix = np.zeros((4, 5))
    np.add.at(matrix, (np.arange(4)[:, np.newaxis], indices), weights * (indices >= 0))
    grad = np.random.default_rng(1).integers(-9, 10, (2, 4)).astype(np.float32)
    back = adjoint((indices, weights), 5, np.dtype(np.float32))
    assert np.array_equal(grad @ matrix, gather(grad, -1, *back))
    one = adjoint((np.array([[1], [0]]), None), 2, np.dtype(np.float32))
    assert one[1] is None
    assert [[1], [0]] == one[0].tolist()


def test_eq_resize_gradient__in_the_order_of_results() -> None:
    """2**24 + 1 - 2**24 is 0 in this order, and 1 in another."""
    back = adjoint((np.zeros((3, 1), np.int64), None), 1, np.dtype(np.float32))
    assert [0.0] == gather(np.float32([2**24, 1, -(2**24)]), -1, *back).tolist()
    assert [1.0] == gather(np.float32([2**24, -(2**24), 1]), -1, *back).tolist()


def test_gather__infinity_beside_no_tap() -> None:
    """What a line without further taps would name last has no part in it; no tap at all gives 0."""
    indices, weights = np.array([[0, -1], [-1, -1]]), np.float32([[2, 0], [0, 0]])
    assert [6.0, 0.0] == gather(np.float32([3, np.inf]), -1, indices, weights).tolist()
