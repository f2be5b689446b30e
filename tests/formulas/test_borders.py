"""Borders of arrays, place by place from what each mode says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pyqref.numerics.borders import bordered, places_along


def place(i: int, length: int, before: int, after: int, mode: str) -> int:
    """Return the element at distance ``i`` from the start of an axis."""
    if mode == "constant":
        return i if 0 <= i < length else -1
    if mode == "replicate":
        return min(max(i, 0), length - 1)
    if mode == "reflect":
        turn = 2 * (length - 1)
        return min(i % turn, turn - i % turn)
    left, right = max(-before, 0), max(-after, 0)
    return left + (i - left) % (length - left - right)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_places_along__every_place(mode: str) -> None:
    """Places go from ``-before`` to ``length + after``; a border may be longer than the axis."""
    for length, before, after in itertools.product((2, 3, 4), range(-4, 6), range(-4, 6)):
        if mode == "circular" and max(-before, 0) + max(-after, 0) >= length:
            continue  # nothing is left to go round
        expected = [place(i, length, before, after, mode) for i in range(-before, length + after)]
        found = places_along(length, before, after, mode)
        assert (np.int64, expected) == (found.dtype, found.tolist()), (length, before, after)


def test_places_along__roll() -> None:
    """Place i holds element i - before; what falls off comes in again."""
    for shift in range(-7, 8):
        expected = [(i - shift) % 5 for i in range(5)]
        assert expected == places_along(5, shift, 0, "roll").tolist()


def test_bordered__last_axes() -> None:
    """Pairs stand for the last axes in their order; the constant fills what lies outside."""
    x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    found = bordered(x, ((1, 2), (-1, 3)), "constant", 9)
    expected = np.full((2, 6, 6), 9, np.float32)
    expected[:, 1:4, :3] = x[:, :, 1:]
    assert np.array_equal(expected, found)
    assert np.array_equal(x[:, [1, 0, 1, 2]], bordered(x, ((1, 0), (0, 0)), "reflect"))
    ends = bordered(x, ((1, 1), (0, 0), (0, 0)), "constant")
    assert not ends[[0, 3]].any()
    assert np.array_equal(x, ends[1:3])


def test_bordered__no_pairs() -> None:
    """The result is a copy, without borders, too."""
    x = np.ones(3, np.float32)
    found = bordered(x, (), "constant")
    assert np.array_equal(x, found)
    assert not np.shares_memory(x, found)
