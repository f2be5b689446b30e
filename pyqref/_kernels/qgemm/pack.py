"""Weights of a matrix product, laid out in the order in which a tile reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyqref.numerics.types import IntArray

__all__ = ["PackedLinear", "pack_linear"]

#: Columns of a full panel, and what the width of the last one is a multiple of.
PANEL, SLIVER = 64, 16


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
    """

    panels: IntArray
    sums: IntArray
    columns: int
    depth: int

    @property
    def weight(self) -> IntArray:
        """The int8 weights ``(N, K)`` again, unpacked."""
        quads = -(-self.depth // 4)
        padded = np.empty((-(-self.columns // SLIVER) * SLIVER, quads), np.int32)
        for first, width, panel in _panels(self.panels.view(np.int32), quads, len(padded)):
            padded[first : first + width] = panel.reshape(quads, width).T
        return padded.view(np.int8)[: self.columns, : self.depth]


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


def _aligned(words: int) -> np.ndarray:
    """Uninitialized int32 that begin at a cache line, so that no load straddles two."""
    buffer = np.empty(words + 16, np.int32)
    start = -buffer.ctypes.data % 64 // 4
    return buffer[start : start + words]
