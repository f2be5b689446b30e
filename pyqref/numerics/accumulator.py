"""Width of an integer that holds a sum of products."""

from __future__ import annotations

import numpy as np

from .types import IntArray

__all__ = ["accumulator_bits", "largest_depth", "saturating_pairs"]


def largest_depth(bits: int, x_size: int, weight_size: int) -> int:
    r"""Return the number of products that a signed integer of some bits surely holds.

    Equation ``eq-accumulator-width``:

    .. math:: \Big|\sum_{k=1}^{K} x_k w_k\Big| \le K\,X\,W \le 2^{b-1} - 1
              \quad\text{for}\quad K \le \Big\lfloor \frac{2^{b-1} - 1}{X\,W} \Big\rfloor

    Parameters
    ----------
    bits
        :math:`b`, those of the accumulator.
    x_size, weight_size
        :math:`X` and :math:`W`, the largest :math:`|x_k|` and :math:`|w_k|`.

    Examples
    --------
    >>> largest_depth(32, 255, 128), largest_depth(16, 255, 128), largest_depth(16, 127, 128)
    (65793, 1, 2)
    """
    return (2 ** (bits - 1) - 1) // (x_size * weight_size)


def accumulator_bits(depth: int, x_size: int, weight_size: int) -> int:
    """Bits of the narrowest signed integer that surely holds ``depth`` products.

    The inverse of ``eq-accumulator-width``.

    Examples
    --------
    >>> accumulator_bits(1, 255, 128), accumulator_bits(768, 255, 128)
    (16, 26)
    """
    return (depth * x_size * weight_size).bit_length() + 1


def saturating_pairs(x: IntArray, weight: IntArray) -> IntArray:
    r"""Sums of products as processors without VNNI add them: each pair saturates at 16 bits.

    Equation ``eq-saturating-pairs``:

    .. math:: \sum_{j} \mathrm{sat}_{16}\big(x_{2j}\, w_{n,2j} + x_{2j+1}\, w_{n,2j+1}\big)

    of the integers as they are stored; the last one may be alone. Zero points are taken off
    afterwards, in 32 bits.

    Parameters
    ----------
    x
        Integers ``(..., K)`` in [0, 255].
    weight
        Integers ``(N, K)`` in [-128, 127].

    Returns
    -------
    int64 ``(..., N)``.

    Notes
    -----
    Equal to the exact sum if inputs have 7 bits (``eq-pair-sum``), or weights are in [-64, 63].

    Examples
    --------
    >>> saturating_pairs(np.uint8([[255, 255, 255]]), np.int8([[127, 127, 1]])).tolist()
    [[33022]]
    """
    left = np.asarray(x).astype(np.int32)
    right = np.asarray(weight).astype(np.int32)
    total = np.zeros((*left.shape[:-1], right.shape[0]), np.int64)
    for k in range(0, left.shape[-1], 2):
        pair = left[..., k, None] * right[:, k]
        if k + 1 < left.shape[-1]:
            pair += left[..., k + 1, None] * right[:, k + 1]
        total += np.clip(pair, -(2**15), 2**15 - 1)
    return total
