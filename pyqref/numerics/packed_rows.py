"""Tables of bytes whose rows end in their own scale and offset."""

from __future__ import annotations

import numpy as np

from .embedding import bits_of_row, unpack_bits
from .types import FloatArray, IntArray

__all__ = ["packed_rows", "parameter_bytes"]


def parameter_bytes(bits: int) -> int:
    """Bytes of scale and offset at the end of a row.

    Examples
    --------
    >>> parameter_bytes(8), parameter_bytes(4)
    (8, 4)
    """
    return 2 * np.dtype(bits_of_row(bits)).itemsize


def packed_rows(table: IntArray, bits: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Integers, scales and offsets of packed rows.

    Parameters
    ----------
    table
        uint8 ``(R, E)``: first the integers (equation ``eq-pack-bits``), then the scale and the
        offset, float32 where the integers have 8 bits and float16 where they have fewer.
    bits
        2, 4 or 8.

    Returns
    -------
    uint8 ``(R, D)``; float32 ``(R,)`` twice.

    Examples
    --------
    >>> parameters = np.float16([0.5, -1.0]).view(np.uint8)
    >>> q, scales, offsets = packed_rows(np.uint8([[33, 15, *parameters]]), 4)
    >>> q.tolist(), scales.tolist(), offsets.tolist()
    ([[1, 2, 15, 0]], [0.5], [-1.0])
    """
    size = parameter_bytes(bits)
    tail = np.ascontiguousarray(table[:, -size:]).view(bits_of_row(bits))
    with np.errstate(invalid="ignore"):  # of a signalling nan, which some processors report
        scales, offsets = tail.astype(np.float32).T
    return unpack_bits(table[:, :-size], bits), scales, offsets
