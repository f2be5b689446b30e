"""Sliding windows: from an array to the columns under a kernel, and back.

:func:`unfold` lays every window of an array out as one column of a matrix, so that
a convolution becomes one matrix product. :func:`fold` is its adjoint: it adds the
columns back to where they came from. Both work for any number of spatial axes and
loop over the positions in the kernel, never over the pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.windows import Windows as Windows
from pyqref.numerics.windows import in_order
from pyqref.numerics.windows import pad_spatial as pad_spatial

from .operation import Array

__all__ = ["Windows", "fold", "pad_spatial", "unfold"]


def unfold(x: Array, windows: Windows, lines: slice = slice(None)) -> Array:
    """The columns of ``x`` under the kernel.

    Parameters
    ----------
    x
        Array of shape ``(N, C, *size)``.
    windows
        Where the windows lie.
    lines
        Those of the first axis of the result's ``output_size`` that are wanted; all by default.

    Returns
    -------
    array of shape ``(C, *kernel, N, *output_size)``
        Contiguous, so that it reshapes to a matrix ``(C * K, N * L)``.
    """
    padded = pad_spatial(x, windows)
    strides = padded.strides
    view = np.lib.stride_tricks.as_strided(
        padded,
        (x.shape[1], *windows.kernel, x.shape[0], *windows.output_size(x.shape[2:])),
        (
            strides[1],
            *(s * d for s, d in zip(strides[2:], windows.dilation, strict=True)),
            strides[0],
            *(s * d for s, d in zip(strides[2:], windows.stride, strict=True)),
        ),
        writeable=False,
    )
    return in_order(view[(slice(None),) * (2 + len(windows.kernel)) + (lines,)])


def fold(columns: Array, windows: Windows, size: tuple[int, ...]) -> Array:
    """Add columns back to an array of shape ``(N, C, *size)``; the adjoint of :func:`unfold`.

    Parameters
    ----------
    columns
        Array of shape ``(C, *kernel, N, *output_size)``.
    windows
        Where the windows lie.
    size
        Spatial size of the result.
    """
    spatial = len(size)
    channels, batch = columns.shape[0], columns.shape[1 + spatial]
    output_size = columns.shape[2 + spatial :]
    # Windows of one element, a step apart, with nothing around: each column is its own place.
    if set(windows.kernel + windows.stride) == {1} and size == output_size:
        return columns.reshape(channels, batch, *size).swapaxes(0, 1)
    padded = np.zeros((channels, batch, *windows.padded_size(size)), dtype=columns.dtype)
    for position, where in windows.positions(output_size):
        at: tuple[Any, ...] = (slice(None), *position)
        padded[where] += columns[at]
    return padded[windows.interior(size)].swapaxes(0, 1)
