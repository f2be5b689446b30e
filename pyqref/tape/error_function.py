"""The error function of an array and its complement: NumPy has neither.

W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
Computation 23 (1969): three ranges, in each a quotient of polynomials whose relative error
is below one unit of double precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .operation import Array

__all__ = ["erf", "erfc"]

# |x| <= 0.46875: erf(x) = x P(x^2) / Q(x^2), highest power first.
_SMALL = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e00,
        1.13864154151050156e02,
        3.77485237685302021e02,
        3.20937758913846947e03,
    ),
    (
        1.0,
        2.36012909523441209e01,
        2.44024637934444173e02,
        1.28261652607737228e03,
        2.84423683343917062e03,
    ),
)
# 0.46875 < x <= 4: erfc(x) = exp(-x^2) P(x) / Q(x).
_MIDDLE = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e01,
        2.98635138197400131e02,
        8.81952221241769090e02,
        1.71204761263407058e03,
        2.05107837782607147e03,
        1.23033935479799725e03,
    ),
    (
        1.0,
        1.57449261107098347e01,
        1.17693950891312499e02,
        5.37181101862009858e02,
        1.62138957456669019e03,
        3.29079923573345963e03,
        4.36261909014324716e03,
        3.43936767414372164e03,
        1.23033935480374942e03,
    ),
)
# x > 4: erfc(x) = exp(-x^2) / x (1 / sqrt(pi) - P(1 / x^2) / (x^2 Q(1 / x^2))).
_LARGE = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242e00,
        1.87295284992346725e00,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)
_SMALL_END, _MIDDLE_END, _UNDERFLOW = 0.46875, 4.0, 28.0
_BLOCK = 16384


def _quotient(x: Array, polynomials: tuple[tuple[float, ...], tuple[float, ...]]) -> Array:
    """``P(x) / Q(x)`` by Horner's rule."""
    values = []
    for coefficients in polynomials:
        value = np.full_like(x, coefficients[0])
        for coefficient in coefficients[1:]:
            value *= x
            value += coefficient
        values.append(value)
    return np.divide(*values)


def _gaussian(x: Array) -> Array:
    """``exp(-x^2)``, with the square split so that its rounding does not show."""
    coarse = np.trunc(x * 16) / 16
    return np.exp(-coarse * coarse) * np.exp(-(x - coarse) * (x + coarse))


def _upper_tail(x: Array) -> Array:
    """``erfc(x)`` for ``x > 0.46875``."""
    x = np.minimum(x, _UNDERFLOW)
    tail = _quotient(np.minimum(x, _MIDDLE_END), _MIDDLE)
    far = x > _MIDDLE_END
    if far.any():
        inverse = 1 / (x[far] * x[far])
        correction = inverse * _quotient(inverse, _LARGE)
        tail[far] = (1 / np.sqrt(np.pi) - correction) / x[far]
    return tail * _gaussian(x)


def _parts(x: Array) -> tuple[Array, Array, Array]:
    """Return where ``x`` is near 0, ``erf(x)`` there, and ``erfc(|x|)`` elsewhere."""
    size = np.abs(x)
    near = size <= _SMALL_END
    small = np.where(near, x, 0.0)
    return near, small * _quotient(small * small, _SMALL), _upper_tail(np.where(near, 1.0, size))


def _erf(x: Array) -> Array:
    near, lower, tail = _parts(x)
    return np.where(near, lower, np.copysign(1 - tail, x))


def _erfc(x: Array) -> Array:
    near, lower, tail = _parts(x)
    return np.where(near, 1 - lower, np.where(x < 0, 2 - tail, tail))


def _by_block(function: Callable[[Array], Array], x: Array) -> Array:
    flat = np.ascontiguousarray(x).reshape(-1)
    result = np.empty(flat.shape, flat.dtype)
    for start in range(0, flat.size, _BLOCK):
        piece = flat[start : start + _BLOCK].astype(np.float64)
        result[start : start + _BLOCK] = function(piece)
    return result.reshape(x.shape)


def erf(x: Array) -> Array:
    r""":math:`\frac{2}{\sqrt\pi}\int_0^x e^{-t^2}\,dt` of each element, in its own type.

    Worked out in double, on pieces that stay in the cache; nan stays nan.

    Examples
    --------
    >>> erf(np.array([0.0, 0.5, -5.0]))
    array([ 0.        ,  0.52049988, -1.        ])
    """
    return _by_block(_erf, x)


def erfc(x: Array) -> Array:
    r""":math:`1 - \mathrm{erf}(x)` of each element, with all its digits where that is small.

    Examples
    --------
    >>> erfc(np.array([0.0, 0.5, 5.0]))
    array([1.00000000e+00, 4.79500122e-01, 1.53745979e-12])
    """
    return _by_block(_erfc, x)
