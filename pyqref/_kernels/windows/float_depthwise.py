"""Depthwise convolution of floats by the kernel in use, and its gradients."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import float_depthwise as reference
from pyqref.numerics.types import FloatArray
from pyqref.numerics.windows import Windows

from .geometry import geometry_of

__all__ = ["depthwise", "depthwise_gradient", "depthwise_weight_gradient"]

_FLOAT32 = np.dtype(np.float32)


def depthwise(
    x: FloatArray, weight: FloatArray, bias: FloatArray | None, windows: Windows
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_depthwise.depthwise`."""
    kernel = registry.twin("windows")
    given = (x, weight) if bias is None else (x, weight, bias)
    if kernel is None or not _is_covered(windows, *given):
        return reference.depthwise(x, weight, bias, windows)
    size = windows.output_size(x.shape[2:])
    out = np.empty((*x.shape[:2], *size), _FLOAT32)
    kernel.depthwise(
        _planes(contiguous(x)),
        contiguous(weight),
        None if bias is None else contiguous(bias),
        _planes(out),
        _sizes(x.shape[2:], size, windows),
        geometry_of(windows),
        threads.limit,
    )
    return out


def depthwise_gradient(
    grad: FloatArray, weight: FloatArray, windows: Windows, size: tuple[int, ...]
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_depthwise.depthwise_gradient`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(windows, grad, weight) or 0 in size:
        return reference.depthwise_gradient(grad, weight, windows, size)
    out = np.empty((*grad.shape[:2], *size), _FLOAT32)
    kernel.depthwise_gradient(
        _planes(contiguous(grad)),
        contiguous(weight),
        _planes(out),
        _sizes(size, grad.shape[2:], windows),
        geometry_of(windows),
        threads.limit,
    )
    return out


def depthwise_weight_gradient(grad: FloatArray, x: FloatArray, windows: Windows) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_depthwise.depthwise_weight_gradient`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(windows, grad, x):
        return reference.depthwise_weight_gradient(grad, x, windows)
    shape = (x.shape[1], *windows.kernel)
    parts = np.empty((len(x), shape[0], int(np.prod(windows.kernel))), _FLOAT32)
    kernel.depthwise_weight_gradient(
        _planes(contiguous(grad)),
        _planes(contiguous(x)),
        parts,
        _sizes(x.shape[2:], grad.shape[2:], windows),
        geometry_of(windows),
        threads.limit,
    )
    total = np.zeros(parts.shape[1:], _FLOAT32)
    for each in parts:
        total += each
    return total.reshape(shape)


def _is_covered(windows: Windows, *arrays: FloatArray) -> bool:
    """Return True for one or two spatial axes and arrays of floats that are not empty."""
    if len(windows.kernel) > 2:
        return False
    return all(each.dtype == _FLOAT32 and each.size > 0 for each in arrays)


def _planes(x: FloatArray) -> FloatArray:
    """``(batch, channels, height, width)``; a line is a plane of one line."""
    return x if x.ndim == 4 else x[:, :, None]


def _sizes(size: tuple[int, ...], out: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
    return (*(1, *size)[-2:], *(1, *out)[-2:], *(1, *windows.kernel)[-2:])
