"""Convolution of floats by the kernel in use, and its gradients."""

from __future__ import annotations

import math

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import float_convolution as reference
from pyqref.numerics.types import FloatArray
from pyqref.numerics.windows import Windows

__all__ = ["convolution", "convolution_gradient", "convolution_weight_gradient"]

_FLOAT32 = np.dtype(np.float32)
#: A spatial axis that is not there: windows, their size, stride, dilation, padding; first, step.
_NO_AXIS = (1, 1, 1, 1, 0, 0, 1)


def convolution(
    x: FloatArray, weight: FloatArray, bias: FloatArray | None, windows: Windows, groups: int
) -> FloatArray:
    """As :func:`pyqref.numerics.float_convolution.convolution`."""
    kernel = registry.twin("windows")
    size = windows.output_size(x.shape[2:])
    given = (x, weight) if bias is None else (x, weight, bias)
    if kernel is None or not _is_covered(*given):
        return reference.convolution(x, weight, bias, windows, groups)
    out: FloatArray = empty((len(x), len(weight), *size), _FLOAT32)
    if not out.size:
        return out
    x, weight = contiguous(x), contiguous(weight)
    bias = None if bias is None else contiguous(bias)
    if windows.are_pixels():
        length = math.prod(size)
        image, result, axes = _line(x, length), _line(out, length), [(length, *_NO_AXIS[1:])]
    else:
        image, result = _volume(x), _volume(out)
        axes = [
            (count, kernel, stride, dilation, before, 0, 1)
            for count, kernel, stride, dilation, (before, _) in zip(size, *windows, strict=True)
        ]
    taps = math.prod(windows.kernel)
    row = taps * weight.shape[1]
    steps = (0, len(weight) // groups * row, row, taps, *_steps(windows.kernel))
    kernel.convolve(image, weight, bias, result, _axes(axes), steps, groups, threads.limit)
    return out


def convolution_gradient(
    grad: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    windows: Windows,
    groups: int,
    size: tuple[int, ...],
) -> FloatArray:
    """As :func:`pyqref.numerics.float_convolution.convolution_gradient`."""
    kernel = registry.twin("windows")
    given = (grad, weight) if bias is None else (grad, weight, bias)
    if kernel is None or not _is_covered(*given):
        return reference.convolution_gradient(grad, weight, bias, windows, groups, size)
    channels = weight.shape[1]
    out: FloatArray = empty((len(grad), channels * groups, *size), _FLOAT32)
    if not out.size:
        return out
    grad, weight = contiguous(grad), contiguous(weight)
    bias = None if bias is None else contiguous(bias)
    taps = math.prod(windows.kernel)
    row, outputs = taps * channels, len(weight) // groups
    along = _steps(windows.kernel)
    for phase in reference.phases(windows, size):
        if not all(part.count for part in phase):
            continue
        if not all(part.taps for part in phase):
            where = (..., *(slice(part.first, None, part.step) for part in phase))
            out[where] = 0 if bias is None else bias.reshape(-1, *(1,) * len(size))
            continue
        axes = [
            (part.count, len(part.taps), 1, part.dilation, part.before, part.first, part.step)
            for part in phase
        ]
        start = sum(part.taps[0] * step for part, step in zip(phase, along[-len(size) :]))
        steps = [part.taps.step * step for part, step in zip(phase, along[-len(size) :])]
        weight_steps = (start, outputs * row, taps, row, *(0,) * (3 - len(size)), *steps)
        image, result = _volume(grad), _volume(out)
        kernel.convolve(
            image, weight, bias, result, _axes(axes), weight_steps, groups, threads.limit
        )
    return out


def convolution_weight_gradient(
    grad: FloatArray, x: FloatArray, windows: Windows, groups: int
) -> FloatArray:
    """As :func:`pyqref.numerics.float_convolution.convolution_weight_gradient`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(grad, x):
        return reference.convolution_weight_gradient(grad, x, windows, groups)
    shape = (grad.shape[1], x.shape[1] // groups, *windows.kernel)
    out = np.empty(shape, _FLOAT32)
    grad, x, size = contiguous(grad), contiguous(x), grad.shape[2:]
    if windows.are_pixels():
        length = math.prod(size)
        of_outputs, image, axes = _line(grad, length), _line(x, length), [(length, *_NO_AXIS[1:])]
    else:
        of_outputs, image = _volume(grad), _volume(x)
        axes = [
            (count, kernel, stride, dilation, before, 0, 1)
            for count, kernel, stride, dilation, (before, _) in zip(size, *windows, strict=True)
        ]
    kernel.convolve_weights(
        of_outputs, image, out.reshape(*shape[:2], -1), _axes(axes), groups, threads.limit
    )
    return out


def _is_covered(*arrays: FloatArray) -> bool:
    return all(each.dtype == _FLOAT32 and each.size > 0 for each in arrays)


def _line(x: FloatArray, length: int) -> FloatArray:
    return x.reshape(*x.shape[:2], 1, 1, length)


def _volume(x: FloatArray) -> FloatArray:
    """``(batch, channels, depth, height, width)``; a line is a volume of one line."""
    return x.reshape(*x.shape[:2], *(1,) * (5 - x.ndim), *x.shape[2:])


def _axes(axes: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    return (*(_NO_AXIS,) * (3 - len(axes)), *axes)


def _steps(kernel: tuple[int, ...]) -> tuple[int, ...]:
    """How many numbers of a filter from one tap to the next, along each of three axes."""
    _, height, width = (1, 1, *kernel)[-3:]
    return height * width, width, 1
