"""Convolution of floats by the kernel in use, and its gradients."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import float_convolution as reference
from pyqref.numerics.phases import filters_of_phase, phases, places_of_phase
from pyqref.numerics.types import FloatArray
from pyqref.numerics.windows import Windows

__all__ = ["convolution", "convolution_gradient", "convolution_weight_gradient"]

_FLOAT32 = np.dtype(np.float32)
#: A spatial axis that is not there: windows, their size, stride, dilation, padding; of results the
#: first place, the step and the number of places.
_NO_AXIS = (1, 1, 1, 1, 0, 0, 1, 1)


def convolution(
    x: FloatArray, weight: FloatArray, bias: FloatArray | None, windows: Windows, groups: int
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_convolution.convolution`."""
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
        image, result, axes = (
            _line(x, length),
            _line(out, length),
            [(length, *_NO_AXIS[1:-1], length)],
        )
    else:
        image, result = _volume(x), _volume(out)
        axes = [
            (count, kernel, stride, dilation, before, 0, 1, count)
            for count, kernel, stride, dilation, (before, _) in zip(size, *windows, strict=True)
        ]
    filters = weight.reshape(*weight.shape[:2], -1)
    kernel.convolve(
        image, filters, bias, result, _axes(axes), (1, 1, 1), None, groups, threads.limit
    )
    return out


def convolution_gradient(
    grad: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    windows: Windows,
    groups: int,
    size: tuple[int, ...],
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_convolution.convolution_gradient`."""
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
    if _are_apart(windows, grad.shape[2:], size):
        _taps_apart(kernel, grad, weight, bias, windows, groups, out)
        return out
    every = np.arange(math.prod(windows.kernel)).reshape(windows.kernel)
    for phase in phases(windows, size):
        if not all(part.places for part in phase):
            continue
        if not all(part.taps for part in phase):
            out[places_of_phase(phase)] = 0 if bias is None else bias.reshape(-1, *(1,) * len(size))
            continue
        order = tuple(filters_of_phase(phase, every).ravel().tolist())
        axes = [
            (
                part.places,
                len(part.taps),
                1,
                part.dilation,
                part.before,
                part.first,
                part.step,
                length,
            )
            for part, length in zip(phase, size, strict=True)
        ]
        kernel.convolve(
            _volume(grad),
            weight.reshape(*weight.shape[:2], -1),
            bias,
            _volume(out),
            _axes(axes),
            (1, 1, 1),
            order,
            groups,
            threads.limit,
        )
    return out


def _are_apart(windows: Windows, count: tuple[int, ...], size: tuple[int, ...]) -> bool:
    """Return True if every place of an image is in exactly one window."""
    lengths = tuple(map(operator.mul, count, windows.stride))
    return (
        windows.kernel == windows.stride
        and size == lengths
        and set(windows.dilation) == {1}
        and not any(map(any, windows.padding))
    )


def _taps_apart(
    kernel: ModuleType,
    grad: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    windows: Windows,
    groups: int,
    out: FloatArray,
) -> None:
    """Windows that lie beside each other: taps are outputs of windows of one place."""
    taps = math.prod(windows.kernel)
    axes = [
        (count, 1, 1, 1, 0, 0, step, count * step)
        for count, step in zip(grad.shape[2:], windows.stride, strict=True)
    ]
    kernel.convolve(
        _volume(grad),
        weight.reshape(len(weight), -1, 1),
        None if bias is None else np.repeat(bias, taps),
        _volume(out),
        _axes(axes),
        (1, 1, 1, *windows.kernel)[-3:],
        (0,),
        groups,
        threads.limit,
    )


def convolution_weight_gradient(
    grad: FloatArray, x: FloatArray, windows: Windows, groups: int
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_convolution.convolution_weight_gradient`."""
    kernel = registry.twin("windows")
    if kernel is None or not _is_covered(grad, x):
        return reference.convolution_weight_gradient(grad, x, windows, groups)
    shape = (grad.shape[1], x.shape[1] // groups, *windows.kernel)
    out = np.empty(shape, _FLOAT32)
    grad, x, size = contiguous(grad), contiguous(x), grad.shape[2:]
    if windows.are_pixels():
        length = math.prod(size)
        of_outputs, image, axes = (
            _line(grad, length),
            _line(x, length),
            [(length, *_NO_AXIS[1:-1], length)],
        )
    else:
        of_outputs, image = _volume(grad), _volume(x)
        axes = [
            (count, kernel, stride, dilation, before, 0, 1, count)
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


def _axes(axes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    return (*(_NO_AXIS,) * (3 - len(axes)), *axes)
