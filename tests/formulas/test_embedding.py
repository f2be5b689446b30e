"""Quantized tables against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, rational, rne

from pyqref.numerics import embedding
from pyqref.numerics.float_embedding import float_bag

RNG = np.random.default_rng(0)


def f16(x: Fraction) -> Fraction:
    """Round to the nearest float16 (the double it comes from is exact here)."""
    return rational(np.float16(np.float64(float(x))))


def table(rows: int = 6, columns: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integers, scales and offsets."""
    q = RNG.integers(0, 256, (rows, columns)).astype(np.uint8)
    scales = RNG.uniform(0.001, 0.1, rows).astype(np.float32)
    return q, scales, RNG.standard_normal(rows).astype(np.float32)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("columns", [1, 3, 4, 9])
def test_eq_pack_bits__sums_of_powers(bits: int, columns: int) -> None:
    """Each byte is a sum of powers of two; what is missing is zero."""
    q = RNG.integers(0, 2**bits, (3, columns))
    number = 8 // bits
    expected = [
        [
            sum(2 ** (k * bits) * int(v) for k, v in enumerate(row[j : j + number]))
            for j in range(0, columns, number)
        ]
        for row in q
    ]
    assert expected == embedding.pack_bits(q, bits).tolist()


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_eq_unpack_bits__undoes_packing(bits: int) -> None:
    """Every byte gives its digits in base 2**bits."""
    every = np.arange(256, dtype=np.uint8).reshape(2, 128)
    expected = [
        [p // 2 ** (k * bits) % 2**bits for p in row for k in range(8 // bits)]
        for row in every.tolist()
    ]
    unpacked = embedding.unpack_bits(every, bits)
    assert expected == unpacked.tolist()
    assert every.tolist() == embedding.pack_bits(unpacked, bits).tolist()


@pytest.mark.parametrize("bits", [4, 8])
def test_eq_embedding_row__precision(bits: int) -> None:
    """Below 8 bits scale and offset are rounded once more, to half precision."""
    scales = RNG.uniform(0.001, 0.1, 40).astype(np.float32)
    zero_points = RNG.uniform(0, 15, 40).astype(np.float32)
    kept = f16 if bits == 4 else Fraction
    expected = [kept(s) for s in fractions(scales)]
    offsets = [
        kept(f32(-z * s)) for z, s in zip(fractions(zero_points), fractions(scales), strict=True)
    ]
    actual = embedding.row_parameters(scales, zero_points, bits)
    assert (expected, offsets) == (fractions(actual[0]), fractions(actual[1]))


def test_eq_embedding_lookup__one_rounding() -> None:
    """Product and sum are rounded once."""
    q, scales, offsets = table()
    indices = np.array([[0, 5], [3, 3]])
    expected = [
        fma(Fraction(int(v)), rational(scales[r]), rational(offsets[r]))
        for r in indices.ravel()
        for v in q[r]
    ]
    assert expected == fractions(embedding.lookup(q, scales, offsets, indices))


@pytest.mark.parametrize("weighted", [False, True])
def test_eq_embedding_bag__order_of_rows(weighted: bool) -> None:
    """Row after row in float32; an empty bag is zero."""
    q, scales, offsets = table()
    indices = RNG.integers(0, 6, 20)
    starts, ends = np.array([0, 4, 4, 19]), np.array([4, 4, 19, 20])
    weights = RNG.standard_normal(20).astype(np.float32) if weighted else None
    expected = []
    for start, end in zip(starts, ends, strict=True):
        row = [Fraction(0)] * q.shape[1]
        for i in range(start, end):
            r = indices[i]
            scale, offset = rational(scales[r]), rational(offsets[r])
            if weights is not None:
                share = rational(weights[i])
                scale, offset = f32(share * scale), f32(share * offset)
            row = [
                fma(Fraction(int(v)), scale, f32(y + offset))
                for v, y in zip(q[r], row, strict=True)
            ]
        expected += row
    actual = embedding.bag(q, scales, offsets, indices, starts, ends, weights)
    assert expected == fractions(actual)


def floats(rows: int = 8, columns: int = 10) -> np.ndarray:
    """Random rows, the last ones constant and zero."""
    x = (RNG.standard_normal((rows, columns)) * RNG.uniform(0.01, 9, (rows, 1))).astype(np.float32)
    x[-1], x[-2] = 0, 3
    return x


def test_eq_embedding_rows_byte__rational() -> None:
    """Range, quotient, product, each rounded; a range may be as small as the 1e-8 beside it."""
    x = floats()
    x[0] *= np.float32(1e-8)
    q, scales, offsets = embedding.quantize_rows_byte(x)
    for r, row in enumerate(x):
        values = fractions(row)
        low = min(values)
        width = f32(max(values) - low)
        factor = f32(255 / f32(width + rational(np.float32(1e-8))))
        integers = [clamp(rne(f32(f32(v - low) * factor)), 0, 255) for v in values]
        actual = rational(scales[r]), rational(offsets[r]), q[r].tolist()
        assert (f32(width / 255), low, integers) == actual


@pytest.mark.parametrize("bits", [2, 4])
def test_eq_embedding_rows_narrow__rational(bits: int) -> None:
    """Integers are chosen for the offset and the scale as they are stored."""
    x = floats()
    q, scales, offsets = embedding.quantize_rows_narrow(x, bits)
    for r, row in enumerate(x):
        values = fractions(row)
        low = f16(min(values))
        width = f32(max(values) - low)
        scale = f16(f32(width / (2**bits - 1))) if width else Fraction(1)
        factor = f32(1 / scale)
        integers = [clamp(rne(f32(f32(v - low) * factor)), 0, 2**bits - 1) for v in values]
        actual = rational(scales[r]), rational(offsets[r]), q[r].tolist()
        assert (scale, low, integers) == actual


def test_eq_embedding_rows_narrow__scales_that_become_one() -> None:
    """A scale that is 0 in half precision is 1, and only that: a range of 1 has a scale of 1/15."""
    q, scales, _ = embedding.quantize_rows_narrow(np.float32([[0, 1e-9], [2, 2], [0, 1]]), 4)
    assert [1, 1, float(np.float16(1 / 15))] == scales.tolist()
    assert [[0, 0], [0, 0], [0, 15]] == q.tolist()


def test_eq_embedding_rows_narrow__saturates() -> None:
    """Numbers beyond a given range are clamped to its ends."""
    row, low, high = np.float32([[-5, 0, 7.5, 99]]), np.float32([0]), np.float32([7.5])
    assert [[0, 0, 15, 15]] == embedding.quantize_rows_narrow(row, 4, low, high)[0].tolist()
    assert [[0, 0, 255, 255]] == embedding.quantize_rows_byte(row, low, high)[0].tolist()


def error(row: np.ndarray, bits: int, low: float, high: float) -> float:
    """Root of the summed squares, by the stored scale and offset."""
    limits = np.float32([low]), np.float32([high])
    q, scale, offset = embedding.quantize_rows_narrow(row[None], bits, *limits)
    real = [int(v) * float(scale[0]) + float(offset[0]) for v in q[0]]
    return sqrt(sum((a - float(b)) ** 2 for a, b in zip(real, row, strict=True)))


def test_eq_embedding_search__leaves_out_a_far_element() -> None:
    """The error becomes smaller, never larger, and at most a part ``ratio`` is cut off."""
    for _ in range(5):
        row = RNG.standard_normal(60).astype(np.float32)
        row[7] = 6
        low, high = embedding.search_row_range(row, 4)
        whole = float(row.min()), float(row.max())
        assert error(row, 4, low, high) < error(row, 4, *whole)
        # One step more than the part may be gone when the search stops.
        assert high - low >= (whole[1] - whole[0]) * (1 - 0.16 - 1 / 200)


def test_eq_embedding_search__keeps_a_range_without_a_better_one() -> None:
    """Integers fall on the 16 steps: no error to lower."""
    row = np.arange(16).astype(np.float32)
    assert (0.0, 15.0) == embedding.search_row_range(row, 4)


def test_eq_embedding_search__equal_errors() -> None:
    """The upper end is left out if both errors are equal; the first of equal ranges is kept."""
    ranges = embedding.narrower_ranges(np.float32([0, 4]), 4, 0.5, lambda low, high: 1.0)
    assert [(0, 4), (0, 3), (0, 2)] == [(float(low), float(high)) for (low, high), *_ in ranges]
    row = np.float32([0, 1e-9])  # every scale becomes 1
    assert (0.0, float(row[1])) == embedding.search_row_range(row, 4)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_eq_float_bag__row_by_row(mode: str) -> None:
    """Fused products are added one after the other; a mean is rounded once more."""
    x = RNG.standard_normal((6, 3)).astype(np.float32)
    indices, starts, ends = RNG.integers(0, 6, 9), np.array([0, 0, 4]), np.array([0, 4, 9])
    weights = RNG.standard_normal(9).astype(np.float32) if mode == "sum" else np.ones(9, np.float32)
    y = float_bag(x, indices, starts, ends, weights if mode == "sum" else None, mode)
    for bag, row in enumerate(y):
        for column, actual in enumerate(row):
            total = Fraction(0)
            for i in range(starts[bag], ends[bag]):
                total = fma(rational(weights[i]), rational(x[indices[i], column]), total)
            count = max(int(ends[bag] - starts[bag]), 1) if mode == "mean" else 1
            assert f32(total / count) == rational(actual)


def test_eq_embedding_search__ranges_and_errors() -> None:
    """A step of (5 - 1) / 4 is left out where that leaves less; half of the range is the end."""

    def error(low: np.float32, high: np.float32) -> float:
        return abs(float(low) - 2) + abs(float(high) - 4)

    expected = [((1, 5), 2, (1, 1)), ((1, 4), 1, (0, 2)), ((2, 4), 0, None)]
    assert expected == list(embedding.narrower_ranges(np.float32([1, 3, 5]), 4, 0.5, error))


def test_eq_float_bag__largest() -> None:
    """The first of equal numbers (a zero of either sign), and nan where there is one."""
    table = np.float32([[-3, 0.0, np.nan, 1], [-1, -0.0, 5, np.nan], [-2, -1, 7, 2]])
    indices, starts, ends = np.array([0, 1, 2]), np.array([0, 0, 2]), np.array([0, 3, 3])
    y = float_bag(table, indices, starts, ends, mode="max")
    assert np.array_equal([[0] * 4, [-1, 0, np.nan, np.nan], [-2, -1, 7, 2]], y, equal_nan=True)
    assert not np.signbit(y[1, 1])


def test_eq_float_bag__one_index_and_double() -> None:
    """The mean of one row is the row; in double the weighted rows are added up."""
    table, one = np.array([[1.5, -2.0], [4.0, 0.25]]), np.array([0, 1])
    y = float_bag(table, np.array([1, 0]), one, one + 1, mode="mean")
    assert [[4.0, 0.25], [1.5, -2.0]] == y.tolist()
    y = float_bag(table, one, np.array([0]), np.array([2]), np.array([4.0, 0.5]))
    assert (np.float64, [[8.0, -7.875]]) == (y.dtype, y.tolist())
