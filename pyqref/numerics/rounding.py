"""Rounding: the few rules by which a real number becomes an integer.

Everything else in :mod:`pyqref.numerics` is built on these. Each rule is named,
because quantization libraries differ most often in *which* rule they apply and
*where*: before or after the zero point, once or twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Array, Number
from .noted import noted
from .types import FloatArray, IntArray

__all__ = [
    "clamp_to_int",
    "fma32",
    "round_half_away",
    "round_half_even",
    "round_shift_right",
]

#: The bits of a double that float32 lacks, the highest of them, and the least normal float32.
_BELOW_F32, _HALF_F32, _LEAST_NORMAL = (1 << 29) - 1, 1 << 28, 2.0**-126


def round_half_even(x: Number | Array) -> FloatArray:
    r"""Round to the nearest integer, ties to the even one.

    Equation ``eq-round-half-even``:

    .. math:: \mathrm{rne}(x) = \text{the integer nearest } x,
              \text{ the even one if two are equally near}

    The result keeps its floating point type, and infinities and nan pass through.

    Examples
    --------
    >>> round_half_even(np.float32([0.5, 1.5, 2.5, -0.5]))
    array([ 0.,  2.,  2., -0.], dtype=float32)
    """
    return np.rint(x)


def round_half_away(x: Number | Array) -> FloatArray:
    r"""Round to the nearest integer, ties away from zero (C's ``round``).

    Equation ``eq-round-half-away``:

    .. math:: \mathrm{rha}(x) = \operatorname{sign}(x) \lfloor |x| + 1/2 \rfloor

    The tie is found from the exact fraction :math:`|x| - \lfloor |x| \rfloor`; the
    sum :math:`|x| + 1/2` is never formed in floating point, where it can round up.

    Examples
    --------
    >>> round_half_away(np.float32([0.5, 1.5, 2.5, -0.5]))
    array([ 1.,  2.,  3., -1.], dtype=float32)
    """
    x = np.asarray(x)
    magnitude = np.abs(x)
    whole = np.floor(magnitude)
    with np.errstate(invalid="ignore"):
        up = magnitude - whole >= x.dtype.type(0.5)
    return np.copysign(whole + up.astype(x.dtype), x)


def round_shift_right(x: Sequence[int] | Array, shift: int) -> IntArray:
    r"""Divide integers by a power of two, ties away from zero.

    Equation ``eq-round-shift-right``:

    .. math:: \mathrm{rsr}(x, s) = \mathrm{rha}(x / 2^{s})

    Exact for every int64 ``x`` with :math:`|x| < 2^{62}` and ``shift`` in [0, 62].

    Examples
    --------
    >>> round_shift_right([-6, -5, 5, 6], 2)
    array([-2, -1,  1,  2])
    """
    x = np.asarray(x, dtype=np.int64)
    if shift == 0:
        return x
    half = np.int64(1) << np.int64(shift - 1)
    magnitude = (np.abs(x) + half) >> np.int64(shift)
    return np.where(x < 0, -magnitude, magnitude)


def fma32(a: Number | Array, b: Number | Array, c: Number | Array) -> FloatArray:
    r"""Fused multiply-add: ``a * b + c`` in float32, rounded once.

    Equation ``eq-fma``:

    .. math:: \mathrm{fma}(a, b, c) = \mathrm{fl}_{32}(a b + c)

    The product of two float32 numbers has at most 48 significant bits, so it is
    exact in float64. The sum is rounded *to odd* in float64 (the exact error of
    the sum, found by Knuth's two-sum, tells when and in which direction), after
    which the rounding to float32 cannot meet a false tie.

    Parameters
    ----------
    a, b, c
        float32 arrays or scalars that broadcast together.

    Examples
    --------
    >>> float(fma32(np.float32(1 + 2**-23), np.float32(1 - 2**-23), np.float32(-1)))
    -1.4210854715202004e-14
    """
    addend = np.asarray(c, np.float32).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        product = np.asarray(a, np.float32).astype(np.float64) * np.asarray(b, np.float32)
        total = np.asarray(product + addend)
        # Only between two float32, or where they are subnormal, is a tie near.
        at_middle = (total.view(np.int64) & _BELOW_F32) == _HALF_F32
        is_subnormal = (np.abs(total) < _LEAST_NORMAL) & (total != 0)
        if not (at_middle | is_subnormal).any():
            return np.asarray(total.astype(np.float32))
        back = total - product
        error = (product - (total - back)) + (addend - back)
        even = (total.view(np.int64) & 1) == 0
        inexact = np.isfinite(total) & (error != 0) & even
        toward = np.where(error > 0, np.inf, -np.inf)
        odd = np.where(inexact, np.nextafter(total, toward), total)
        return np.asarray(odd.astype(np.float32))


def clamp_to_int(
    values: Number | Sequence[float] | Array,
    quant_min: int,
    quant_max: int,
    storage: object,
    *,
    nan: int | None = None,
) -> IntArray:
    r"""Saturate whole numbers to a range and store them as integers.

    Equation ``eq-saturate``:

    .. math:: \mathrm{sat}(v) = \min(\max(v, q_{min}), q_{max})

    The clamp happens in float64, before the cast, so that infinities and numbers
    beyond the integer type saturate instead of wrapping.

    Parameters
    ----------
    values
        Whole numbers of any floating point type, infinities and nan allowed.
    quant_min, quant_max
        Range of the result, ends included; within the range of ``storage``.
    storage
        NumPy integer type of the result.
    nan
        The integer that stands for nan; ``quant_max`` if None.

    Examples
    --------
    >>> clamp_to_int([-np.inf, -3.0, 1e20, np.nan], 0, 255, np.uint8).tolist()
    [0, 0, 255, 255]
    """
    values = np.asarray(values, dtype=np.float64)
    noted("low", quant_min)
    noted("high", quant_max)
    clamped = np.clip(values, quant_min, quant_max)
    missing = np.isnan(values)
    if missing.any():
        clamped = np.where(missing, quant_max if nan is None else nan, clamped)
    return clamped.astype(storage)
