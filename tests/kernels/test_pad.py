"""Borders, and rolled elements: what the kernel in use gives is what the twin in NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._kernels import registry
from pyqref.numerics import borders
from pyqref.numerics import windows as reference

PAIRS: list[tuple[tuple[int, int], ...]] = [
    ((1, 1),),
    ((0, 0), (3, 2)),
    ((1, 2), (-1, 5)),
    ((-2, 3), (4, -1)),
    ((1, 0), (0, 2), (1, 1)),
    ((-3, 1), (2, 2), (-1, -2)),
    ((9, -5), (1, 1)),
    ((-6, 8), (0, 1)),
    ((1, 1), (1, 1), (1, 1), (1, 1)),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64, np.bool_])
def test_borders(kernel: str, dtype: Any, n_threads: int) -> None:
    """Borders agree for every size of element on one to three axes; with more the twin computes."""
    rng = np.random.default_rng(0)
    for pairs in PAIRS:
        for leading in ((), (2,), (3, 2), (0,)):
            for width in (4, 5, 33, 64):
                size = (3, 2, 4, width)[-len(pairs) :]
                x = rng.integers(0, 9, (*leading, *size)).astype(dtype)
                expected = reference.pad(x, pairs, 7)
                assert_same_bits(expected, _kernels.pad(x, pairs, dtype(7)))
    x = rng.integers(0, 9, (5, 4, 6)).astype(dtype)
    for moved in (x.transpose(1, 0, 2), x[..., ::2]):
        assert_same_bits(reference.pad(moved, PAIRS[1], 1), _kernels.pad(moved, PAIRS[1], 1))


@pytest.mark.parametrize("rows", [1, 9, 4100])
def test_borders_around_the_task(kernel: str, rows: int, n_threads: int) -> None:
    """Borders agree around a task of 2**15 bytes: many short lines, or one long one."""
    x = np.random.default_rng(1).integers(0, 256, (rows, 40_000 // rows), np.uint8)
    pairs = ((1, 2), (3, 4))
    assert_same_bits(reference.pad(x, pairs, 5), _kernels.pad(x, pairs, 5))


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular", "roll"])
def test_borders_of_elements(kernel: str, mode: str, n_threads: int) -> None:
    """Borders agree in C order and with channels last, in the modes of ``F.pad`` and ``roll``."""
    rng = np.random.default_rng(0)
    for pairs in (((2, 1),), ((1, -1), (2, 3)), ((0, 0), (1, 1), (-1, 2)), ((1, 0), (0, 0))):
        for size in ((4, 5, 6), (2, 3, 4, 5), (2, 4, 3, 3, 37)):
            for dtype in (np.uint8, np.float32, np.complex128):
                x = rng.integers(0, 99, size).astype(dtype)
                expected = borders.bordered(x, pairs, mode, 7)
                assert_same_bits(expected, _kernels.bordered(x, pairs, mode, dtype(7)))
                last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
                bordered = _kernels.bordered(last, pairs, mode, dtype(7))
                assert_same_bits(expected, bordered)
                assert len(size) == 3 or np.moveaxis(bordered, 1, -1).flags.c_contiguous


X, LINE = np.zeros((2, 3, 4), np.uint8), np.zeros(6, np.uint8)
SIZES, PLACES = (1, 2, 3, 4, 1), tuple(np.arange(n) for n in (2, 3, 4))
OUTSIDE, BORDER = (*PLACES[:2], np.array([4])), (*PLACES[:2], np.array([-1, 0]))
WRONG: dict[str, tuple[Any, ...]] = {
    "gaps": (X[..., ::2], SIZES, PLACES, None, "C order"),
    "two places": (X, SIZES, PLACES[:2], None, "three arrays of places"),
    "another size": (X, (1, 2, 3, 5, 1), PLACES, None, "sizes must be those of x"),
    "a place too far": (X, SIZES, OUTSIDE, None, r"in \[-1, 4\), got 4"),
    "places of another type": (X, SIZES, (*PLACES[:2], LINE), None, "lists of int64"),
    "no border": (X, SIZES, BORDER, None, "a line of 2 elements"),
    "a long border": (X, SIZES, BORDER, LINE, "a line of 2 elements"),
    "a border of another type": (X, SIZES, BORDER, np.zeros(2, np.int32), "the type of x"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(compiled_kernel: str, name: str) -> None:
    *given, message = WRONG[name]
    kernel: Any = registry.twin("elementwise")
    with pytest.raises((ValueError, IndexError), match=message):
        kernel.take(*given, 1)
