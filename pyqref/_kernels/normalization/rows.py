"""Normalization of rows by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from math import prod

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref._kernels.order import in_c_order
from pyqref._kernels.parts import parts
from pyqref.numerics import normalization as reference
from pyqref.numerics.affine import reciprocal32
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import FloatArray, IntArray

__all__ = ["group_norm", "layer_norm", "layer_norm_of_row"]

#: Elements that are put in another order at a time, of a row for which that is done as a whole, and
#: of the pieces in which longer ones are normalized.
_PART, _ROW, _PIECE = 1 << 18, 7 << 17, 1 << 15


def layer_norm(
    q: IntArray,
    grid: Grid,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    out: Grid,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.normalization.layer_norm` (``eq-quantized-layer-norm``).

    Parameters
    ----------
    q
        Integers ``(M, n)``.
    weight, bias
        float32 ``(n,)``, or None.
    """
    kernel = registry.twin("normalization")
    if kernel is None or not _is_covered(q, out):
        return reference.layer_norm(q, grid, weight, bias, eps, out)
    return _normalize(kernel, contiguous(q), grid, weight, bias, 1, 1, eps, out)


def layer_norm_of_row(
    q: IntArray,
    grid: Grid,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    out: Grid,
    result: IntArray,
) -> None:
    """Write a single row, of any shape and in any order, into ``result``: a long one in pieces.

    Parameters
    ----------
    weight, bias
        Of the shape of the row, but for last axes of length 1, or None.
    result
        In C order.
    """
    kernel = registry.twin("normalization")
    if kernel is None or not _is_covered(q, out):
        full = [None if f is None else np.broadcast_to(f, q.shape) for f in (weight, bias)]
        w, b = (None if f is None else f.reshape(-1) for f in full)
        result[...] = reference.layer_norm(q.reshape(1, -1), grid, w, b, eps, out).reshape(q.shape)
        return
    if q.size <= _ROW:
        row = in_c_order(q[np.newaxis]).reshape(1, -1)
        flat_w, flat_b = (None if f is None else f.reshape(1, -1) for f in (weight, bias))
        inner = next((q.size // f.size for f in (weight, bias) if f is not None), 1)
        line = result.reshape(1, -1)
        _normalize(kernel, row, grid, flat_w, flat_b, 1, inner, eps, out, result=line)
        return
    # In the order of memory, which neither sums nor factors mind.
    order = sorted(range(q.ndim), key=lambda axis: -abs(q.strides[axis]))
    q, result = q.transpose(order), result.transpose(order)
    w, b = (
        None if f is None else np.broadcast_to(f.transpose(order), q.shape) for f in (weight, bias)
    )
    sums = np.zeros(2, np.int64)
    for at in parts(q, most=_PIECE):
        kernel.add_sums(contiguous(q[at]), q.dtype == np.int8, sums)
    for at in parts(q, most=_PIECE):
        some = contiguous(q[at])
        some_w, some_b = (None if f is None else f[at].reshape(1, -1) for f in (w, b))
        row = _normalize(
            kernel, some.reshape(1, -1), grid, some_w, some_b, 1, 1, eps, out, sums, q.size
        )
        result[at] = row.reshape(some.shape)


def group_norm(
    q: IntArray,
    grid: Grid,
    groups: int,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    out: Grid,
) -> IntArray:
    """Fast :func:`pyqref.numerics.normalization.group_norm` (``eq-quantized-group-norm``)."""
    kernel = registry.twin("normalization")
    if kernel is None or not _is_covered(q, out):
        return reference.group_norm(q, grid, groups, weight, bias, eps, out)
    batch, channels = q.shape[:2]
    space, each = prod(q.shape[2:]), channels // groups
    if q.flags.c_contiguous or q.size <= _PART:
        rows = in_c_order(q).reshape(batch * groups, each * space)
        result = _normalize(kernel, rows, grid, weight, bias, groups, space, eps, out)
        return result.reshape(q.shape)
    # Some images, or some groups of one, are put in C order at a time.
    grouped = q.reshape(batch, groups, each, *q.shape[2:])
    result = np.empty(grouped.shape, q.dtype)
    factors = [None if f is None else f.reshape(groups, each) for f in (weight, bias)]
    if each * space > _PART:
        ones = (1,) * (q.ndim - 2)
        for image, group in np.ndindex(batch, groups):
            w, b = (None if f is None else f[group].reshape(each, *ones) for f in factors)
            layer_norm_of_row(grouped[image, group], grid, w, b, eps, out, result[image, group])
        return result.reshape(q.shape)
    for at in parts(grouped, whole=range(2, grouped.ndim), most=_PART):
        x = grouped[at]
        w, b = (None if f is None else f[at[1]] for f in factors)
        rows = in_c_order(x.reshape(len(x), -1, *q.shape[2:])).reshape(-1, each * space)
        result[at] = _normalize(kernel, rows, grid, w, b, x.shape[1], space, eps, out).reshape(
            x.shape
        )
    return result.reshape(q.shape)


def _is_covered(q: IntArray, out: Grid) -> bool:
    return q.dtype.itemsize == 1 and q.size > 0 and np.dtype(out.storage) == q.dtype


def _normalize(
    kernel: object,
    rows: IntArray,
    grid: Grid,
    weight: FloatArray | None,
    bias: FloatArray | None,
    period: int,
    inner: int,
    eps: float,
    out: Grid,
    sums: IntArray | None = None,
    count: int = 0,
    result: IntArray | None = None,
) -> IntArray:
    """Rows whose parameters repeat after ``period`` of them; each serves ``inner`` elements.

    With ``sums`` of ``count`` integers and their squares, parts of one row.
    """
    result = np.empty_like(rows) if result is None else result
    kernel.layer_norm(  # type: ignore[attr-defined]
        rows,
        rows.dtype == np.int8,
        np.float32(grid.scale),
        np.float32(eps),
        None if weight is None else contiguous(np.asarray(weight, np.float32)),
        None if bias is None else contiguous(np.asarray(bias, np.float32)),
        period,
        inner,
        reciprocal32(out.scale),
        out.zero_point,
        out.quant_min,
        out.quant_max,
        result,
        threads.limit,
        sums,
        count,
    )
    return result
