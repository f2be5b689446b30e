"""Counts on nested grids and between edges, and errors on counts, against the equations."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits, behind_a_line

from pyqref import _kernels
from pyqref._kernels.fake_quantize.learnable import _by_equations
from pyqref.numerics import (
    learned_range,
    nested_histogram,
    squared_error_range,
    widening_histogram,
)

SIZES = (1, 16, 17, 257, 2**12 + 1, 2**16 + 3)


@pytest.mark.parametrize("bins", [4, 128, 2**16 + 4])
def test_nested_counts_around_the_block(kernel: str, n_threads: int, bins: int) -> None:
    """eq-nested-bin: edges belong to the bin above, also below zero."""
    rng = np.random.default_rng(bins)
    for size in SIZES:
        row = behind_a_line(rng.standard_normal(size).astype(np.float32), 3)
        row[::5] = rng.integers(-9, 9, len(row[::5])) / np.float32(8)
        expected = nested_histogram.nested_counts(row[None], bins)
        for found, actual in zip(expected, _kernels.nested_counts(row[None], bins), strict=True):
            assert_same_bits(found, actual)
        wider = expected.exponents + 3
        assert_same_bits(
            nested_histogram.nested_counts(row[None], bins, wider).counts,
            _kernels.nested_counts(row[None], bins, wider).counts,
        )


def test_nested_counts_of_rows(kernel: str, n_threads: int) -> None:
    """eq-nested-bin of rows on grids of their own, from subnormal numbers to the largest ones."""
    rng = np.random.default_rng(0)
    usual = rng.standard_normal((7, 300)).astype(np.float32)
    usual *= np.float32([[1], [1e-30], [1e30], [0], [7], [1e-3], [1]])
    tiny = np.float32([1e-45, -1e-45, -0.0, 1e-38, -1.0])
    for rows in (usual, usual[:, :1], np.stack([tiny, tiny * 2]), tiny[None], tiny[None, :4]):
        expected = nested_histogram.nested_counts(rows, 64)
        for found, actual in zip(expected, _kernels.nested_counts(rows, 64), strict=True):
            assert_same_bits(found, actual)
    huge = np.float32([[3e38, -3.4e38, 1.0, 0.0]])
    assert_same_bits(
        nested_histogram.nested_counts(huge, 4).counts, _kernels.nested_counts(huge, 4).counts
    )


@pytest.mark.parametrize("bins", [1, 255, 2**16 + 1])
def test_counts_between_edges(kernel: str, n_threads: int, bins: int) -> None:
    """eq-edge-bin: uniform edges and others, numbers on them, beside them and outside."""
    rng = np.random.default_rng(bins)
    uniform = widening_histogram.uniform_edges(np.float32(-1.1), np.float32(1.7), bins)
    steps = np.cumsum(rng.random(bins + 1) ** 8) * 8 / bins
    for edges in (uniform, steps, np.append(uniform[:-1], uniform[-1] + 3.0)):
        for size in SIZES:
            x = rng.standard_normal(size).astype(np.float32)
            on_edges = rng.choice(edges, len(x[::3])).astype(np.float32)
            x[::3] = on_edges
            x[::6] = np.nextafter(on_edges[::2], np.float32(9))
            expected = widening_histogram.edge_counts(x, edges)
            assert_same_bits(expected, _kernels.edge_counts(x, edges))


def test_edges_without_width(kernel: str) -> None:
    """eq-edge-bin where all edges but one are equal, or all are."""
    x = np.float32([1.0, 1.0, 2.0, 0.0])
    for edges in (np.float32([1, 1, 1]), np.float32([1, 1, 2]), np.float32([-3e38, 0, 3e38])):
        expected = widening_histogram.edge_counts(x, edges)
        assert_same_bits(expected, _kernels.edge_counts(x, edges))


@pytest.mark.parametrize("bins", [1, 7, 8, 9, 256, 260, 2048])
def test_staircase_errors(kernel: str, n_threads: int, bins: int) -> None:
    """eq-staircase-error of several candidates for rows of counts, to the bit."""
    rng = np.random.default_rng(bins)
    counts = rng.integers(0, 2**40, (3, bins)) * rng.integers(0, 2, (3, bins))
    edges = np.cumsum(rng.random((3, bins + 1)) + 0.01, axis=1) - bins / 4
    scale = rng.random((5, 3)) * bins / 100 + 2.0**-24
    zero_point = rng.integers(0, 255, (5, 3))
    for low, high in ((0, 255), (-128, 127), (-(2**31), 2**31 - 1)):
        expected = [
            squared_error_range.staircase_error(counts, edges, *each, low, high)
            for each in zip(scale, zero_point, strict=True)
        ]
        found = _kernels.staircase_errors(counts, edges, scale, zero_point, low, high)
        assert_same_bits(np.stack(expected), found)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 2**15 - 1, 2**15, 2**16 + 17])
def test_magnitude_sums(kernel: str, n_threads: int, rows: int, size: int) -> None:
    """eq-magnitude-sum around a vector of lanes and around a part."""
    x = np.random.default_rng(size).standard_normal((rows, size)).astype(np.float32)
    assert_same_bits(learned_range.magnitude_sums(x), _kernels.magnitude_sums(x))


@pytest.mark.parametrize("size", [1, 15, 16, 17, 511, 513, 2**15 + 17])
def test_learnable_gradients(kernel: str, n_threads: int, size: int) -> None:
    """Positions near ties and beyond all ends, infinity and nan; one scale, and one a channel."""
    rng = np.random.default_rng(size)
    x = rng.choice(np.float32([0.0, -0.0, 0.05, 0.25, 0.3, -0.9, 8.0, -99.0]), (2, size))
    x += rng.standard_normal((2, size)).astype(np.float32) * rng.integers(0, 2, (2, size))
    x[0, ::7], x[1, ::5], x[1, ::11] = np.inf, -np.inf, np.nan
    gradient = rng.standard_normal((2, size)).astype(np.float32)
    scales, zero_points = np.float32([0.1, 0.0371]), np.array([3, -2])
    for limits in ((-8, 7), (0, 255), (-(2**22), 2**22)):
        for axis, end in ((None, 1), (0, 2)):
            grid = scales[:end], np.clip(zero_points, *limits)[:end]
            for these in ((x, gradient), (x[::-1], gradient[:, :1].repeat(size, 1))):
                arguments = (*these, *grid, limits, 0.3, axis)
                with np.errstate(invalid="ignore"):
                    expected = _by_equations(*arguments, (True, True, True))
                for one, found in zip(
                    expected, _kernels.learnable_gradients(*arguments), strict=True
                ):
                    assert_same_bits(one, found)
    moved = _kernels.learnable_gradients(x.T, gradient.T, scales, zero_points, (-8, 7), 0.3, 1)
    there = _kernels.learnable_gradients(x, gradient, scales, zero_points, (-8, 7), 0.3, 0)
    assert_same_bits(there[0].T.copy(), moved[0])
    assert_same_bits(there[1], moved[1])
    few = _kernels.learnable_gradients(
        x, gradient, scales, zero_points, (-8, 7), 0.3, 0, (True, True, False)
    )
    assert few[2] is None
