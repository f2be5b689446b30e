"""Channels scaled and added up by the kernel in use; the rest goes to the twins in NumPy."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import channels as reference
from pyqref.numerics.types import FloatArray

__all__ = ["gradient_of_normalized", "scale_channels", "sums_of_channels", "sums_of_images"]

_FLOAT32 = np.dtype(np.float32)


def scale_channels(
    x: FloatArray,
    scale: FloatArray,
    shift: FloatArray | None = None,
    divides: bool = False,
    center: FloatArray | None = None,
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.channels.scale_channels`."""
    kernel = registry.twin("channels")
    # Where channels are last in memory, they are in the result of NumPy, too.
    if kernel is None or not _are_float32(x, scale, shift, center):
        return reference.scale_channels(x, scale, shift, divides, center)
    across = not x.flags.c_contiguous
    if across:
        x = x.transpose(0, 2, 1)
        if not (x.flags.c_contiguous and x.flags.aligned):
            return reference.scale_channels(x.transpose(0, 2, 1), scale, shift, divides, center)
    out = empty(x.shape, _FLOAT32)
    shift = None if shift is None else contiguous(shift)
    center = None if center is None else contiguous(center)
    kernel.scale(x, across, contiguous(scale), shift, center, out, divides, threads.limit)
    return out.transpose(0, 2, 1) if across else out


def sums_of_channels(
    a: FloatArray, b: FloatArray, center: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.channels.sums_of_channels`."""
    kernel = registry.twin("channels")
    if center is None:
        center = np.zeros(a.shape[1], b.dtype)
    if kernel is None or not _are_float32(a, b, center):
        return reference.sums_of_channels(a, b, center)
    sums, products = np.empty(a.shape[1], _FLOAT32), np.empty(a.shape[1], _FLOAT32)
    kernel.add_up(*alike(a, b), False, contiguous(center), sums, products, threads.limit)
    return sums, products


def sums_of_images(
    a: FloatArray, b: FloatArray, center: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.channels.sums_of_images`."""
    kernel = registry.twin("channels")
    if kernel is None or not _are_float32(a, b, center):
        return reference.sums_of_images(a, b, center)
    a, b = alike(a, b)
    apart = not a.flags.c_contiguous
    if not apart:
        shape = 1, a.shape[0] * a.shape[1], a.shape[2]
        a, b = a.reshape(shape), b.reshape(shape)
    sums, products = np.empty(center.size, _FLOAT32), np.empty(center.size, _FLOAT32)
    kernel.add_up(a, b, apart, contiguous(center), sums, products, threads.limit)
    return sums.reshape(center.shape), products.reshape(center.shape)


def gradient_of_normalized(
    grad: FloatArray,
    x: FloatArray,
    scale: FloatArray,
    center: FloatArray,
    factor: FloatArray,
    shift: FloatArray,
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.channels.gradient_of_normalized`."""
    kernel = registry.twin("channels")
    parameters = np.array([scale, center, factor, shift])
    if kernel is None or not _are_float32(grad, x, parameters):
        return reference.gradient_of_normalized(grad, x, scale, center, factor, shift)
    grad, x = alike(grad, x)
    across = not grad.flags.c_contiguous
    if across:
        grad, x = grad.transpose(0, 2, 1), x.transpose(0, 2, 1)
    out = empty(grad.shape, _FLOAT32)
    kernel.gradient(grad, x, across, parameters, out, threads.limit)
    return out.transpose(0, 2, 1) if across else out


def alike(*arrays: FloatArray) -> tuple[FloatArray, ...]:
    """Return these where channels are last in memory in each of them, else all in C order."""
    for x in arrays:
        last = x.transpose(0, 2, 1).flags
        if x.flags.c_contiguous or not (last.c_contiguous and last.aligned):
            return tuple([contiguous(each) for each in arrays])
    return arrays


def _are_float32(*arrays: FloatArray | None) -> bool:
    for each in arrays:  # noqa: SIM110 (a generator takes as long as the kernel of a few numbers)
        if each is not None and each.dtype != _FLOAT32:
            return False
    return True
