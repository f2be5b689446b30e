"""A third opinion: the equations once more, in exact rational arithmetic.

Nothing here is shared with :mod:`pyqref.numerics`: numbers are ``Fraction``s, the
rounding to float32 is written out, and every function handles one element.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

__all__ = ["clamp", "f32", "fma", "fractions", "inverse", "rational", "rha", "rne", "single"]


def rational(value: object) -> Fraction:
    """The exact value of a float or integer of any library."""
    return Fraction(np.asarray(value).item())


def fractions(values: object) -> list[Fraction]:
    """The exact values of all elements of an array, in row-major order."""
    return [rational(each) for each in np.asarray(values).ravel().tolist()]


def rne(x: Fraction) -> int:
    """Nearest integer, ties to even."""
    whole = floor(x)
    rest = x - whole
    if rest == Fraction(1, 2):
        return whole + whole % 2
    return whole + (rest > Fraction(1, 2))


def rha(x: Fraction) -> int:
    """Nearest integer, ties away from zero."""
    magnitude = floor(abs(x) + Fraction(1, 2))
    return -magnitude if x < 0 else magnitude


def f32(x: Fraction | int) -> Fraction:
    """Round to the nearest float32 (ties to even; subnormals; no overflow)."""
    x = Fraction(x)
    if x == 0:
        return x
    exponent = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** max(exponent - 23, -149)
    return rne(x / quantum) * quantum


def single(value: object) -> Fraction:
    """The exact value of a number after it was stored as float32."""
    return f32(rational(value))


def inverse(scale: object) -> Fraction:
    """The float32 reciprocal of the float32 scale."""
    return f32(1 / single(scale))


def fma(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    """One rounding for product and sum."""
    return f32(a * b + c)


def clamp(x: Fraction | int, low: int, high: int) -> int:
    """The integer ``x`` kept in [low, high]."""
    return int(min(max(x, low), high))
