"""Borders of a constant: what the kernel in use gives is what the twin in NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._kernels import registry
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
    """Of every size of element, on one axis to three; more than three go to the twin."""
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
    """Of 2**15 bytes: many short lines, or one long one."""
    x = np.random.default_rng(1).integers(0, 256, (rows, 40_000 // rows), np.uint8)
    pairs = ((1, 2), (3, 4))
    assert_same_bits(reference.pad(x, pairs, 5), _kernels.pad(x, pairs, 5))


X, BORDER = np.zeros((1, 2, 3, 4), np.uint8), np.zeros(6, np.uint8)
WRONG: dict[str, tuple[Any, ...]] = {
    "three axes": (X[0], (0, 1, 1), (2, 5, 6), BORDER, "four axes"),
    "gaps": (X[..., ::2], (0, 1, 1), (2, 5, 6), BORDER, "C order"),
    "another type": (X, (0, 1, 1), (2, 5, 6), BORDER.astype(np.int32), "its type"),
    "a short border": (X, (0, 1, 1), (2, 5, 7), BORDER, "must have 7 elements"),
    "two sizes": (X, (0, 1, 1), (5, 6), BORDER, "three"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(compiled_kernel: str, name: str) -> None:
    *given, message = WRONG[name]
    kernel: Any = registry.twin("elementwise")
    with pytest.raises(ValueError, match=message):
        kernel.pad(*given, 1)
