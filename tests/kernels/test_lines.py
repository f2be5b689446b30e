"""Where the memory of results begins, and how arrays are seen."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref._kernels import layout
from pyqref.tape.memory import storage_of

LINE = 64  # bytes of a cache line
LARGE = 1 << 14  # bytes of an array from which it matters that it begins at one


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (7,), (100, 41), (4096, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_large_arrays_begin_at_a_cache_line(shape: tuple[int, ...], dtype: type) -> None:
    """Whatever its size, an array is like that of ``np.empty``."""
    array, expected = layout.empty(shape, np.dtype(dtype)), np.empty(shape, dtype)
    assert (expected.shape, expected.dtype, expected.strides) == (
        array.shape,
        array.dtype,
        array.strides,
    )
    assert array.flags.writeable
    begins_at_a_line = array.ctypes.data % LINE == 0
    assert begins_at_a_line or array.nbytes < LARGE or layout.empty is np.empty


@pytest.mark.parametrize("size", [100, 5000, 300_000, 2 << 20])
def test_the_storage_of_an_array_is_its_own(size: int) -> None:
    """No user sees the memory that lets an array begin at a cache line."""
    array = layout.empty((size,), np.dtype(np.float32))
    for each in (array, array[3:].reshape(-1, 1)):
        assert storage_of(each).ctypes.data == array.ctypes.data
        assert storage_of(each).nbytes == array.nbytes


def test_numbers_between_the_addresses_of_their_type_are_copied() -> None:
    """Compilers may take it that a number lies at a multiple of its size."""
    for shape in ((6,), (2, 3)):
        x = np.arange(25, dtype=np.uint8)[1:].view(np.float32).reshape(shape)
        for each in (x, x.T):
            found = layout.dense(each)
            assert found.flags.aligned
            assert found.flags.forc
            assert np.array_equal(each, found)
