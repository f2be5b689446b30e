"""Rows of tables by the kernel in use; tables of other types go to the twins in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref._kernels.parts import parts
from pyqref.numerics import embedding as reference
from pyqref.numerics import float_embedding as float_reference
from pyqref.numerics.packed_rows import packed_rows, parameter_bytes
from pyqref.numerics.types import FloatArray, IntArray

__all__ = ["embedding_bag", "embedding_rows", "float_bag", "float_rows", "packed_bag"]

_FLOAT32, _UINT8, _INT64 = np.dtype(np.float32), np.dtype(np.uint8), np.dtype(np.int64)
#: As in ``bags.h``, whose 0 looks rows up.
_MODES = {"sum": 1, "mean": 2, "max": 3}


def float_bag(
    table: FloatArray,
    indices: IntArray,
    starts: IntArray,
    ends: IntArray,
    weights: FloatArray | None = None,
    mode: str = "sum",
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_embedding.float_bag`."""
    kernel = registry.twin("tables")
    if kernel is None or table.dtype != _FLOAT32:
        return float_reference.float_bag(table, indices, starts, ends, weights, mode)
    given = _rows(table), 32, None, None, _places(indices), _places(starts), _places(ends)
    return _joined(kernel, given, weights, mode, (len(starts), table.shape[1]))


def float_rows(table: FloatArray, indices: IntArray) -> FloatArray:
    """``table[indices]``."""
    kernel = registry.twin("tables")
    if kernel is None or table.dtype != _FLOAT32:
        return np.asarray(table[indices])
    given = _rows(table), 32, None, None, _places(indices.reshape(-1)), None, None
    return _joined(kernel, given, None, "sum", (*indices.shape, table.shape[1]))


def embedding_bag(
    q: IntArray,
    scales: FloatArray,
    offsets: FloatArray,
    indices: IntArray,
    starts: IntArray,
    ends: IntArray,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.embedding.bag`, of a large result part by part."""
    kernel = registry.twin("tables")
    shape = len(starts), q.shape[1]
    if kernel is not None and q.dtype == _UINT8:
        table = _rows(q), 8, contiguous(scales), contiguous(offsets)
        given = *table, _places(indices), _places(starts), _places(ends)
        return _joined(kernel, given, weights, "sum", shape)
    result = np.empty(shape, _FLOAT32)
    for bags, _ in parts(result, whole=(1,)):
        limits = starts[bags], ends[bags]
        result[bags] = reference.bag(q, scales, offsets, indices, *limits, weights)
    return result


def packed_bag(
    table: IntArray,
    bits: int,
    indices: IntArray,
    starts: IntArray,
    ends: IntArray,
    weights: FloatArray | None = None,
) -> FloatArray:
    """:func:`embedding_bag` of bytes ``(R, E)`` whose rows end in scale and offset.

    As :func:`pyqref.numerics.packed_rows.packed_rows` takes them.
    """
    kernel = registry.twin("tables")
    if kernel is None:
        wanted, places = np.unique(indices, return_inverse=True)
        rows = packed_rows(table[wanted], bits)
        return embedding_bag(*rows, places, starts, ends, weights)
    given = _rows(table), bits, None, None, _places(indices), _places(starts), _places(ends)
    columns = (table.shape[1] - parameter_bytes(bits)) * (8 // bits)
    return _joined(kernel, given, weights, "sum", (len(starts), columns))


def embedding_rows(
    q: IntArray, scales: FloatArray, offsets: FloatArray, indices: IntArray
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.embedding.lookup`, of a large result part by part."""
    kernel = registry.twin("tables")
    shape = *indices.shape, q.shape[1]
    if kernel is not None and q.dtype == _UINT8:
        table = _rows(q), 8, contiguous(scales), contiguous(offsets)
        given = *table, _places(indices.reshape(-1)), None, None
        return _joined(kernel, given, None, "sum", shape)
    result = np.empty(shape, _FLOAT32)
    for at in parts(result, whole=(indices.ndim,)):
        result[at] = reference.lookup(q, scales, offsets, indices[at[:-1]])
    return result


def _joined(
    kernel: Any,
    given: tuple[Any, ...],
    weights: FloatArray | None,
    mode: str,
    shape: tuple[int, ...],
) -> FloatArray:
    out = empty(shape, _FLOAT32)
    if out.size:
        factors = None if weights is None else contiguous(weights.astype(_FLOAT32, copy=False))
        rows = out.reshape(-1, shape[-1])
        kernel.join_bags(*given, factors, _MODES[mode], rows, threads.limit)
    return out


def _rows(table: Any) -> Any:
    """The table, whose rows may be apart but have no gaps."""
    flags = table.flags
    if flags.c_contiguous or (table.strides[1] == table.itemsize and flags.aligned):
        return table
    return contiguous(table)


def _places(indices: IntArray) -> IntArray:
    return contiguous(indices if indices.dtype == _INT64 else indices.astype(_INT64))
