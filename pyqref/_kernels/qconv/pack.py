"""Weights of a convolution, laid out for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from pyqref._kernels.qgemm.pack import PackedLinear, pack_linear
from pyqref.numerics.types import IntArray

__all__ = ["PackedConv", "pack_conv", "pack_conv1d", "pack_conv2d", "pack_conv3d"]

#: Channels of a depthwise weight are padded to a multiple of this; a strip has as many.
_LANES = 16
#: Channels of groups that are packed as strips, and the most products of an output.
_STRIP_GROUPS, _STRIP_DEPTH = (4, 8, 16), 2048
#: Groups are joined up to as many outputs, and so many bytes with the zeros between them.
_JOINED_OUTPUTS, _JOINED_BYTES = 32, 1 << 18


@dataclass(frozen=True)
class PackedConv:
    """int8 weights ``(N, C // groups, *kernel)`` for the kernels.

    A convolution is a matrix product of the windows of the image (rows) with the
    weights of each output channel (columns), one product a group. Each group is packed
    as :class:`pyqref._kernels.PackedLinear` says, with the depth in the order
    ``(*kernel, C // groups)``. Groups with few outputs are joined when they are used: together
    they are one group whose weights are zero where they belong to different ones, which is
    faster than many small products. These are kept as they are, ``(N, depth)``, without zeros.
    Groups of 4, 8 or 16 channels in and out are *strips* of 16 outputs instead,
    ``(N / 16, depth / 4, 16, 4)``, which :file:`grouped.pxd` multiplies without any zeros.
    Depthwise weights (one channel in and out of each group) are kept as ``(taps, N)`` instead,
    N padded with zeros to a multiple of 16. Weights with zero points are neither: each of their
    groups is packed for itself.

    Attributes
    ----------
    panels
        int8, one dimension: the packed groups one after another, the rows of joined ones, the
        strips, or the taps.
    sums
        int32 ``(N,)``: the sum of the weights of each output channel.
    shape
        ``(N, C // groups, *kernel)``.
    groups
        Number of groups.
    joined
        How many groups are one while they are multiplied.
    in_strips, is_depthwise
        Whether the weights are strips, or taps.
    """

    panels: IntArray
    sums: IntArray
    shape: tuple[int, ...]
    groups: int
    joined: int = 1
    in_strips: bool = False
    is_depthwise: bool = False

    @cached_property
    def depth(self) -> int:
        """Products in each sum."""
        return prod(self.shape[1:])

    @cached_property
    def _fewer_taps(self) -> dict[tuple[tuple[int, int], ...], PackedConv]:
        return {}

    def with_taps(self, taps: tuple[slice, ...]) -> PackedConv:
        """Pack the weights of some taps along each axis, once for all calls.

        They are strips or taps where these are; other groups are packed for themselves.
        """
        key = tuple([(each.start, each.stop) for each in taps])
        if key not in self._fewer_taps:
            alike = self.in_strips or self.is_depthwise
            some = self.weight[(..., *taps)]
            self._fewer_taps[key] = pack_conv(some, self.groups, centred=alike)
        return self._fewer_taps[key]

    @property
    def weight(self) -> IntArray:
        """The int8 weights ``(N, C // groups, *kernel)`` again, unpacked."""
        outputs, inputs, *kernel = self.shape
        if self.is_depthwise:
            rows = self.panels.reshape(self.depth, -1)[:, :outputs].T
        elif self.joined > 1:
            rows = self.panels
        elif self.in_strips:
            strips = self.panels.view(np.int32).reshape(-1, self.depth // 4, _LANES)
            rows = np.ascontiguousarray(strips.swapaxes(1, 2)).view(np.int8)
        else:
            columns = outputs // self.groups
            rows = np.concatenate(
                [
                    PackedLinear(panels, self.sums, columns, self.depth).weight
                    for panels in self.panels.reshape(self.groups, -1)
                ]
            )
        return np.moveaxis(rows.reshape(outputs, *kernel, inputs), -1, 1)


def _groups_to_join(groups: int, outputs: int, depth: int) -> int:
    """The largest number of groups that divides all, has few outputs and takes little memory."""
    most = max(1, _JOINED_OUTPUTS // max(1, outputs))
    most = max(1, min(most, _JOINED_BYTES // (_JOINED_OUTPUTS * max(1, depth))))
    return max(each for each in range(1, most + 1) if groups % each == 0)


def _fit_strips(outputs: int, inputs: int, groups: int, depth: int) -> bool:
    """Return True if groups have equally many channels in and out, few enough to fill strips."""
    square = inputs * groups == outputs and inputs in _STRIP_GROUPS
    return square and outputs % _LANES == 0 and 0 < depth <= _STRIP_DEPTH


def pack_conv(weight: IntArray, groups: int = 1, *, centred: bool = True) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, *kernel)``; ``centred`` ones have no zero points but 0.

    Of others the inputs under each window are added up, too: every group is packed for itself.
    """
    weight = np.asarray(weight, np.int8)
    outputs = weight.shape[0]
    rows = np.moveaxis(weight, 1, -1).reshape(outputs, prod(weight.shape[1:]))
    sums = rows.sum(axis=1, dtype=np.int32)
    joined = _groups_to_join(groups, outputs // groups, rows.shape[1]) if centred else 1
    is_depthwise = centred and outputs == groups and weight.shape[1] == 1
    if is_depthwise:
        joined = 1
        panels = np.zeros((rows.shape[1], -(-outputs // _LANES) * _LANES), np.int8)
        panels[:, :outputs] = rows.T
    elif groups == 1:
        joined = 1
        panels = pack_linear(rows).panels
    elif centred and _fit_strips(outputs, weight.shape[1], groups, rows.shape[1]):
        words = np.ascontiguousarray(rows).view(np.int32).reshape(-1, _LANES, rows.shape[1] // 4)
        panels = np.ascontiguousarray(words.swapaxes(1, 2)).view(np.int8)
        return PackedConv(panels.reshape(-1), sums, weight.shape, groups, in_strips=True)
    elif joined > 1:
        panels = np.ascontiguousarray(rows)
    else:
        each = rows.reshape(groups, outputs // groups, rows.shape[1])
        panels = np.concatenate([pack_linear(group).panels for group in each])
    return PackedConv(panels.reshape(-1), sums, weight.shape, groups, joined, False, is_depthwise)


def _pack_checked(weight: IntArray, axes: int, groups: int, centred: bool) -> PackedConv:
    assert weight.ndim == axes + 2
    return pack_conv(weight, groups, centred=centred)


def pack_conv1d(weight: IntArray, groups: int = 1, *, centred: bool = True) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, kW)``, as :func:`pack_conv` does."""
    return _pack_checked(weight, 1, groups, centred)


def pack_conv2d(weight: IntArray, groups: int = 1, *, centred: bool = True) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, kH, kW)``.

    Examples
    --------
    >>> packed = pack_conv2d(np.ones((2, 3, 5, 5), np.int8))
    >>> packed.depth, packed.sums
    (75, array([75, 75], dtype=int32))
    >>> packed.weight.shape
    (2, 3, 5, 5)
    """
    return _pack_checked(weight, 2, groups, centred)


def pack_conv3d(weight: IntArray, groups: int = 1, *, centred: bool = True) -> PackedConv:
    """Pack int8 weights ``(N, C // groups, kD, kH, kW)``."""
    return _pack_checked(weight, 3, groups, centred)
