"""Softmax in integers alone, for processors without real numbers."""

from __future__ import annotations

import numpy as np

from .exponential import exp_in_double
from .rounding import clamp_to_int
from .types import IntArray

__all__ = ["powers_of_distances", "softmax_inverse", "softmax_of_integers"]

#: Bits behind the point of the powers, and of the reciprocal of the scale.
_POWER_BITS, _INVERSE_BITS = 30, 15


def powers_of_distances(scale: float) -> IntArray:
    r"""A table of :math:`e^{-s d}` for the distances d from 0 to 255, in units of :math:`2^{-30}`.

    The powers of ``eq-softmax-integers``.

    Examples
    --------
    >>> powers_of_distances(1.0)[:3].tolist()
    [1073741824, 395007542, 145315154]
    """
    powers = exp_in_double(-np.float64(np.float32(scale)) * np.arange(256))
    return np.asarray(np.rint(powers * 2**_POWER_BITS), np.int64)


def softmax_inverse(scale: float) -> int:
    """One over the scale of the result, in units of ``2**-15``.

    Examples
    --------
    >>> softmax_inverse(1 / 256)
    8388608
    """
    return min(round(2**_INVERSE_BITS / float(np.float32(scale))), 2**31 - 1)


def softmax_of_integers(
    q: IntArray, scale: float, out_scale: float, out_zero_point: int
) -> IntArray:
    r"""Softmax along the last axis of bytes, on a grid of its own.

    Equation ``eq-softmax-integers``:

    .. math::
        \begin{gathered}
        p_d = \mathrm{rne}(2^{30} e^{-s_x d}), \qquad m = \mathrm{rne}(2^{15} / s_y), \\[1ex]
        q'_i = \mathrm{sat}\left(\left\lfloor \frac{m\, p_{\max_j q_j - q_i}}{2^{15} \sum_k
        p_{\max_j q_j - q_k}} + \frac12 \right\rfloor + z_y\right)
        \end{gathered}

    Examples
    --------
    >>> softmax_of_integers(np.uint8([8, 14]), 0.5, 1 / 256, 0).tolist()
    [12, 244]
    """
    q = np.asarray(q, np.int64)
    powers = powers_of_distances(scale)[q.max(axis=-1, keepdims=True) - q]
    whole = powers.sum(axis=-1, keepdims=True) << _INVERSE_BITS
    rounded = (powers * softmax_inverse(out_scale) + whole // 2) // whole
    return clamp_to_int(rounded + out_zero_point, 0, 255, np.uint8)
