"""Winograd's convolution in whole numbers: 16 sums of 9 products each, from 36 products."""

from __future__ import annotations

import numpy as np

from .types import IntArray

__all__ = ["winograd_tile"]

#: B, six inputs along an axis; G, three weights, 24 times as large; A, the products.
_INPUTS = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
_WEIGHTS = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 12]])
_OUTPUTS = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 2]]
)


def winograd_tile(x: IntArray, weight: IntArray) -> IntArray:
    r"""Convolve a tile of 6 by 6 integers with 3 by 3 weights, exactly.

    Equation ``eq-winograd``:

    .. math:: Y = \tfrac{1}{576}\, A \big[ (B X B^\top) \odot (G W G^\top) \big] A^\top

    The division leaves no remainder. Sums over channels may be taken before :math:`A`:
    everything but :math:`\odot` is linear.

    Parameters
    ----------
    x
        Integers ``(..., 6, 6)``.
    weight
        Integers ``(..., 3, 3)``.

    Returns
    -------
    int64 ``(..., 4, 4)``
        :math:`Y_{ij} = \sum_{kl} X_{i+k,\,j+l}\, W_{kl}`.

    Notes
    -----
    Winograd, *Arithmetic Complexity of Computations* (1980); Lavin and Gray, *Fast Algorithms for
    Convolutional Neural Networks* (2016), with :math:`G` 24 times as large and its last row
    halved again, for which :math:`A` makes up.

    Examples
    --------
    >>> winograd_tile(np.arange(36).reshape(6, 6), np.ones((3, 3), int))
    array([[ 63,  72,  81,  90],
           [117, 126, 135, 144],
           [171, 180, 189, 198],
           [225, 234, 243, 252]])
    """
    x, weight = np.asarray(x, np.int64), np.asarray(weight, np.int64)
    products = (_INPUTS @ x @ _INPUTS.T) * (_WEIGHTS @ weight @ _WEIGHTS.T)
    return np.asarray(_OUTPUTS @ products @ _OUTPUTS.T // 576)
