"""Resizing by the kernel in use, with the channels last; the result then lies so too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import images
from pyqref.numerics import interpolate as reference
from pyqref.numerics.types import FloatArray, IntArray

from .strips import are_wanted, in_strips

__all__ = ["bilinear", "nearest"]

_ONE_PLANE = np.zeros(1, np.int64)


def nearest(
    q: IntArray,
    output_size: Sequence[int],
    factors: Sequence[float | None] | None = None,
    exact: bool = False,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.interpolate.nearest` (``eq-quantized-nearest``)."""
    kernel = registry.twin("resize")
    output_size, factors = tuple(output_size), tuple(factors) if factors else None
    sources = _nearest_sources(q.shape, output_size, factors, exact)
    if kernel is None or sources is None or q.itemsize != 1:
        return reference.nearest(q, output_size, factors, exact)
    result: IntArray | None = kernel.nearest(q, *sources, None, threads.limit)
    if result is not None:
        return result
    planes, lines, columns = sources
    if are_wanted(q):

        def run(image: IntArray, planes: IntArray, rows: slice, low: int, out: IntArray) -> None:
            kernel.nearest(image, planes, lines[rows] - low, columns, out, threads.limit)

        return in_strips(run, q, output_size, planes, lines, lines)
    q, result = images(q, output_size, False)
    kernel.nearest(q, *sources, result, threads.limit)
    return result


def bilinear(
    q: IntArray,
    zero_point: int,
    output_size: Sequence[int],
    align_corners: bool = False,
    factors: Sequence[float | None] | None = None,
) -> IntArray:
    """Fast form of :func:`pyqref.numerics.interpolate.bilinear` (``eq-quantized-bilinear``)."""
    kernel = registry.twin("resize")
    if kernel is None or not _is_covered(q.shape, output_size, 2, 2) or q.itemsize != 1:
        return reference.bilinear(q, zero_point, output_size, align_corners, factors)
    given = tuple(factors) if factors else (None, None)
    first, second, down, columns, along = _positions(
        q.shape[2:], tuple(output_size), bool(align_corners), given
    )
    limits = np.iinfo(q.dtype)

    def run(image: IntArray, planes: IntArray, rows: slice, low: int, out: IntArray) -> None:
        del planes
        kernel.bilinear(
            image,
            q.dtype == np.int8,
            zero_point,
            limits.min,
            limits.max,
            np.concatenate([first[rows] - low, second[rows] - low]),
            down[rows],
            columns,
            along,
            out,
            threads.limit,
        )

    if are_wanted(q):
        return in_strips(run, q, output_size, _ONE_PLANE, first, second)
    q, result = images(q, tuple(output_size), False)
    run(q, _ONE_PLANE, slice(None), 0, result)
    return result


def _is_covered(shape: tuple[int, ...], output_size: Sequence[int], least: int, most: int) -> bool:
    dimensions = len(output_size)
    return (
        least <= dimensions <= most
        and len(shape) == dimensions + 2
        and min(*shape, *output_size) > 0
    )


@lru_cache(maxsize=64)
def _nearest_sources(
    shape: tuple[int, ...],
    outputs: tuple[int, ...],
    factors: tuple[float | None, ...] | None,
    exact: bool,
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Sources along depth, height and width; an axis that is not there copies itself.

    None where the kernels have none.
    """
    if not _is_covered(shape, outputs, 1, 3):
        return None
    zero = np.zeros(1, np.int64)
    axes = zip(shape[2:], outputs, factors or (None,) * len(outputs), strict=True)
    found = [reference.nearest_source(*each, exact) for each in axes]
    planes, rows, columns = [zero] * (3 - len(found)) + found
    return planes, rows, columns


@lru_cache(maxsize=64)
def _positions(
    sizes: tuple[int, ...],
    outputs: tuple[int, ...],
    align_corners: bool,
    factors: tuple[float | None, ...],
) -> tuple[IntArray, IntArray, FloatArray, IntArray, FloatArray]:
    """Both rows and the part of the second one; both columns, one after the other, and theirs."""
    (top, bottom, down), (left, right, along) = (
        reference.source_position(size, output, align_corners, factor)
        for size, output, factor in zip(sizes, outputs, factors, strict=True)
    )
    columns = np.concatenate([left, right])
    return (
        top,
        bottom,
        np.ascontiguousarray(down, np.float32),
        columns,
        np.ascontiguousarray(along, np.float32),
    )
