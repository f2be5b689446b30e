"""Normal numbers from uniform ones, in the single precision arithmetic of ``torch``.

The logarithm, sine and cosine are the polynomials of the Cephes library with fused
multiply-adds, as vectorised in ``torch`` for AVX2: only with the same polynomials are
the random numbers the same to the last bit.
"""

from __future__ import annotations

import math

import numpy as np

from ..numerics.rounding import fma32
from ..tape import Array

__all__ = ["box_muller"]

_ONE = np.float32(1)
_LOG = [
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
]
_COSINE = [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2]
_SINE = [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]
#: pi/4 in three parts, so that subtracting its multiples is exact.
_QUARTER = [0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8]
#: log(2) in two parts.
_LOG2 = [-2.12194440e-4, 0.693359375]


def box_muller(uniform: Array, mean: float, std: float) -> Array:
    r"""Pairs of normal numbers from pairs of uniform ones, in blocks of 16.

    .. math:: r = \sqrt{-2 \ln(1 - u_1)}, \quad \theta = 2 \pi u_2, \quad
              (\mu + \sigma r \cos\theta,\; \mu + \sigma r \sin\theta)

    Parameters
    ----------
    uniform
        float32 or float64 in [0, 1), shape (16 n,); of each block the first 8 give
        :math:`r`, the last 8 :math:`\theta`.
    mean, std
        :math:`\mu` and :math:`\sigma`.
    """
    halves = uniform.reshape(-1, 2, 8)
    number = uniform.dtype.type
    angle = number(2 * math.pi) * halves[:, 1]
    if uniform.dtype == np.float64:
        radius = np.sqrt(-2 * np.log(1 - halves[:, 0]))
        sine, cosine = np.sin(angle), np.cos(angle)
        pair = np.stack([radius * cosine, radius * sine], axis=1)
        return (pair * std + mean).reshape(-1)
    radius = np.sqrt(np.float32(-2) * _log(_ONE - halves[:, 0]))
    sine, cosine = _sine_and_cosine(angle)
    pair = np.stack([radius * cosine, radius * sine], axis=1)
    return fma32(pair, np.float32(std), np.float32(mean)).reshape(-1)


def _polynomial(coefficients: list[float], x: Array) -> Array:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = fma32(value, x, np.float32(coefficient))
    return value


def _log(x: Array) -> Array:
    """Natural logarithm of positive float32 numbers."""
    mantissa, exponent = (each.astype(np.float32) for each in np.frexp(x))
    small = mantissa < np.float32(math.sqrt(0.5))
    exponent = np.where(small, exponent - _ONE, exponent)
    m = np.where(small, mantissa + mantissa, mantissa) - _ONE
    square = m * m
    value = fma32(_polynomial(_LOG, m) * m, square, exponent * np.float32(_LOG2[0]))
    value = fma32(square, np.float32(-0.5), value)
    return fma32(exponent, np.float32(_LOG2[1]), m + value)


def _sine_and_cosine(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of float32 numbers that are not negative."""
    octant = (x * np.float32(4 / math.pi)).astype(np.int32)
    octant = (octant + 1) & ~1
    multiple = octant.astype(np.float32)
    for part in _QUARTER:
        x = fma32(multiple, np.float32(-part), x)
    square = x * x
    cosine = _polynomial(_COSINE, square) * square
    cosine = fma32(cosine, square, -(square * np.float32(0.5))) + _ONE
    sine = fma32(_polynomial(_SINE, square) * square, x, x)
    straight = (octant & 2) == 0
    sine_sign = np.where(octant & 4, -_ONE, _ONE)
    cosine_sign = np.where((octant - 2) & 4, _ONE, -_ONE)
    return (
        sine_sign * np.where(straight, sine, cosine),
        cosine_sign * np.where(straight, cosine, sine),
    )
