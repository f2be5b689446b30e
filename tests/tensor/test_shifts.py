"""Shifts of integers by bits."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref

TYPES = ["uint8", "int8", "int16", "int32", "int64"]


@pytest.mark.parametrize("kind", TYPES)
def test_every_shift(kind: str) -> None:
    """X << n is x * 2^n modulo the range, x >> n the floor of x / 2^n; outside, n is all bits."""
    info = np.iinfo(kind)
    values = np.array([0, 1, 5, info.max // 3, info.max, info.min, info.min // 2], kind)
    x, span = pyqref.from_numpy(values), 2**info.bits
    for step in (-1, 0, 1, info.bits - 1, info.bits, info.bits + 1, 100):
        n = step if 0 <= step < info.bits else info.bits
        left = [int(v) * 2**n % span for v in values]
        expected = [v - span if v > info.max else v for v in left]
        assert expected == (x << step).tolist()
        assert [int(v) // 2**n for v in values] == (x >> step).tolist()
        assert x.dtype is (x << step).dtype is (x >> step).dtype


def test_operators_and_names() -> None:
    """``<<`` and its forms are the functions; two 4-bit codes go into a byte and out again."""
    codes = pyqref.tensor([1, 15, 7], dtype=pyqref.uint8)
    packed = codes << 4 | codes
    assert [0x11, 0xFF, 0x77] == packed.tolist()
    assert (packed >> 4).tolist() == (packed & 15).tolist() == codes.tolist()
    assert [4, 32] == (2 << pyqref.tensor([1, 4])).tolist()
    assert [4, 0] == (8 >> pyqref.tensor([1, 4])).tolist()
    codes <<= 1
    codes >>= pyqref.tensor([1, 0, 2], dtype=pyqref.uint8)
    assert [1, 30, 3] == codes.tolist()
    assert [2, 60, 6] == codes.bitwise_left_shift(1).tolist()
    with pytest.raises(RuntimeError, match="left_shift is not defined for floating point"):
        pyqref.ones(1) << 1
    with pytest.raises(RuntimeError, match=r"convert them with x.int\(\)"):
        pyqref.tensor([True]) >> pyqref.tensor([True])


def test_storage() -> None:
    """A view shows the memory of the whole: its bytes, and its elements in their order there."""
    x = pyqref.arange(6.0).reshape(2, 3)
    typed, untyped = x.t()[1:].storage(), x[1].untyped_storage()
    assert [0, 1, 2, 3, 4, 5] == typed.tolist()
    assert (6, 24, 4, pyqref.float32) == (
        len(typed),
        typed.nbytes(),
        typed.element_size(),
        typed.dtype,
    )
    assert (24, 24, 1) == (len(untyped), untyped.nbytes(), untyped.element_size())
    assert x.data_ptr() == untyped.data_ptr() == typed.untyped().data_ptr()
    assert bytes(untyped.tolist()) == np.arange(6, dtype=np.float32).tobytes()
    assert (2.0, 0) == (typed[2], untyped[2])
    assert untyped.__sizeof__() > 24
