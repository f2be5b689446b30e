"""Sums and products by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, dense, empty, is_dense, laid_as, output_like
from pyqref._kernels.parts import parts
from pyqref.numerics import elementwise as reference
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import Engine, IntArray

__all__ = ["add", "mul"]

#: Elements at a time of arrays that do not lie alike.
_PART = 1 << 18


def add(
    a: IntArray,
    a_grid: Grid,
    b: IntArray,
    b_grid: Grid,
    out: Grid,
    engine: Engine = "fbgemm",
    relu: bool = False,
    buffer: IntArray | None = None,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.elementwise.add`.

    Equations ``eq-quantized-add`` and ``eq-add-fixed-point``. The result is written to ``buffer``
    if that lies as ``a`` does.
    """
    kernel = registry.twin("elementwise")
    fixed_point = engine == "qnnpack" and out.storage == np.uint8
    if kernel is None or not _are_bytes(a, b, out):
        return reference.add(a, a_grid, b, b_grid, out, engine, relu)
    if _must_be_moved(a, b):
        return _by_parts(
            lambda x, y, buffer: add(x, a_grid, y, b_grid, out, engine, relu, buffer), a, b
        )
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    left, right, result = _arrays(a, b, buffer)
    if fixed_point:
        multiplier_a, multiplier_b, shift = _fixed_point(a_grid, b_grid, out)
        if not 1 <= shift <= 30:
            return reference.add(a, a_grid, b, b_grid, out, engine, relu)
        kernel.add_fixed_point(
            left,
            right,
            result,
            (multiplier_a, a_grid.zero_point, multiplier_b, b_grid.zero_point),
            shift,
            out.zero_point,
            low,
            high,
            threads.limit,
        )
        return result
    kernel.add(
        left,
        right,
        result,
        a_grid.scale,
        a_grid.zero_point,
        b_grid.scale,
        b_grid.zero_point,
        out.scale,
        out.zero_point,
        low,
        high,
        threads.limit,
    )
    return result


def mul(
    a: IntArray,
    a_grid: Grid,
    b: IntArray,
    b_grid: Grid,
    out: Grid,
    relu: bool = False,
    buffer: IntArray | None = None,
) -> IntArray:
    """Fast :func:`pyqref.numerics.elementwise.mul` (``eq-quantized-mul``); ``buffer`` as in add."""
    kernel = registry.twin("elementwise")
    if kernel is None or not _are_bytes(a, b, out):
        return reference.mul(a, a_grid, b, b_grid, out, relu)
    if _must_be_moved(a, b):
        return _by_parts(lambda x, y, buffer: mul(x, a_grid, y, b_grid, out, relu, buffer), a, b)
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    left, right, result = _arrays(a, b, buffer)
    kernel.mul(
        left,
        right,
        result,
        a_grid.scale,
        a_grid.zero_point,
        b_grid.scale,
        b_grid.zero_point,
        out.scale,
        out.zero_point,
        low,
        high,
        threads.limit,
    )
    return result


def _are_bytes(a: IntArray, b: IntArray, out: Grid) -> bool:
    return a.dtype == b.dtype == out.storage and a.dtype.itemsize == 1


def _must_be_moved(a: IntArray, b: IntArray) -> bool:
    """Return True if one of two large arrays must be copied to get a layout for kernels."""
    large = a.size > _PART or b.size > _PART
    return large and (a.shape != b.shape or a.strides != b.strides or not is_dense(a))


def _by_parts(run: Callable[..., IntArray], a: IntArray, b: IntArray) -> IntArray:
    """``run(a, b, buffer)`` for some elements, then for others."""
    a, b = np.broadcast_arrays(a, b)
    result = np.empty_like(a)
    for at in parts(a, most=_PART):
        buffer = result[at]
        part = run(a[at], b[at], buffer)
        if part is not buffer:
            buffer[...] = part
    return result


def _arrays(
    a: IntArray, b: IntArray, buffer: IntArray | None = None
) -> tuple[IntArray, IntArray, IntArray]:
    """The arrays in one shape and order in memory, and a buffer for the result."""
    if a.shape != b.shape:
        shape = np.broadcast(a, b).shape
        left = dense(a) if a.shape == shape else _spread(a, empty(shape, a.dtype))
        b = _spread(b, output_like(left, b.dtype))
    else:
        left = dense(a)
    if buffer is None or buffer.strides != left.strides:
        buffer = output_like(left, a.dtype)
    return left, laid_as(left, b), buffer


def _spread(x: IntArray, to: IntArray) -> IntArray:
    """Broadcast into a buffer, out of C order: NumPy copies long rows of that at a time."""
    np.copyto(to, x if x.shape == to.shape else contiguous(x))
    return to


def _fixed_point(a: Grid, b: Grid, out: Grid) -> tuple[int, int, int]:
    """Multipliers and shift of ``eq-add-fixed-point``."""
    ratio_a = np.float32(a.scale) / np.float32(out.scale)
    ratio_b = np.float32(b.scale) / np.float32(out.scale)
    shift = 22 - int(np.frexp(max(ratio_a, ratio_b))[1])
    multiplier_a, multiplier_b = (
        int(np.rint(np.ldexp(np.float64(ratio), shift))) for ratio in (ratio_a, ratio_b)
    )
    return multiplier_a, multiplier_b, shift
