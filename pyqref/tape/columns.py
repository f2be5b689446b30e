"""Convolutions whose windows are the columns of a matrix, channels first.

``y[image] = filters @ columns + bias`` has the layout of the result, so nothing is transposed.
Columns are laid out for some pixels of an image at a time, so that they stay in the processor's
cache. Windows of one pixel are not laid out at all: the image is their matrix.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from pyqref import _kernels

from . import products
from .operation import Array
from .windows import Windows, unfold

__all__ = ["are_rows_faster", "multiply_columns"]

#: Numbers that are laid out at a time, but not for fewer pixels than these.
_BLOCK, _FEWEST = 1 << 17, 512


def are_rows_faster(x: Array, windows: Windows) -> bool:
    """Return True if windows are laid out faster as rows of some images at a time.

    An image of few pixels has less work than it costs to read the filters anew.

    Examples
    --------
    >>> windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    >>> [are_rows_faster(np.empty((8, 256, n, n)), windows) for n in (7, 14, 28)]
    [True, True, False]
    """
    depth, length = _sizes(x, windows)
    most = 16 if windows.are_pixels() else 4
    return len(x) > 1 and depth > most * length


def multiply_columns(x: Array, windows: Windows, filters: Array, bias: Array | None) -> Array:
    """Return ``filters (outputs, C * K)`` times the windows, plus the bias.

    The result is ``(N, outputs, *size)``. Which pixels and outputs are multiplied at a time depends
    on the shapes alone, and so do the bits of the result.

    Examples
    --------
    >>> windows = Windows.make((2,), (1,), (0,), (1,))
    >>> multiply_columns(np.array([[[1.0, 2, 4]]]), windows, np.array([[1.0, 10]]), np.ones(1))
    array([[[22., 43.]]])
    """
    depth, length = _sizes(x, windows)
    step, share = _sizes_of_task(len(x), length, depth, len(filters))
    with products.held_back() as n_threads:
        done = _kernels.multiply_columns(x, windows, filters, bias, step, share, n_threads)
    if done is not None:
        return done
    size = windows.output_size(x.shape[2:])
    out = np.empty((len(x), len(filters), length), np.result_type(x, filters))
    line = math.prod(size[1:])  # windows that share their place on the first axis

    def fill(image: int, outputs: slice, pixels: slice, multiply: Any) -> None:
        if windows.are_pixels():
            columns = x[image].reshape(depth, length)[:, pixels]
        else:
            first, last = pixels.start // line, -(-min(pixels.stop, length) // line)
            some = unfold(x[image : image + 1], windows, slice(first, last)).reshape(depth, -1)
            inside = slice(pixels.start - first * line, pixels.stop - first * line)
            columns = np.ascontiguousarray(some[:, inside])
        filled = out[image, outputs, pixels]
        multiply(filters[outputs], columns, filled)
        if bias is not None:
            filled += bias[outputs, np.newaxis]

    tasks = [
        functools.partial(fill, image, slice(output, output + share), slice(pixel, pixel + step))
        for image in range(len(x))
        for pixel in range(0, length, step)
        for output in range(0, len(filters), share)
    ]
    products.run(tasks, out.size * depth)
    return out.reshape(len(x), len(filters), *size)


def _sizes(x: Array, windows: Windows) -> tuple[int, int]:
    """Numbers in a window, and windows of an image."""
    return math.prod(windows.kernel) * x.shape[1], math.prod(windows.output_size(x.shape[2:]))


def _sizes_of_task(images: int, length: int, depth: int, outputs: int) -> tuple[int, int]:
    """Pixels and outputs of a task: blocks are equal, and those of one image a power of two."""
    blocks = max(-(-length // max(_BLOCK // max(depth, 1), _FEWEST)), 1)
    if images == 1:
        blocks = 1 << (blocks - 1).bit_length()
    step = -(-length // (16 * blocks)) * 16
    is_one_large = images * blocks == 1 and products.is_large(length * depth * outputs)
    return max(step, 1), max(-(-outputs // 2) if is_one_large else outputs, 1)
