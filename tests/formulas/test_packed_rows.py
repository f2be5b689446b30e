"""Rows of packed integers with their scale and offset beside them."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.packed_rows import packed_rows


@pytest.mark.parametrize(("bits", "kind"), [(8, np.float32), (4, np.float16), (2, np.float16)])
def test_packed_rows__integers_then_parameters(bits: int, kind: type) -> None:
    """Integers, then scale and offset: float32 where the integers have 8 bits, else float16."""
    integers = np.arange(3 * 8).reshape(3, 8) % 2**bits
    per_byte = 8 // bits
    powers = 2 ** (bits * np.arange(per_byte))
    packed = (integers.reshape(3, -1, per_byte) * powers).sum(axis=2).astype(np.uint8)
    parameters = np.array([[0.5, -1], [0.25, 3], [2, 7]], kind)
    q, scales, offsets = packed_rows(np.hstack([packed, parameters.view(np.uint8)]), bits)
    assert np.array_equal(integers, q)
    assert (np.float32, [0.5, 0.25, 2]) == (scales.dtype, scales.tolist())
    assert (np.float32, [-1, 3, 7]) == (offsets.dtype, offsets.tolist())
