"""Where the memory of results begins."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from pyqref._kernels import arrays, layout
from pyqref._kernels.layout import FRESH, LARGE, LINE, PAGE


@pytest.mark.parametrize("module", [arrays, layout])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (7,), (100, 41), (4096, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_large_arrays_begin_at_a_cache_line(
    module: ModuleType, shape: tuple[int, ...], dtype: type
) -> None:
    """Whatever its size, an array is like that of ``np.empty``."""
    array, expected = module.empty(shape, np.dtype(dtype)), np.empty(shape, dtype)
    assert (expected.shape, expected.dtype, expected.strides) == (
        array.shape,
        array.dtype,
        array.strides,
    )
    assert array.flags.writeable
    assert array.nbytes < LARGE or array.ctypes.data % LINE == 0


@pytest.mark.parametrize("module", [arrays, layout])
@pytest.mark.parametrize(
    ("size", "align"),
    [(FRESH, PAGE), (FRESH + PAGE - 1, PAGE), (FRESH + 1, LINE), (FRESH - 1, LINE)],
)
def test_very_large_arrays_begin_at_a_huge_page(module: ModuleType, size: int, align: int) -> None:
    """Unless the last page would reach far beyond them."""
    array = module.empty((size,), np.dtype(np.uint8))
    assert (size,) == array.shape
    assert array.ctypes.data % align == 0
