"""Weights as those want them who finish sums: some outputs at a time, or also some depths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from pyqref._kernels.parts import parts
from pyqref._kernels.qgemm.pack import PANEL, PackedLinear, pack_linear
from pyqref.numerics.types import IntArray

from .pack import PackedConv, pack_conv

__all__ = ["Piece", "in_panels", "in_pieces"]

#: Bytes of weights that are packed anew at a time, and depths of a piece.
_PANELS, _DEPTH = 1 << 17, 1 << 10


class Piece(NamedTuple):
    """Some taps and channels of some outputs.

    Attributes
    ----------
    first
        The first tap along each axis.
    channels
        Those of the input.
    weights
        As a convolution of their own.
    """

    first: tuple[int, ...]
    channels: slice
    weights: PackedConv


#: Outputs, and what gives the pieces whose sums are theirs.
Cut = Iterator[tuple[slice, Callable[[], Iterable[Piece]]]]


def in_panels(packed: PackedConv) -> Cut:
    """All depths at once, as panels: those of strips and depthwise weights are packed anew."""
    first = (0,) * len(packed.shape[2:])
    if not (packed.in_strips or packed.is_depthwise):
        yield slice(packed.shape[0]), lambda: [Piece(first, slice(None), packed)]
        return
    weight, inputs = packed.weight, packed.shape[1]
    outputs = packed.shape[0] // packed.groups
    groups = max(1, _PANELS // (16 * max(packed.depth, 1)))
    for start in range(0, packed.groups, groups):
        stop = min(start + groups, packed.groups)
        rows = slice(start * outputs, stop * outputs)
        piece = Piece(
            first,
            slice(start * inputs, stop * inputs),
            pack_conv(weight[rows], stop - start, centred=False),
        )
        yield rows, partial(list, [piece])


def in_pieces(packed: PackedConv) -> Cut:
    """Outputs of one panel, whose weights are packed anew, so few depths that 32 bits hold sums."""
    outputs = packed.shape[0] // packed.groups
    for group in range(packed.groups):
        for first in range(0, outputs, PANEL):
            columns = slice(first, min(first + PANEL, outputs))
            rows = slice(group * outputs + columns.start, group * outputs + columns.stop)
            yield rows, partial(_pieces, packed, group, columns)


def _pieces(packed: PackedConv, group: int, columns: slice) -> Iterator[Piece]:
    """All pieces of some outputs of a group."""
    inputs = packed.shape[1]
    depths = np.broadcast_to(np.int8(0), (*packed.shape[2:], inputs))
    for box in parts(depths, most=_DEPTH):
        start = int(np.ravel_multi_index([each.start for each in box], depths.shape))
        *window, channels = depths[box].shape
        rows = _rows(packed, group, columns, start, start + prod((*window, channels)))
        panels = pack_linear(rows)
        begin = group * inputs + box[-1].start
        yield Piece(
            tuple(each.start for each in box[:-1]),
            slice(begin, begin + channels),
            PackedConv(panels.panels, panels.sums, (len(rows), channels, *window), 1),
        )


def _rows(packed: PackedConv, group: int, columns: slice, start: int, stop: int) -> IntArray:
    """Weights ``(columns, stop - start)`` of outputs of one panel, unpacked."""
    if packed.is_depthwise:
        return packed.panels.reshape(packed.depth, -1)[start:stop, group : group + 1].T
    panels = packed.panels.reshape(packed.groups, -1)[group]
    outputs = packed.shape[0] // packed.groups
    linear, skipped = PackedLinear(panels, packed.sums, outputs, packed.depth), start % 4
    found = list(linear.parts(start - skipped, stop - start + skipped))
    first, width, panel = found[columns.start // PANEL]
    words = np.ascontiguousarray(panel.view(np.int32).reshape(-1, width).T)
    return words.view(np.int8)[: columns.stop - first, skipped : skipped + stop - start]
