"""Rows of tables, by every kernel against the twins in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import embedding as reference
from pyqref.numerics import float_embedding as float_reference
from pyqref.numerics.packed_rows import packed_rows

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


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 33, 130])
def test_rows_that_end_in_their_parameters(
    kernel: str, bits: int, width: int, n_threads: int
) -> None:
    """Bags of packed rows: half precision with subnormals, infinity and nan; rows with gaps."""
    kept = reference.bits_of_row(bits)
    packed = RNG.integers(0, 256, (ROWS, width)).astype(np.uint8)
    parameters = RNG.standard_normal((ROWS, 2)).astype(kept)
    parameters[::5, 0] = np.float32([1e-7, -3e-6, np.inf, np.nan, 6.1e-5, 0.0, -0.0, 65504.0])
    table = np.hstack([packed, parameters.view(np.uint8)])
    for each in (table, np.repeat(table, 2, axis=1)[:, ::2], np.repeat(table, 3, axis=0)[::3]):
        rows = packed_rows(each, bits)
        assert rows[0].shape == (ROWS, width * 8 // bits)
        for weights in (None, WEIGHTS):
            bags = INDICES, STARTS, ENDS, weights
            expected = reference.bag(*rows, *bags)
            assert_same_bits(expected, _kernels.packed_bag(each, bits, *bags))


def test_every_half_is_read_as_numpy_reads_it(kernel: str) -> None:
    """All 65,536 bit patterns as the offset of a row, a NaN as a NaN."""
    halves = np.arange(1 << 16, dtype=np.uint16)
    parameters = np.stack([np.zeros_like(halves), halves], axis=1).view(np.uint8)
    table = np.hstack([np.zeros((1 << 16, 1), np.uint8), parameters])
    indices = np.arange(1 << 16)
    found = _kernels.packed_bag(table, 4, indices, indices, indices + 1)
    with np.errstate(invalid="ignore"):  # signalling ones
        expected = np.float32(0) + halves.view(np.float16).astype(np.float32)
    assert_same_bits(np.stack([expected, expected], axis=1), found)


def test_many_bags_are_shared_among_threads(kernel: str, n_threads: int) -> None:
    """More numbers than a task has, in bags of one and of many rows."""
    table, indices = floats(40), RNG.integers(0, ROWS, 9000)
    for count in (9000, 300, 1):
        starts = np.arange(count) * (9000 // count)
        given = table, indices, starts, starts + 9000 // count
        assert_same_bits(float_reference.float_bag(*given), _kernels.float_bag(*given))
