"""Counts on grids, errors on counted data, and sums of magnitudes, by the kernel in use."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref._typing import Array
from pyqref.numerics import (
    learned_range,
    nested_histogram,
    squared_error_range,
    widening_histogram,
)
from pyqref.numerics.nested_histogram import EMPTY, NestedHistogram, nested_exponent
from pyqref.numerics.types import FloatArray, IntArray

from .ranges import min_max_per_channel

__all__ = ["edge_counts", "magnitude_sums", "nested_counts", "staircase_errors"]

_FLOAT32 = np.dtype(np.float32)
#: Exponents whose powers of two, and their reciprocals, are normal numbers of float32.
_NORMAL = 126
_LARGEST = float(np.finfo(np.float32).max)


def nested_counts(rows: FloatArray, bins: int, least: IntArray | int = EMPTY) -> NestedHistogram:
    """Fast :func:`pyqref.numerics.nested_histogram.nested_counts` (``eq-nested-bin``).

    Examples
    --------
    >>> nested_counts(np.float32([[0.0, 0.0], [1.0, -2.0]]), 8).counts.tolist()
    [[0, 0, 0, 0, 2, 0, 0, 0], [0, 0, 1, 0, 0, 1, 0, 0]]
    """
    kernel = registry.twin("observe")
    if kernel is None or rows.dtype != _FLOAT32:
        return nested_histogram.nested_counts(rows, bins, least)
    low, high = min_max_per_channel(rows, 0)
    exponents = np.maximum(nested_exponent(np.maximum(high, -low), bins), least)
    if not ((exponents == EMPTY) | (np.abs(exponents) <= _NORMAL)).all():
        return nested_histogram.nested_counts(rows, bins, least)
    # Zeros, all that a row without an exponent has, lie in the same bin of every grid.
    of_grids = np.maximum(exponents, -_NORMAL)
    counts = kernel.nested_counts(contiguous(rows), of_grids, bins, threads.limit)
    return NestedHistogram(counts, exponents)


def edge_counts(x: FloatArray, edges: FloatArray) -> IntArray:
    """Fast :func:`pyqref.numerics.widening_histogram.edge_counts` (``eq-edge-bin``).

    Examples
    --------
    >>> edge_counts(np.float32([-1.0, 0.0, 0.9, 1.0, 3.0]), np.float32([0.0, 1.0, 3.0])).tolist()
    [2, 2]
    """
    kernel = registry.twin("observe")
    if kernel is None or x.dtype != _FLOAT32:
        return widening_histogram.edge_counts(x, edges)
    wide = contiguous(edges.astype(np.float64))
    width = float(wide[-1] - wide[0])
    per_bin = min((wide.size - 1) / width, _LARGEST) if width > 0 else 0.0
    counts: IntArray = kernel.edge_counts(contiguous(x), wide, per_bin, threads.limit)
    return counts


def magnitude_sums(rows: FloatArray) -> FloatArray:
    """Fast :func:`pyqref.numerics.learned_range.magnitude_sums` (``eq-magnitude-sum``).

    Examples
    --------
    >>> magnitude_sums(np.float32([[1, -2], [0.5, 0]])).tolist()
    [3.0, 0.5]
    """
    kernel = registry.twin("observe")
    if kernel is None or rows.dtype != _FLOAT32:
        return learned_range.magnitude_sums(rows)
    sums: FloatArray = kernel.magnitude_sums(contiguous(rows), threads.limit)
    return sums


def staircase_errors(
    counts: IntArray,
    edges: FloatArray,
    scale: Array,
    zero_point: Array,
    quant_min: int,
    quant_max: int,
) -> FloatArray:
    """``eq-staircase-error`` of any number of candidates.

    Fast :func:`pyqref.numerics.squared_error_range.staircase_error`.

    Parameters
    ----------
    counts, edges
        ``(rows, bins)`` and ``(rows, bins + 1)``.
    scale, zero_point
        ``(..., rows)``.
    quant_min, quant_max
        Range of the integers.

    Examples
    --------
    >>> counts, edges = np.array([[12]]), np.array([[-0.5, 0.5]])
    >>> staircase_errors(counts, edges, np.array([[1.0], [0.5]]), np.zeros((2, 1)), -1, 1).tolist()
    [[1.0], [0.25]]
    """
    kernel = registry.twin("observe")
    rows = len(counts)
    scales = contiguous(np.asarray(scale, np.float64))
    zero_points = contiguous(np.asarray(zero_point, np.float64))
    if kernel is None:
        candidates = zip(scales.reshape(-1, rows), zero_points.reshape(-1, rows), strict=True)
        each = [
            squared_error_range.staircase_error(counts, edges, *one, quant_min, quant_max)
            for one in candidates
        ]
        return np.reshape(each, scales.shape)
    errors: FloatArray = kernel.staircase_errors(
        contiguous(counts),
        contiguous(edges),
        scales,
        zero_points,
        quant_min,
        quant_max,
        threads.limit,
    )
    return errors.reshape(scales.shape)
