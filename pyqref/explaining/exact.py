"""Arithmetic without error: fractions, and the roundings to float32 and float64 written out.

A derivation is checked with these. Nothing here is shared with :mod:`pyqref.numerics`.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf, isqrt
from typing import TypeAlias

import numpy as np

__all__ = ["Number", "exact", "half_away", "half_even", "root", "to_float32", "to_float64"]

#: What the steps of a derivation hold: an integer, or a real number of a stated precision.
Number: TypeAlias = int | np.float32 | np.float64


def exact(value: Number | Fraction) -> Fraction:
    """The exact value of an integer or of a finite real number.

    Examples
    --------
    >>> exact(np.float32(0.1))
    Fraction(13421773, 134217728)
    """
    return Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))


def half_even(x: Fraction) -> int:
    """The nearest integer, ties to the even one.

    Examples
    --------
    >>> half_even(Fraction(5, 2)), half_even(Fraction(7, 2))
    (2, 4)
    """
    return round(x)


def half_away(x: Fraction) -> int:
    """The nearest integer, ties away from zero.

    Examples
    --------
    >>> half_away(Fraction(5, 2)), half_away(Fraction(-5, 2))
    (3, -3)
    """
    magnitude = floor(abs(x) + Fraction(1, 2))
    return -magnitude if x < 0 else magnitude


def _to_binary(x: Fraction, bits: int, least: int, most: int) -> Fraction | float:
    """The nearest number with so many bits; ``least`` is the exponent of the smallest step."""
    if not x:
        return x
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** max(exponent - bits + 1, least)
    rounded = half_even(x / step) * step
    if abs(rounded) >= Fraction(2) ** most:
        return inf if x > 0 else -inf
    return rounded


def to_float32(x: Fraction) -> np.float32:
    """Round once to the nearest float32, ties to even.

    Examples
    --------
    >>> to_float32(Fraction(1, 10))
    np.float32(0.1)
    >>> to_float32(Fraction(10) ** 39)
    np.float32(inf)
    """
    return np.float32(float(_to_binary(x, 24, -149, 128)))


def to_float64(x: Fraction) -> np.float64:
    """Round once to the nearest float64, ties to even.

    Examples
    --------
    >>> to_float64(Fraction(1, 10))
    np.float64(0.1)
    """
    return np.float64(float(_to_binary(x, 53, -1074, 1024)))


def root(x: Fraction) -> np.float32:
    """The square root, rounded once to float32.

    Examples
    --------
    >>> root(Fraction(2))
    np.float32(1.4142135)
    """
    if not x:
        return np.float32(0)
    # As many digits as leave no doubt, and a last one that says whether there are more.
    shift = 2 * max(0, 120 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    scaled = (x.numerator << shift) // x.denominator
    whole = isqrt(scaled)
    more = whole * whole != scaled or (x.numerator << shift) % x.denominator != 0
    return to_float32(Fraction(2 * whole + more, 2 << (shift // 2)))
