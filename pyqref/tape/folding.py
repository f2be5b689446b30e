"""The windows of a picture as columns of a matrix, and back, as operations of their own."""

from __future__ import annotations

import math

import numpy as np

from .operation import Array, Operation
from .windows import Windows, fold, unfold

__all__ = ["Fold", "Unfold"]


def _to_blocks(columns: Array, spatial: int) -> Array:
    """``(C, *kernel, N, *count)`` as ``(N, C * K, L)``."""
    batch = columns.shape[1 + spatial]
    rows = math.prod(columns.shape[: 1 + spatial])
    count = math.prod(columns.shape[2 + spatial :])
    return np.ascontiguousarray(columns.reshape(rows, batch, count).swapaxes(0, 1))


def _from_blocks(blocks: Array, kernel: tuple[int, ...], count: tuple[int, ...]) -> Array:
    """The inverse of :func:`_to_blocks`."""
    batch, rows, _ = blocks.shape
    channels = rows // math.prod(kernel)
    return blocks.swapaxes(0, 1).reshape(channels, *kernel, batch, *count)


class Unfold(Operation):
    """``Unfold(x, windows)``: ``(N, C, *size)`` to ``(N, C * K, L)``, a window a column."""

    def forward(self, x: Array, windows: Windows) -> Array:
        self.windows, self.size = windows, x.shape[2:]
        return _to_blocks(unfold(x, windows), len(windows.kernel))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        count = self.windows.output_size(self.size)
        columns = _from_blocks(grads[0], self.windows.kernel, count)
        return (fold(columns, self.windows, self.size),)


class Fold(Operation):
    """``Fold(x, windows, size)``: ``(N, C * K, L)`` to ``(N, C, *size)``, columns added up."""

    def forward(self, x: Array, windows: Windows, size: tuple[int, ...]) -> Array:
        self.windows = windows
        columns = _from_blocks(x, windows.kernel, windows.output_size(size))
        return np.ascontiguousarray(fold(columns, windows, size))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (_to_blocks(unfold(grads[0], self.windows), len(self.windows.kernel)),)
