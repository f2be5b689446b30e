"""Where the memory of results begins, and how arrays are seen."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pyqref._kernels import arrays, layout
from pyqref._kernels.layout import LARGE
from pyqref.tape.memory import storage_of

LINE = 64  # bytes of a cache line


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
    begins_at_a_line = array.ctypes.data % LINE == 0
    assert begins_at_a_line or array.nbytes < LARGE or module.empty is layout.empty


@pytest.mark.parametrize("module", [arrays, layout])
@pytest.mark.parametrize("size", [100, 5000, 300_000, 2 << 20])
def test_the_storage_of_an_array_is_its_own(module: ModuleType, size: int) -> None:
    """What makes it begin at a line is seen by nobody."""
    array = module.empty((size,), np.dtype(np.float32))
    for each in (array, array[3:].reshape(-1, 1)):
        assert storage_of(each).ctypes.data == array.ctypes.data
        assert storage_of(each).nbytes == array.nbytes


@pytest.mark.parametrize("module", [arrays, layout])
def test_numbers_between_the_addresses_of_their_type_are_copied(module: ModuleType) -> None:
    """Compilers may take it that a number lies at a multiple of its size."""
    for shape in ((6,), (2, 3)):
        x = np.arange(25, dtype=np.uint8)[1:].view(np.float32).reshape(shape)
        for each in (x, x.T):
            found = module.dense(each)
            assert found.flags.aligned
            assert found.flags.forc
            assert np.array_equal(each, found)


@pytest.mark.parametrize("compiled", [None, ModuleType("_layout")])
def test_compiled_functions_of_other_sources_are_an_error(
    compiled: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they were not built there are those in Python; where one is missing, it is said."""
    monkeypatch.setitem(sys.modules, "pyqref._kernels._layout", compiled)
    spec: Any = arrays.__spec__
    again = module_from_spec(spec)
    if compiled is None:
        spec.loader.exec_module(again)
        assert layout.dense is again.dense
    else:
        with pytest.raises(ImportError, match="cannot import name 'contiguous'"):
            spec.loader.exec_module(again)
