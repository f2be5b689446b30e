"""The largest of each window of float images, and its gradient, by the kernel in use."""

from __future__ import annotations

import math

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import windows as reference
from pyqref.numerics.types import FloatArray, IntArray
from pyqref.numerics.windows import Windows

from .geometry import geometry_of

__all__ = ["gradient_of_largest", "largest"]

_FLOAT32, _UINT8 = np.dtype(np.float32), np.dtype(np.uint8)


def largest(x: FloatArray, windows: Windows, count: tuple[int, ...]) -> tuple[FloatArray, IntArray]:
    """Fast form of :func:`pyqref.numerics.windows.largest`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(x, windows):
        return reference.largest(x, windows, count)
    leading, size = x.shape[: -len(count)], x.shape[-len(count) :]
    y, winner = np.empty((*leading, *count), _FLOAT32), np.empty((*leading, *count), _UINT8)
    kernel.largest(
        _planes(contiguous(x), size),
        _planes(y, count),
        _planes(winner, count),
        (1, *windows.kernel)[-2:],
        geometry_of(windows),
        threads.limit,
    )
    return y, winner


def gradient_of_largest(
    grad: FloatArray, winner: IntArray, windows: Windows, size: tuple[int, ...]
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.gradient_of_largest`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(grad, windows) or winner.dtype != _UINT8:
        return reference.gradient_of_largest(grad, winner, windows, size)
    leading, count = grad.shape[: -len(size)], grad.shape[-len(size) :]
    total = np.zeros((*leading, *size), _FLOAT32)
    kernel.gradient_of_largest(
        _planes(contiguous(grad), count),
        _planes(contiguous(winner), count),
        _planes(total, size),
        (1, *windows.kernel)[-2:],
        geometry_of(windows),
        threads.limit,
    )
    return total


def _is_covered(x: FloatArray, windows: Windows) -> bool:
    return (
        x.dtype == _FLOAT32
        and 1 <= len(windows.kernel) <= 2
        and math.prod(windows.kernel) < 256
        and x.size > 0
    )


def _planes(x: FloatArray, size: tuple[int, ...]) -> FloatArray:
    """``(planes, height, width)``; a line is a plane of one line."""
    return x.reshape(-1, *(1, *size)[-2:])
