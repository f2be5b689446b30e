"""Channels scaled and added up by the kernel in use; the rest goes to the twins in NumPy."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import channels as reference
from pyqref.numerics.types import FloatArray

__all__ = ["gradient_of_normalized", "scale_channels", "sums_of_channels"]

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
    if not x.flags.c_contiguous:
        pixels = x.transpose(0, 2, 1)
        if not pixels.flags.c_contiguous:
            return reference.scale_channels(x, scale, shift, divides, center)
        samples = pixels.reshape(-1, x.shape[1], 1)  # each pixel is one
        scaled = scale_channels(samples, scale, shift, divides, center)
        return scaled.reshape(pixels.shape).transpose(0, 2, 1)
    out = empty(x.shape, _FLOAT32)
    shift = None if shift is None else contiguous(shift)
    center = None if center is None else contiguous(center)
    kernel.scale(x, contiguous(scale), shift, center, out, divides, threads.limit)
    return out


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
    kernel.add_up(*alike(a, b), contiguous(center), sums, products, threads.limit)
    return sums, products


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
    if not grad.flags.c_contiguous:
        pixels, others = grad.transpose(0, 2, 1), x.transpose(0, 2, 1)
        shape = -1, grad.shape[1], 1
        rows = pixels.reshape(shape), others.reshape(shape)
        found = gradient_of_normalized(*rows, scale, center, factor, shift)
        return found.reshape(pixels.shape).transpose(0, 2, 1)
    out = empty(grad.shape, _FLOAT32)
    kernel.gradient(grad, x, parameters, out, threads.limit)
    return out


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
