"""Sliding windows: from an array to the columns under a kernel, and back.

:func:`unfold` lays every window of an array out as one column of a matrix, so that
a convolution becomes one matrix product. :func:`fold` is its adjoint: it adds the
columns back to where they came from. Both work for any number of spatial axes and
loop over the positions in the kernel, never over the pixels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .operation import Array

__all__ = ["Windows", "fold", "fold_last", "pad_spatial", "unfold", "unfold_last"]


class Windows(NamedTuple):
    """Where the windows lie; one entry of each tuple for each spatial axis.

    Attributes
    ----------
    kernel, stride, dilation
        Size of the window, distance between windows, distance inside a window.
    padding
        Elements added before and after each axis, as pairs.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]

    @classmethod
    def make(
        cls,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
    ) -> Windows:
        """Windows with the same padding on both sides of an axis."""
        return cls(kernel, stride, dilation, tuple((p, p) for p in padding))

    def output_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """How many windows fit along each axis of an array of this spatial size."""
        return tuple(
            (length + before + after - dilation * (kernel - 1) - 1) // stride + 1
            for length, kernel, stride, dilation, (before, after) in zip(size, *self, strict=True)
        )

    def padded_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """Spatial size with the padding."""
        return tuple(
            length + before + after
            for length, (before, after) in zip(size, self.padding, strict=True)
        )

    def interior(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        """Index ``(..., *slices)`` of the array of this spatial size inside the padded one."""
        slices = (
            slice(before, before + length)
            for length, (before, _) in zip(size, self.padding, strict=True)
        )
        return (..., *slices)

    def positions(
        self, output_size: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """Each position in the kernel, and the index of the elements that it meets.

        The index, ``(..., *slices)``, is that of the padded array.
        """
        for position in itertools.product(*map(range, self.kernel)):
            slices = (
                slice(k * dilation, k * dilation + (count - 1) * stride + 1, stride)
                for k, dilation, stride, count in zip(
                    position, self.dilation, self.stride, output_size, strict=True
                )
            )
            yield position, (..., *slices)


def pad_spatial(x: Array, windows: Windows, value: float = 0) -> Array:
    """``x`` of shape ``(..., *size)`` with a border of ``value``; ``x`` itself if there is none."""
    if not any(before or after for before, after in windows.padding):
        return x
    leading, size = x.shape[: -len(windows.kernel)], x.shape[-len(windows.kernel) :]
    padded = np.full((*leading, *windows.padded_size(size)), value, dtype=x.dtype)
    padded[windows.interior(size)] = x
    return padded


def unfold(x: Array, windows: Windows) -> Array:
    """The columns of ``x`` under the kernel.

    Parameters
    ----------
    x
        Array of shape ``(N, C, *size)``.
    windows
        Where the windows lie.

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
    return np.ascontiguousarray(view)


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


def unfold_last(x: Array, windows: Windows) -> Array:
    """The rows of ``x`` under the kernel, channels last.

    Copies all channels of a pixel at once, and so is faster than :func:`unfold` where there are
    many.

    Parameters
    ----------
    x
        Array of shape ``(N, C, *size)``.
    windows
        Where the windows lie.

    Returns
    -------
    array of shape ``(N, *output_size, *kernel, C)``
        Contiguous, so that it reshapes to a matrix ``(N * L, K * C)``.
    """
    size = x.shape[2:]
    padded = np.moveaxis(x, 1, -1)
    if any(before or after for before, after in windows.padding):
        inside = padded
        padded = np.zeros((x.shape[0], *windows.padded_size(size), x.shape[1]), dtype=x.dtype)
        np.moveaxis(padded, -1, 1)[windows.interior(size)] = np.moveaxis(inside, -1, 1)
    strides = padded.strides[1:-1]
    view = np.lib.stride_tricks.as_strided(
        padded,
        (x.shape[0], *windows.output_size(size), *windows.kernel, x.shape[1]),
        (
            padded.strides[0],
            *(s * step for s, step in zip(strides, windows.stride, strict=True)),
            *(s * d for s, d in zip(strides, windows.dilation, strict=True)),
            padded.strides[-1],
        ),
        writeable=False,
    )
    return np.ascontiguousarray(view)


def fold_last(rows: Array, windows: Windows, size: tuple[int, ...]) -> Array:
    """Add rows back to an array of shape ``(N, *size, C)``; the adjoint of :func:`unfold_last`.

    Parameters
    ----------
    rows
        Array of shape ``(N, *output_size, *kernel, C)``.
    windows
        Where the windows lie.
    size
        Spatial size of the result.
    """
    spatial = len(size)
    batch, channels, output_size = rows.shape[0], rows.shape[-1], rows.shape[1 : 1 + spatial]
    if set(windows.kernel + windows.stride) == {1} and size == output_size:
        return rows.reshape(batch, *size, channels)
    padded = np.zeros((batch, *windows.padded_size(size), channels), dtype=rows.dtype)
    every = (slice(None),) * (1 + spatial)
    for position, (_, *where) in windows.positions(output_size):
        at: tuple[Any, ...] = (*every, *position)
        padded[(slice(None), *where)] += rows[at]
    _, *inside = windows.interior(size)
    interior: Array = padded[(slice(None), *inside)]
    return interior
