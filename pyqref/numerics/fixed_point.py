"""Multipliers as 31-bit integers and shifts: requantization without real numbers.

A processor without floating point multiplies the accumulator by an integer and shifts. There are
two ways to round: once, after the whole shift, or twice, after a product that keeps the upper half,
and after the rest of the shift. What happens to ties differs too: away from zero, or upward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, NumberOrArray
from .rounding import clamp_to_int, round_half_away
from .types import IntArray

__all__ = [
    "bias_half_away",
    "fixed_point_multiplier",
    "multiply_rounded_once",
    "multiply_rounded_twice",
    "shift_right",
]

Ties = Literal["away", "up"]


def fixed_point_multiplier(multiplier: NumberOrArray) -> tuple[IntArray, IntArray]:
    r"""A positive real multiplier as a 31-bit integer and an exponent.

    Equation ``eq-fixed-point-multiplier``:

    .. math:: M \approx m \cdot 2^{e - 31}, \qquad m = \mathrm{rha}(M \cdot 2^{31 - e}),
              \qquad 2^{30} \le m < 2^{31}

    A multiplier below :math:`2^{-32}` becomes 0; one beyond :math:`2^{30}` the largest there is.

    Parameters
    ----------
    multiplier
        float64, of any shape.

    Returns
    -------
    m, e
        int64, of the same shape.

    Examples
    --------
    >>> fixed_point_multiplier(np.float64(0.375))
    (array(1610612736), array(-1))
    """
    fraction, exponent = np.frexp(np.asarray(multiplier, np.float64))
    integer = round_half_away(np.ldexp(fraction, 31)).astype(np.int64)
    full = integer == 2**31
    integer = np.where(full, integer // 2, integer)
    exponent = np.where(full, exponent + 1, exponent).astype(np.int64)
    tiny, huge = exponent < -31, exponent > 30
    integer = np.where(tiny, 0, np.where(huge, 2**31 - 1, integer))
    return integer, np.where(tiny, 0, np.minimum(exponent, 30))


def shift_right(x: object, shift: object, ties: Ties) -> IntArray:
    r"""Divide integers by powers of two, rounding to the nearest, ties away from zero or upward.

    Equation ``eq-shift-half-up`` for ``"up"``, ``eq-round-shift-right`` for ``"away"``:

    .. math:: \mathrm{rsu}(x, s) = \lfloor x / 2^{s} + 1/2 \rfloor

    Parameters
    ----------
    x
        int64, below :math:`2^{62}` in size.
    shift
        Integers in [0, 62], which broadcast with ``x``.
    ties
        ``"away"`` or ``"up"``.

    Examples
    --------
    >>> shift_right([-6, -5, 5, 6], 2, "up"), shift_right([-6, -5, 5, 6], 2, "away")
    (array([-1, -1,  1,  2]), array([-2, -1,  1,  2]))
    """
    x, shift = np.asarray(x, np.int64), np.asarray(shift, np.int64)
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    if ties == "up":
        return np.asarray((x + half) >> shift)
    return np.asarray(np.sign(x) * ((np.abs(x) + half) >> shift))


def multiply_rounded_twice(
    x: Sequence[int] | Array,
    integer: Array,
    exponent: object,
    first: Ties = "up",
    second: Ties = "away",
) -> IntArray:
    r"""Integers times a fixed-point multiplier, rounded after the product and after the shift.

    Equation ``eq-multiply-rounded-twice``:

    .. math:: r_2\Big( r_1\big( \mathrm{sat}_{32}(x\, 2^{\max(e, 0)})\; m,\; 31 \big),\;
              \max(-e, 0) \Big)

    where :math:`r_1` and :math:`r_2` are shifts to the right that round to the nearest: ``rsr``,
    with ties away from zero, or ``rsu``, with ties upward. gemmlowp has ``rsu``, then ``rsr``.

    Parameters
    ----------
    x
        Integers that fit 32 bits.
    integer, exponent
        From :func:`fixed_point_multiplier`.
    first, second
        What ties do in :math:`r_1` and :math:`r_2`.

    Examples
    --------
    >>> multiply_rounded_twice([10, 14], *fixed_point_multiplier(0.25)).tolist()
    [3, 4]
    """
    shifted = _shifted_left(x, exponent)
    high = shift_right(shifted * np.asarray(integer, np.int64), 31, first)
    return shift_right(high, np.maximum(-np.asarray(exponent, np.int64), 0), second)


def multiply_rounded_once(x: Sequence[int] | Array, integer: Array, exponent: object) -> IntArray:
    r"""Integers times a fixed-point multiplier, rounded once, ties upward.

    Equation ``eq-multiply-rounded-once``:

    .. math:: \mathrm{rsu}(x\, m,\; 31 - e)

    Parameters
    ----------
    x
        Integers that fit 32 bits.
    integer, exponent
        From :func:`fixed_point_multiplier`.

    Examples
    --------
    >>> multiply_rounded_once([10, -10], *fixed_point_multiplier(0.25)).tolist()
    [3, -2]
    """
    product = np.asarray(x, np.int64) * np.asarray(integer, np.int64)
    return shift_right(product, 31 - np.asarray(exponent, np.int64), "up")


def _shifted_left(x: Any, exponent: Any) -> IntArray:
    left = np.maximum(np.asarray(exponent, np.int64), 0)
    return np.clip(np.asarray(x, np.int64) << left, -(2**31), 2**31 - 1)


def bias_half_away(bias: ArrayLike, input_scale: float, weight_scales: NumberOrArray) -> IntArray:
    r"""The bias in units of the accumulator, as converters for integer-only systems store it.

    Equation ``eq-bias-half-away``:

    .. math:: b^{int}_n = \mathrm{sat}_{32}\big(\mathrm{rha}(b_n / (s_x\, s_{w,n}))\big)

    with the float32 scales, in double precision.

    Examples
    --------
    >>> bias_half_away([0.3125, -0.3125], 0.5, 0.25).tolist()
    [3, -3]
    """
    unit = np.float64(np.float32(input_scale)) * np.asarray(weight_scales, np.float32)
    scaled = np.asarray(bias, np.float32).astype(np.float64) / unit
    return clamp_to_int(round_half_away(scaled), -(2**31), 2**31 - 1, np.int32)
