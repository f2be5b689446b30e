"""Weights of a matrix product, laid out in the order in which a tile reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pyqref.numerics.types import IntArray

from .finish import Finish

__all__ = ["PANEL", "PackedLinear", "Weight", "pack_linear", "pack_transposed"]

#: Columns of a full panel, and what the width of the last one is a multiple of.
PANEL, SLIVER = 64, 16


class Weight(NamedTuple):
    """Weight for a kernel: parts of a :class:`PackedLinear`, and how to finish sums."""

    depth: int
    panels: IntArray
    sums: IntArray
    finish: Finish


@dataclass(frozen=True)
class PackedLinear:
    """int8 weights ``(N, K)`` as panels, the same for every kernel.

    A panel is ``[ceil(K/4)][width][4]``: for each four depths, the four weights of
    each of ``width`` columns side by side, which is what an instruction that adds four
    products reads. Panels are 64 columns wide; the last one is as narrow as a multiple
    of 16 allows. Missing depths and columns are zero.

    Attributes
    ----------
    panels
        int8, one dimension, the panels one after another.
    sums
        int32 ``(N,)``: the sum of the weights of each column, by which the zero point
        of the input is multiplied.
    columns, depth
        N and K.
    kept
        What the last call prepared, if anything, for the next: see :file:`linear.py`.
    """

    panels: IntArray
    sums: IntArray
    columns: int
    depth: int
    kept: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def weight(self) -> IntArray:
        """The int8 weights ``(N, K)`` again, unpacked."""
        quads = -(-self.depth // 4)
        padded = np.empty((-(-self.columns // SLIVER) * SLIVER, quads), np.int32)
        for first, width, panel in _panels(self.panels.view(np.int32), quads, len(padded)):
            padded[first : first + width] = panel.reshape(quads, width).T
        return padded.view(np.int8)[: self.columns, : self.depth]

    def finished(self, finish: Finish) -> Weight:
        """Return the weight for kernels."""
        return Weight(self.depth, self.panels, self.sums, finish)

    def parts(self, start: int, depth: int) -> Iterator[tuple[int, int, IntArray]]:
        """First column and width of each panel, and what it holds of depths from a quad on."""
        quads = -(-self.depth // 4)
        words = self.panels.view(np.int32)
        for first, width, panel in _panels(words, quads, words.size // max(quads, 1)):
            some = panel.reshape(quads, width)[start // 4 : -(-(start + depth) // 4)]
            yield first, width, some.reshape(-1).view(np.int8)


def _panels(words: np.ndarray, quads: int, columns: int) -> list[tuple[int, int, np.ndarray]]:
    """First column, width and words of each panel."""
    found = []
    for first in range(0, columns, PANEL):
        width = min(PANEL, columns - first)
        found.append((first, width, words[first * quads : (first + width) * quads]))
    return found


def pack_linear(weight: IntArray) -> PackedLinear:
    """Pack int8 weights ``(N, K)``. Without any depth a product is its bias.

    Examples
    --------
    >>> packed = pack_linear(np.int8([[1, 2, 3], [4, 5, 6]]))
    >>> packed.columns, packed.depth, packed.sums
    (2, 3, array([ 6, 15], dtype=int32))
    >>> packed.weight
    array([[1, 2, 3],
           [4, 5, 6]], dtype=int8)
    """
    weight = np.asarray(weight, np.int8)
    columns, depth = weight.shape
    quads = -(-depth // 4)
    padded = np.zeros((-(-columns // SLIVER) * SLIVER, quads * 4), np.int8)
    padded[:columns, :depth] = weight
    words = padded.view(np.int32)
    panels = _aligned(words.size)
    for first, width, panel in _panels(panels, quads, len(padded)):
        panel.reshape(quads, width)[...] = words[first : first + width].T
    sums = weight.sum(axis=1, dtype=np.int32)
    return PackedLinear(panels.view(np.int8), sums, columns, depth)


def pack_transposed(b: IntArray) -> PackedLinear:
    """Pack bytes ``(K, N)`` as weights, with nothing made on the way; uint8 lose 128.

    Examples
    --------
    >>> pack_transposed(np.uint8([[129, 130], [131, 132]])).weight
    array([[1, 3],
           [2, 4]], dtype=int8)
    """
    depth, columns = b.shape
    whole, quads = depth // 4, -(-depth // 4)
    width = -(-columns // SLIVER) * SLIVER
    lost = 128 if b.dtype == np.uint8 else 0
    sums = b.sum(axis=0, dtype=np.int32) - np.int32(lost * depth)
    flip, b = np.int8(-lost), b.view(np.int8)
    panels = _aligned(quads * width)
    for first, wide, words in _panels(panels, quads, width):
        panel = words.view(np.int8).reshape(quads, wide, 4)
        some = b[:, first : first + wide]
        used = some.shape[1]
        panel[:, used:] = 0
        np.bitwise_xor(
            some[: 4 * whole].reshape(whole, 4, used).swapaxes(1, 2), flip, out=panel[:whole, :used]
        )
        for place in range(depth - 4 * whole):
            np.bitwise_xor(some[4 * whole + place], flip, out=panel[whole, :used, place])
        if whole < quads:
            panel[whole, :used, depth % 4 :] = 0
    return PackedLinear(panels.view(np.int8), sums, columns, depth)


def _aligned(words: int) -> np.ndarray:
    """Uninitialized int32 that begin at a cache line, so that no load straddles two."""
    buffer = np.empty(words + 16, np.int32)
    start = -buffer.ctypes.data % 64 // 4
    return buffer[start : start + words]
