"""Windows as columns and as rows."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.windows import fold_rows, unfold_rows
from pyqref.tape.windows import Windows, fold, unfold

CASES = [
    ((5,), Windows((3,), (1,), (1,), ((1, 1),))),
    ((5, 6), Windows((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))),
    ((5, 6), Windows((3, 2), (2, 1), (1, 2), ((1, 1), (0, 0)))),
    ((4, 5, 6), Windows((2, 3, 1), (1, 2, 3), (2, 1, 1), ((0, 1), (2, 1), (0, 0)))),
]


@pytest.mark.parametrize(("size", "windows"), CASES)
def test_rows_are_columns_transposed(size: tuple[int, ...], windows: Windows) -> None:
    """Both ways of laying windows out hold the same elements, and fold back to the same sums."""
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, *size)).astype(np.float32)
    columns, rows = unfold(x, windows), unfold_rows(x, windows)
    spatial = len(size)
    # (C, *kernel, N, *out) and (N, *out, *kernel, C)
    order = (*range(1 + spatial, 2 + 2 * spatial), *range(1, 1 + spatial), 0)
    assert np.array_equal(columns.transpose(order), rows)
    expected = fold(columns, windows, size)
    assert np.array_equal(expected, fold_rows(rows, windows, size))
