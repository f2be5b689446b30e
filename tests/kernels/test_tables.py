"""Rows of tables, by every kernel against the twins in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import embedding as reference
from pyqref.numerics import float_embedding as float_reference

RNG = np.random.default_rng(11)
#: Lengths of bags: none, one, around the rows that are joined at once, long.
LENGTHS = np.array([3, 0, 1, 4, 5, 8, 9, 31, 0, 2, 70, 1])
ENDS = np.cumsum(LENGTHS)
STARTS = ENDS - LENGTHS
ROWS = 40
INDICES = RNG.integers(0, ROWS, ENDS[-1])
WEIGHTS = RNG.standard_normal(ENDS[-1]).astype(np.float32)
#: Around vectors of 4, 8 and 16.
COLUMNS = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 384]


def floats(columns: int) -> np.ndarray:
    """Numbers with zeros of both signs, infinity and nan among them."""
    x = RNG.standard_normal((ROWS, columns)).astype(np.float32)
    for value, part in ((0.0, 0.2), (-0.0, 0.2), (np.inf, 0.02), (np.nan, 0.02)):
        x[RNG.random(x.shape) < part] = value
    return x


@pytest.mark.parametrize("columns", COLUMNS)
def test_bags_of_floats(kernel: str, columns: int, n_threads: int) -> None:
    """Sums, with weights too, means and the largest; of rows with gaps and of other types."""
    table = floats(columns)
    apart = np.repeat(np.hstack([table, table]), 2, axis=0)[::2, :columns]
    for each in (table, apart, np.asfortranarray(table), table.astype(np.float64)):
        for weights, mode in ((None, "sum"), (WEIGHTS, "sum"), (None, "mean"), (None, "max")):
            given = each, INDICES, STARTS, ENDS, weights, mode
            assert_same_bits(float_reference.float_bag(*given), _kernels.float_bag(*given))
        for indices in (INDICES, INDICES.astype(np.int32).reshape(2, -1), INDICES[:0]):
            assert_same_bits(each[indices], _kernels.float_rows(each, indices))


@pytest.mark.parametrize("columns", COLUMNS)
def test_rows_of_bytes(kernel: str, columns: int, n_threads: int) -> None:
    """Looked up, and bags of them with and without weights; rows may lie apart."""
    wide = RNG.integers(0, 256, (ROWS, columns + 8)).astype(np.uint8)
    scales, offsets = RNG.standard_normal((2, ROWS)).astype(np.float32)
    offsets[::3] = -0.0
    for q in (wide[:, :columns], np.ascontiguousarray(wide[:, 8:]), wide[:, :columns] // 32):
        for indices in (INDICES, INDICES.reshape(2, -1), INDICES[:0]):
            given = q, scales, offsets, indices
            assert_same_bits(reference.lookup(*given), _kernels.embedding_rows(*given))
        for weights in (None, WEIGHTS, WEIGHTS.astype(np.float64)):
            bag = q, scales, offsets, INDICES, STARTS, ENDS, weights
            assert_same_bits(reference.bag(*bag), _kernels.embedding_bag(*bag))


def test_many_bags_are_shared_among_threads(kernel: str, n_threads: int) -> None:
    """More numbers than a task has, in bags of one and of many rows."""
    table, indices = floats(40), RNG.integers(0, ROWS, 9000)
    for count in (9000, 300, 1):
        starts = np.arange(count) * (9000 // count)
        given = table, indices, starts, starts + 9000 // count
        assert_same_bits(float_reference.float_bag(*given), _kernels.float_bag(*given))
