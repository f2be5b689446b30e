"""Products of float32 matrices by the kernel in use."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import float_product as reference
from pyqref.numerics.types import FloatArray

__all__ = ["float_product", "multiplies_floats"]

_FLOAT32 = np.dtype(np.float32)
_ITEM = _FLOAT32.itemsize


def multiplies_floats() -> bool:
    """Tell whether the kernel in use has a compiled product of float32 matrices.

    Examples
    --------
    >>> from pyqref import kernels
    >>> with kernels.use("reference"):
    ...     multiplies_floats()
    False
    """
    return registry.twin("fgemm") is not None


def float_product(a: FloatArray, b: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_product.float_product`, for float32.

    Examples
    --------
    >>> float_product(np.float32([[1, 2]]), np.float32([[3], [4]])).tolist()
    [[11.0]]
    """
    kernel = registry.twin("fgemm")
    if kernel is None:
        return reference.float_product(a, b, start)
    result: FloatArray | None = kernel.product(a, b, start, None, threads.limit)
    return _arranged(kernel, a, b, start) if result is None else result


def _arranged(kernel: Any, a: FloatArray, b: FloatArray, start: FloatArray | None) -> FloatArray:
    """The product of matrices that do not lie as the kernel takes them, or that are empty."""
    lead = a.shape[:-2]
    if lead != b.shape[:-2]:
        if b.ndim == 2:  # all rows meet the same columns
            rows = contiguous(a).reshape(-1, a.shape[-1])
            return float_product(rows, b, start).reshape(*a.shape[:-1], b.shape[-1])
        lead = np.broadcast_shapes(lead, b.shape[:-2])
        a, b = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b))
    if len(lead) > 2:
        a, b = (x.reshape(-1, *x.shape[-2:]) for x in (a, b))
    rows, depth, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    out: FloatArray = empty((*a.shape[:-1], columns), _FLOAT32)
    if depth == 0 or out.size == 0:
        out[...] = 0 if start is None else start
    else:
        a = a if a.flags.aligned else contiguous(a)
        start = None if start is None else contiguous(start)
        if kernel.product(a, _in_lines(b), start, out, threads.limit) is None:
            return reference.float_product(a, b, start)
    return out if len(lead) <= 2 else out.reshape(*lead, rows, columns)


def _in_lines(b: FloatArray) -> FloatArray:
    """Matrices whose rows, or whose columns, have their numbers side by side."""
    row, column = b.strides[-2:]
    return b if _ITEM in (row, column) and b.flags.aligned else contiguous(b)
