"""Equality of arrays down to the bit, and arrays that lie where kernels care."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.testing import assert_bit_equal


def assert_same_bits(expected: Any, actual: Any) -> None:
    """Type, shape and every byte; the sign of zero counts, the payload of a nan does not."""
    if np.iscomplexobj(expected) and expected.dtype == actual.dtype:
        expected, actual = (np.stack([each.real, each.imag]) for each in (expected, actual))
    assert_bit_equal(actual, expected)


def behind_a_line(x: np.ndarray, elements: int) -> np.ndarray:
    """Copy an array to memory that begins so many elements behind a cache line of 64 bytes."""
    room = np.empty(x.nbytes + elements * x.itemsize + 64, np.uint8)
    first = -room.ctypes.data % 64 + elements * x.itemsize
    moved = room[first : first + x.nbytes].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved
