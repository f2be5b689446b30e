"""Depthwise convolution of floats by the kernel in use, and its gradients."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import float_depthwise as reference
from pyqref.numerics.phases import filters_of_phase, phases, places_of_phase, windows_of_phase
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
    out: FloatArray = empty((*x.shape[:2], *size), _FLOAT32)
    every = [(0, 1, count) for count in size]
    _run(kernel, contiguous(x), weight, bias, out, windows, size, every)
    return out


def _run(
    kernel: ModuleType,
    x: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    out: FloatArray,
    windows: Windows,
    count: tuple[int, ...],
    places: list[tuple[int, int, int]],
) -> None:
    """``places`` of the results in ``out``: along each axis the first, the step, and all."""
    kernel.depthwise(
        _planes(x),
        contiguous(weight),
        None if bias is None else contiguous(bias),
        _planes(out),
        _sizes(x.shape[2:], count, windows),
        geometry_of(windows),
        sum([(0, 1, 1), *places][-2:], ()),
        threads.limit,
    )


def depthwise_gradient(
    grad: FloatArray, weight: FloatArray, windows: Windows, size: tuple[int, ...]
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_depthwise.depthwise_gradient`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(windows, grad, weight) or 0 in size:
        return reference.depthwise_gradient(grad, weight, windows, size)
    out: FloatArray = empty((*grad.shape[:2], *size), _FLOAT32)
    grad = contiguous(grad)
    for phase in phases(windows, size):
        if all(part.taps and part.places for part in phase):
            met = windows_of_phase(phase, grad.shape[2:])
            count = tuple(part.places for part in phase)
            places = [(p.first, p.step, length) for p, length in zip(phase, size, strict=True)]
            filters = filters_of_phase(phase, weight)
            _run(kernel, grad, filters, None, out, met, count, places)
        else:
            out[places_of_phase(phase)] = 0
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
