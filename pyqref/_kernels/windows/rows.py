"""Windows as rows by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import windows as reference
from pyqref.numerics.types import FloatArray
from pyqref.numerics.windows import Windows

__all__ = ["channels_first", "channels_last", "fold_rows", "geometry_of", "unfold_rows"]

_FLOAT32 = np.dtype(np.float32)


def channels_last(x: FloatArray) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.channels_last`."""
    kernel = registry.twin("windows")
    if kernel is None or x.dtype != _FLOAT32 or not x.flags.c_contiguous:
        return reference.channels_last(x)
    batch, channels, *size = x.shape
    length = math.prod(size)
    if length == 1:
        return x.reshape(batch, channels)
    out = np.empty((batch, length, channels), _FLOAT32)
    kernel.transpose(x.reshape(batch, channels, length), out, threads.limit)
    return out.reshape(batch * length, channels)


def channels_first(x: FloatArray) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.channels_first`."""
    kernel = registry.twin("windows")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.channels_first(x)
    batch, *size, channels = x.shape
    length = math.prod(size)
    if length == 1:
        return contiguous(x).reshape(batch, channels, *size)
    out = np.empty((batch, channels, *size), _FLOAT32)
    kernel.transpose(
        contiguous(x).reshape(batch, length, channels),
        out.reshape(batch, channels, length),
        threads.limit,
    )
    return out


def unfold_rows(x: FloatArray, windows: Windows) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.unfold_rows`."""
    kernel = registry.twin("windows")
    size = x.shape[2:]
    shape = (x.shape[0], *windows.output_size(size), *windows.kernel, x.shape[1])
    if windows.are_pixels():
        return channels_last(x).reshape(shape)
    if kernel is None or not _is_covered(x, size) or 0 in shape:
        return reference.unfold_rows(x, windows)
    rows = np.empty(shape, _FLOAT32)
    kernel.unfold_rows(
        _image(contiguous(x), size),
        _plane(rows, size),
        geometry_of(windows),
        threads.limit,
    )
    return rows


def fold_rows(rows: FloatArray, windows: Windows, size: tuple[int, ...]) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.windows.fold_rows`."""
    kernel = registry.twin("windows")
    batch, channels = rows.shape[0], rows.shape[-1]
    if windows.are_pixels():
        return channels_first(rows.reshape(batch, *size, channels))
    if kernel is None or not _is_covered(rows, size):
        return reference.fold_rows(rows, windows, size)
    images = np.empty((batch, channels, *size), _FLOAT32)
    kernel.fold_rows(
        _plane(contiguous(rows), size),
        _image(images, size),
        geometry_of(windows),
        threads.limit,
    )
    return images


def _is_covered(x: FloatArray, size: tuple[int, ...]) -> bool:
    return x.dtype == _FLOAT32 and 1 <= len(size) <= 2 and x.size > 0 and 0 not in size


def _image(x: FloatArray, size: tuple[int, ...]) -> FloatArray:
    """``(batch, channels, height, width)``; a line is a plane of one line."""
    return x if len(size) == 2 else x[:, :, None]


def _plane(rows: FloatArray, size: tuple[int, ...]) -> FloatArray:
    """``(batch, *out_size, *kernel, channels)`` with two spatial axes."""
    return rows if len(size) == 2 else rows[:, None, :, None]


def geometry_of(windows: Windows) -> tuple[int, ...]:
    """Stride, dilation and padding before, each along height and width."""
    before = tuple(each[0] for each in windows.padding)
    one: Any = () if len(before) == 2 else (1,)
    none: Any = () if len(before) == 2 else (0,)
    return (*one, *windows.stride, *one, *windows.dilation, *none, *before)
