"""Weights of a convolution, laid out for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from pyqref._kernels.qgemm.pack import PackedLinear, pack_linear
from pyqref.numerics.types import IntArray

__all__ = ["PackedConv", "pack_conv1d", "pack_conv2d", "pack_conv3d"]

#: Channels of a depthwise weight are padded to a multiple of this.
_LANES = 16


@dataclass(frozen=True)
class PackedConv:
    """int8 weights ``(N, C // groups, *kernel)`` for the kernels.

    A convolution is a matrix product of the windows of the image (rows) with the
    weights of each output channel (columns), one product a group. Each group is packed
    as :class:`pyqref._kernels.PackedLinear` says, with the depth in the order
    ``(*kernel, C // groups)``. Depthwise weights (one channel in and out of each group)
    are kept as ``(taps, N)`` instead, N padded with zeros to a multiple of 16.

    Attributes
    ----------
    panels
        int8, one dimension: the packed groups one after another, or the taps.
    sums
        int32 ``(N,)``: the sum of the weights of each output channel.
    shape
        ``(N, C // groups, *kernel)``.
    groups
        Number of groups.
    """

    panels: IntArray
    sums: IntArray
    shape: tuple[int, ...]
    groups: int

    @property
    def is_depthwise(self) -> bool:
        """Whether each output channel looks at one input channel of its own."""
        return self.shape[0] == self.groups and self.shape[1] == 1

    @property
    def depth(self) -> int:
        """Products in each sum."""
        return prod(self.shape[1:])

    @property
    def weight(self) -> IntArray:
        """The int8 weights ``(N, C // groups, *kernel)`` again, unpacked."""
        outputs, inputs, *kernel = self.shape
        if self.is_depthwise:
            rows = self.panels.reshape(self.depth, -1)[:, :outputs].T
        else:
            each = outputs // self.groups
            rows = np.concatenate(
                [
                    PackedLinear(panels, self.sums, each, self.depth).weight
                    for panels in self.panels.reshape(self.groups, -1)
                ]
            )
        return np.moveaxis(rows.reshape(outputs, *kernel, inputs), -1, 1)


def _pack(weight: IntArray, groups: int, dimensions: int) -> PackedConv:
    weight = np.asarray(weight, np.int8)
    assert weight.ndim == dimensions + 2
    outputs = weight.shape[0]
    rows = np.moveaxis(weight, 1, -1).reshape(outputs, prod(weight.shape[1:]))
    sums = rows.sum(axis=1, dtype=np.int32)
    if outputs == groups and weight.shape[1] == 1:
        panels = np.zeros((rows.shape[1], -(-outputs // _LANES) * _LANES), np.int8)
        panels[:, :outputs] = rows.T
    elif groups == 1:
        panels = pack_linear(rows).panels
    else:
        each = outputs // groups
        panels = np.concatenate(
            [pack_linear(rows[g * each : (g + 1) * each]).panels for g in range(groups)]
        )
    return PackedConv(panels.reshape(-1), sums, weight.shape, groups)


def pack_conv1d(weight: IntArray, groups: int = 1) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, kW)``."""
    return _pack(weight, groups, 1)


def pack_conv2d(weight: IntArray, groups: int = 1) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, kH, kW)``.

    Examples
    --------
    >>> packed = pack_conv2d(np.ones((2, 3, 5, 5), np.int8))
    >>> packed.depth, packed.sums
    (75, array([75, 75], dtype=int32))
    >>> packed.weight.shape
    (2, 3, 5, 5)
    """
    return _pack(weight, groups, 2)


def pack_conv3d(weight: IntArray, groups: int = 1) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, kD, kH, kW)``."""
    return _pack(weight, groups, 3)
