"""Equality of arrays down to the bit, and arrays that lie where kernels care."""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_same_bits(expected: Any, actual: Any) -> None:
    """Type, shape and every byte; the sign of zero counts, the payload of a nan does not."""
    expected, actual = np.asarray(expected), np.asarray(actual)
    assert expected.dtype == actual.dtype
    assert expected.shape == actual.shape
    if expected.dtype.kind == "f":
        assert np.array_equal(np.isnan(expected), np.isnan(actual))
        expected, actual = np.nan_to_num(expected, nan=0), np.nan_to_num(actual, nan=0)
        assert np.array_equal(np.signbit(expected), np.signbit(actual))
    differing = np.argwhere(expected != actual)
    assert len(differing) == 0, f"first at {differing[0]} of {len(differing)} places"


def behind_a_line(x: np.ndarray, elements: int) -> np.ndarray:
    """The same array, so many elements behind a cache line of 64 bytes."""
    room = np.empty(x.nbytes + elements * x.itemsize + 64, np.uint8)
    first = -room.ctypes.data % 64 + elements * x.itemsize
    moved = room[first : first + x.nbytes].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved
