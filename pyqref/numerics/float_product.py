"""Products of float32 matrices: the order of sums that kernels keep."""

from __future__ import annotations

import numpy as np

from .rounding import fma32
from .types import FloatArray

__all__ = ["BLOCK", "float_product"]

#: Products that are added up before their sum is added to those before.
BLOCK = 128


def float_product(a: FloatArray, b: FloatArray, start: FloatArray | None = None) -> FloatArray:
    r"""``a @ b`` of matrices ``(..., rows, depth)`` and ``(..., depth, columns)``, plus ``start``.

    Equation ``eq-float-product``: with blocks of 128 of the depth,

    .. math::
        y = \mathrm{fl}\big(\cdots \mathrm{fl}(\mathrm{fl}(y_0 + s_0) + s_1) \cdots\big), \qquad
        s_b \leftarrow \mathrm{fma}(a_{ik}, b_{kj}, s_b) \text{ for k of block b, from zero}

    Without a start :math:`y = s_0` begins the sum.

    Examples
    --------
    >>> float_product(np.float32([[1, 2]]), np.float32([[3], [4]])).tolist()
    [[11.0]]
    """
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    y = None if start is None else np.broadcast_to(start, shape)
    with np.errstate(all="ignore"):
        for first in range(0, a.shape[-1], BLOCK):
            total = np.zeros(shape, np.float32)
            for k in range(first, min(first + BLOCK, a.shape[-1])):
                total = fma32(a[..., k, None], b[..., k, None, :], total)
            y = total if y is None else y + total
    return np.zeros(shape, np.float32) if y is None else y
