"""Bags of rows of a table of floats: the order that kernels keep."""

from __future__ import annotations

import numpy as np

from .rounding import fma32
from .types import FloatArray, IntArray

__all__ = ["float_bag"]


def float_bag(
    table: FloatArray,
    indices: IntArray,
    starts: IntArray,
    ends: IntArray,
    weights: FloatArray | None = None,
    mode: str = "sum",
) -> FloatArray:
    r"""Rows of a table, joined bag by bag, one row after the other.

    Equation ``eq-float-bag``, from zero, for i in the bag, which has n indices:

    .. math:: y_d \leftarrow \mathrm{fma}(w_i, x_{r,d}, y_d), \qquad r = index_i

    without weights :math:`w_i = 1`; a mean is :math:`\mathrm{fl}(y_d / n)`. Of the largest the
    first one is taken, and nan where there is one. An empty bag gives zeros.

    Parameters
    ----------
    table
        ``(R, D)``.
    indices
        Integers ``(I,)`` in [0, R - 1].
    starts, ends
        Integers ``(B,)``: bag b holds ``indices[starts[b]:ends[b]]``.
    weights
        ``(I,)``, or None.
    mode
        ``"sum"``, ``"mean"`` or ``"max"``.

    Returns
    -------
    ``(B, D)``, of the type of the table.

    Examples
    --------
    >>> table, indices = np.float32([[1, 2], [3, 0]]), np.array([0, 1, 1])
    >>> starts, ends = np.array([0, 2]), np.array([2, 3])
    >>> float_bag(table, indices, starts, ends).tolist()
    [[4.0, 2.0], [3.0, 0.0]]
    >>> float_bag(table, indices, starts, ends, mode="max").tolist()
    [[3.0, 2.0], [3.0, 0.0]]
    """
    y = np.zeros((len(starts), table.shape[1]), table.dtype)
    lengths = np.asarray(ends) - starts
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(int(lengths.max(initial=0))):
            active = np.nonzero(lengths > step)[0]
            place = np.asarray(starts)[active] + step
            x, before = table[indices[place]], y[active]
            if mode == "max":
                y[active] = np.where((x > before) | np.isnan(x), x, before) if step else x
            elif weights is None:
                y[active] = before + x
            else:
                y[active] = _multiplied(weights[place][:, np.newaxis], x, before)
        if mode == "mean":
            y /= np.maximum(lengths, 1)[:, np.newaxis].astype(table.dtype)
    return y


def _multiplied(weight: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """``weight x + y``, of float32 rounded once."""
    if x.dtype == np.float32:
        return fma32(x, weight.astype(np.float32), y)
    return np.asarray((weight * x + y).astype(x.dtype))
