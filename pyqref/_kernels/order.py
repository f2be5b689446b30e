"""Bytes in C order: what NumPy copies one by one, a kernel transposes in blocks."""

from __future__ import annotations

from math import prod

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, in_result_order

__all__ = ["in_c_order", "with_channels_as", "with_channels_last"]

#: Channels from which on the kernel transposes them.
TRANSPOSED = 16


def with_channels_last(x: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """Move the channels of a part of an image or a volume last, if they lie last in memory.

    Returns the view and the order that moves its axes back; None where they lie otherwise. Results
    of such parts have their channels last, as those of a whole have.

    Examples
    --------
    >>> part = np.zeros((2, 5, 3, 8)).transpose(0, 3, 1, 2)[:, :4]
    >>> with_channels_last(part)[0].shape
    (2, 5, 3, 4)
    >>> with_channels_last(part.copy()) is None
    True
    """
    if not 4 <= x.ndim <= 5 or x.size == 0:
        return None
    order = 0, *range(2, x.ndim), 1
    last = x.transpose(order)
    span = x.itemsize
    for length, step in zip(reversed(last.shape), reversed(last.strides), strict=True):
        if length != 1:
            if step < span:
                return None
            span = step * length
    return last, (0, x.ndim - 1, *range(1, x.ndim - 1))


def with_channels_as(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ``y``, with its channels last in memory if those of ``x``, an image, too, are.

    Examples
    --------
    >>> x = np.zeros((1, 3, 3, 2)).transpose(0, 3, 1, 2)
    >>> with_channels_as(x, np.zeros((1, 2, 5, 5))).strides
    (400, 8, 80, 16)
    """
    last = None if x.flags.c_contiguous or x.ndim != y.ndim else with_channels_last(x)
    if last is None:
        return y
    return contiguous(y.transpose(0, *range(2, y.ndim), 1)).transpose(last[1])


def in_c_order(x: np.ndarray) -> np.ndarray:
    """Return ``x`` itself if its elements lie in C order without gaps, else a copy that does.

    With many channels, last in memory, it is a kernel that transposes bytes.

    Examples
    --------
    >>> in_c_order(np.zeros((1, 4, 5, 3), np.uint8).transpose(0, 3, 1, 2)).strides
    (60, 20, 5, 1)
    """
    x = in_result_order(x)
    kernel = registry.twin("normalization")
    if kernel is None or x.flags.c_contiguous or x.dtype.itemsize != 1 or x.shape[1] < TRANSPOSED:
        return contiguous(x)
    batch, channels, *size = x.shape
    ordered = np.empty((batch, channels, prod(size)), x.dtype)
    pixels = x.transpose(0, *range(2, x.ndim), 1).reshape(batch, -1, channels)
    kernel.put_channels_first(pixels, ordered, threads.limit)
    return ordered.reshape(x.shape)
