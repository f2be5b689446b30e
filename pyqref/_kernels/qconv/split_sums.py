"""Weights as those want them who finish sums: all depths at once, or some."""

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

__all__ = ["Term", "unsplit", "split", "reaches_far"]

#: Bytes of weights that are packed anew at a time, depths of a term, and taps of a depthwise one.
_PANELS, _DEPTH, _TAPS = 1 << 17, 1 << 10, 1 << 9
#: Bytes of scratch.
_FAR = 1 << 19


class Term(NamedTuple):
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


#: Outputs, and what gives the terms whose sums are theirs.
Split = Iterator[tuple[slice, Callable[[], Iterable[Term]]]]


def reaches_far(packed: PackedConv) -> bool:
    """Return True if one output of 64 channels would take more than half of the scratch.

    That is what it sees, in up to 128 channels, and weights for two lines of outputs, or for one.
    """
    outputs, _, *window = packed.shape
    weights = 192 if len(window) == 1 else 384
    return packed.is_depthwise and packed.depth * (weights + min(outputs, 128)) > _FAR


def unsplit(packed: PackedConv, *, centred: bool) -> Split:
    """All depths at once: strips, and depthwise weights with zero points, are packed anew."""
    first = (0,) * len(packed.shape[2:])
    if not packed.in_strips and (centred or not packed.is_depthwise):
        yield slice(packed.shape[0]), lambda: [Term(first, slice(None), packed)]
        return
    weight, inputs = packed.weight, packed.shape[1]
    outputs = packed.shape[0] // packed.groups
    groups = max(1, _PANELS // (16 * max(packed.depth, 1)))
    for start in range(0, packed.groups, groups):
        stop = min(start + groups, packed.groups)
        rows = slice(start * outputs, stop * outputs)
        term = Term(
            first,
            slice(start * inputs, stop * inputs),
            pack_conv(weight[rows], stop - start, centred=False),
        )
        yield rows, partial(list, [term])


def split(packed: PackedConv, *, centred: bool) -> Split:
    """So few depths at a time that 32 bits hold the sums, and scratch what an output sees.

    These are some taps of a depthwise weight, or what is packed anew for the outputs of one panel.
    Of others the weights are panels, one group after the other: groups of so many depths are
    neither joined nor strips.
    """
    assert packed.joined == 1
    assert not packed.in_strips
    if packed.is_depthwise and centred:
        yield slice(packed.shape[0]), partial(_taps, packed)
        return
    outputs = packed.shape[0] // packed.groups
    for group in range(packed.groups):
        for first in range(0, outputs, PANEL):
            columns = slice(first, min(first + PANEL, outputs))
            rows = slice(group * outputs + columns.start, group * outputs + columns.stop)
            yield rows, partial(_terms, packed, group, columns)


def _taps(packed: PackedConv) -> Iterator[Term]:
    """Some taps of a depthwise weight, as they are, and then others."""
    outputs, window = packed.shape[0], packed.shape[2:]
    taps = packed.panels.reshape(packed.depth, -1)
    whole = np.broadcast_to(np.int8(0), window)
    for box in parts(whole, most=_TAPS):
        first, shape = tuple(each.start for each in box), whole[box].shape
        start = int(np.ravel_multi_index(first, window))
        some = taps[start : start + prod(shape)]
        sums = some[:, :outputs].sum(axis=0, dtype=np.int32)
        weights = PackedConv(
            some.reshape(-1), sums, (outputs, 1, *shape), outputs, is_depthwise=True
        )
        yield Term(first, slice(None), weights)


def _terms(packed: PackedConv, group: int, columns: slice) -> Iterator[Term]:
    """All terms of some outputs of a group."""
    inputs = packed.shape[1]
    depths = np.broadcast_to(np.int8(0), (*packed.shape[2:], inputs))
    for box in parts(depths, most=_DEPTH):
        start = int(np.ravel_multi_index([each.start for each in box], depths.shape))
        *window, channels = depths[box].shape
        rows = _rows(packed, group, columns, start, start + prod((*window, channels)))
        panels = pack_linear(rows)
        begin = group * inputs + box[-1].start
        yield Term(
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
