"""Sums in double whose order no processor and no number of threads changes."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .types import FloatArray

__all__ = ["lane_sums"]

#: Numbers that are added up before their sum is added to others, and the lanes they are dealt to.
PART, LANES = 2**15, 16


def lane_sums(rows: Array) -> FloatArray:
    """The sum of each row, in double.

    Parts of :math:`2^{15}` numbers are added one after the other. In a part there are
    16 lanes, number i in lane i mod 16, added from left to right; then the second half of the
    lanes is added to the first one, until one is left.

    Parameters
    ----------
    rows
        Floating point numbers ``(rows, n)``.

    Examples
    --------
    >>> lane_sums(np.float32([[1, -2], [0.5, 0]])).tolist()
    [-1.0, 0.5]
    """
    total = np.zeros(len(rows))
    for start in range(0, rows.shape[1], PART):
        part = rows[:, start : start + PART]
        filled = np.zeros((len(rows), -(-part.shape[1] // LANES) * LANES))
        filled[:, : part.shape[1]] = part
        lanes = np.zeros((len(rows), LANES))
        for each in filled.reshape(len(rows), -1, LANES).transpose(1, 0, 2):
            lanes += each
        for half in (8, 4, 2, 1):
            lanes = lanes[:, :half] + lanes[:, half:]
        total += lanes[:, 0]
    return total
