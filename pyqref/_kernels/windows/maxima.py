"""The largest of each window of float images, its gradient, and means, by the kernel in use."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref._kernels.order import with_channels_as, with_channels_last
from pyqref.numerics import windows as reference
from pyqref.numerics.types import FloatArray, IntArray
from pyqref.numerics.windows import Windows

from .geometry import geometry_of

__all__ = ["gradient_of_largest", "gradient_of_means", "largest", "means_of_windows"]

_FLOAT32, _UINT8 = np.dtype(np.float32), np.dtype(np.uint8)
#: The axes of an image that has its channels last, in the order that its arrays have.
_FIRST = (0, 3, 1, 2)
_LAST = (0, 2, 3, 1)


def largest(x: FloatArray, windows: Windows, count: tuple[int, ...]) -> tuple[FloatArray, IntArray]:
    """Fast form of :func:`pyqref.numerics.windows.largest`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(x, windows):
        best, places = reference.largest(x, windows, count)
        return with_channels_as(x, best), with_channels_as(x, places)
    pixels = _pixels(x, windows)
    if pixels is not None:
        shape = len(x), *count, x.shape[1]
        y, winner = empty(shape, _FLOAT32), empty(shape, _UINT8)
        kernel.largest(pixels, y, winner, windows.kernel, geometry_of(windows), threads.limit)
        return y.transpose(_FIRST), winner.transpose(_FIRST)
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


def means_of_windows(
    x: FloatArray, windows: Windows, count: tuple[int, ...], divisor: FloatArray
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.means_of_windows` where channels are last."""
    kernel = registry.twin("windows")
    pixels = _pixels(x, windows) if _is_covered(x, windows) else None
    if kernel is None or pixels is None or divisor.dtype != _FLOAT32:
        return with_channels_as(x, reference.means_of_windows(x, windows, count, divisor))
    y = empty((len(x), *count, x.shape[1]), _FLOAT32)
    divisors = contiguous(divisor if divisor.size == 1 else np.broadcast_to(divisor, count))
    kernel.means(pixels, divisors, y, windows.kernel, geometry_of(windows), threads.limit)
    return y.transpose(_FIRST)


def gradient_of_largest(
    grad: FloatArray, winner: IntArray, windows: Windows, size: tuple[int, ...]
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.gradient_of_largest`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(grad, windows) or winner.dtype != _UINT8:
        found = reference.gradient_of_largest(grad, winner, windows, size)
        return with_channels_as(grad, found)
    pixels = _pixels(grad, windows)
    if pixels is not None:
        return _gradient_across(kernel, pixels, contiguous(winner.transpose(_LAST)), windows, size)
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


def gradient_of_means(
    grad: FloatArray, windows: Windows, size: tuple[int, ...], divisor: FloatArray
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.gradient_of_means` where channels are last."""
    kernel = registry.twin("windows")
    pixels = _pixels(grad, windows) if _is_covered(grad, windows) else None
    if kernel is None or pixels is None or divisor.dtype != _FLOAT32:
        found = reference.gradient_of_means(grad, windows, size, divisor)
        return with_channels_as(grad, found)
    with np.errstate(all="ignore"):
        share = pixels / divisor[..., np.newaxis]
    return _gradient_across(kernel, share, None, windows, size)


def _gradient_across(
    kernel: ModuleType,
    pixels: FloatArray,
    winner: IntArray | None,
    windows: Windows,
    size: tuple[int, ...],
) -> FloatArray:
    out = empty((len(pixels), *size, pixels.shape[3]), _FLOAT32)
    geometry = geometry_of(windows)
    kernel.gradient_across(pixels, winner, out, windows.kernel, geometry, threads.limit)
    return out.transpose(_FIRST)


def _is_covered(x: FloatArray, windows: Windows) -> bool:
    return (
        x.dtype == _FLOAT32
        and 1 <= len(windows.kernel) <= 2
        and math.prod(windows.kernel) < 256
        and x.size > 0
    )


def _pixels(x: FloatArray, windows: Windows) -> FloatArray | None:
    """Images whose channels are last in memory, as they lie there."""
    if x.flags.c_contiguous or x.ndim != 4 or len(windows.kernel) != 2:
        return None
    last = with_channels_last(x)
    return None if last is None else contiguous(last[0])


def _planes(x: FloatArray, size: tuple[int, ...]) -> FloatArray:
    """``(planes, height, width)``; a line is a plane of one line."""
    return x.reshape(-1, *(1, *size)[-2:])
