"""Batch norm of integers by the kernel in use, else by its twin in NumPy, some at a time."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty, output_like
from pyqref._kernels.parts import parts
from pyqref.numerics import normalization as reference
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import FloatArray, IntArray

__all__ = ["batch_norm", "batch_norm_coefficients"]

#: What overflows gets to an end of the range, of which kernels do not warn either.
_SATURATES: Any = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}


def batch_norm_coefficients(
    mean: FloatArray,
    variance: FloatArray,
    weight: FloatArray,
    bias: FloatArray,
    eps: float,
    input_scale: float,
    output_scale: float,
) -> Any:
    """Fast form of :func:`pyqref.numerics.normalization.batch_norm_coefficients`.

    Equation ``eq-batch-norm-coefficients``.
    """
    kernel = registry.twin("normalization")
    rest = eps, input_scale, output_scale
    if kernel is None:
        with np.errstate(**_SATURATES):
            return reference.batch_norm_coefficients(mean, variance, weight, bias, *rest)
    arrays = map(contiguous, (mean, variance, weight, bias))
    return kernel.batch_norm_coefficients(*arrays, *rest)


def batch_norm(
    q: IntArray, grid: Grid, alpha: FloatArray, beta: FloatArray, out: Grid, relu: bool = False
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.normalization.batch_norm` (``eq-quantized-batch-norm``).

    The result lies in memory as ``q`` does.

    Examples
    --------
    >>> alpha, beta = np.float32([2.0, 1.0]), np.float32([0.0, 5.0])
    >>> batch_norm(np.uint8([[[3], [3]]]), Grid(1.0, 0), alpha, beta, Grid(1.0, 0)).tolist()
    [[[6], [8]]]
    """
    kernel = registry.twin("normalization")
    covered = q.dtype.itemsize == 1 and q.size > 0 and np.dtype(out.storage) == q.dtype
    if kernel is None or not covered:
        result = np.empty_like(q)
        for at in parts(result):
            some = alpha[at[1]], beta[at[1]]
            with np.errstate(**_SATURATES):
                result[at] = reference.batch_norm(q[at], grid, *some, out, relu)
        return result
    channels, space = q.shape[1], prod(q.shape[2:])
    order = (0, *range(2, q.ndim), 1)
    last = q.transpose(order)
    if last.flags.c_contiguous or space == 1:
        result = output_like(q, q.dtype)
        rows, period, inner = contiguous(last).reshape(-1, channels), 1, 1
        filled = result.transpose(order).reshape(-1, channels)
    else:
        result = empty(q.shape, q.dtype)
        rows, period, inner = contiguous(q).reshape(-1, space), channels, space
        filled = result.reshape(-1, space)
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    kernel.batch_norm(
        rows,
        q.dtype == np.int8,
        float(grid.zero_point),
        contiguous(alpha),
        contiguous(beta),
        period,
        inner,
        out.zero_point,
        low,
        high,
        filled,
        threads.limit,
    )
    return result
