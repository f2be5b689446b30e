"""The logarithm of float32, and softplus, with the same bits everywhere.

Every operation of the logarithm is of float32; softplus is worked out in double and rounded once.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .exponential import exp_in_double, polynomial
from .function_tables import LOGARITHMS
from .rounding import fma32
from .types import FloatArray

__all__ = ["inverse_tanh_series", "log", "softplus", "softplus_in_double"]

_f32 = np.float32
#: ln 2 in two parts, the first of 9 bits, so that its products with whole numbers are exact.
_LN2_HIGH, _LN2_LOW = _f32(355 / 512), _f32(0.6931471805599453 - 355 / 512)
#: From the square on, of a polynomial that comes within 3.1e-10 of the logarithm.
_FROM_SQUARE = tuple(map(_f32, (-0.5, 0.3333345, -0.25009179, 0.19697316)))
#: The bits of 43/64, and the least number that is not subnormal.
_LEAST_OF_M, _LEAST_NORMAL = np.int32(0x3F2C0000), _f32(2.0**-126)


def inverse_tanh_series(s: FloatArray) -> FloatArray:
    r"""Twice the inverse hyperbolic tangent of at most a third, in double.

    Equation ``eq-log-series``:

    .. math:: L(s) = 2 s \left(1 + \frac{s^2}{3} + \frac{s^4}{5} + \dots + \frac{s^{16}}{17}\right)
              \approx \log \frac{1 + s}{1 - s}

    Examples
    --------
    >>> np.allclose(inverse_tanh_series(np.array([1 / 3])), np.log(2), rtol=1e-10)
    True
    """
    z = s * s
    square = z * z
    p = square * (2 / 17) + (z * (2 / 15) + 2 / 13)
    p = square * p + (z * (2 / 11) + 2 / 9)
    p = square * p + (z * (2 / 7) + 2 / 5)
    p = square * p + (z * (2 / 3) + 2)
    return np.asarray(s * p)


def log(x: Array) -> FloatArray:
    r"""The natural logarithm, every operation in float32.

    Equation ``eq-log``, with :math:`x = 2^n m` and m from 43/64 to 43/32, in one of 32 intervals:

    .. math::
        \begin{gathered}
        \log x = h + \big(f^2 \cdot D(f)
            + \big((n \cdot (\ln 2 - \tfrac{355}{512}) + \lambda_j) + \delta\big)\big), \\
        h = (n \cdot \tfrac{355}{512} + \Lambda_j) + f, \qquad f = m \cdot c_j - 1, \qquad
        \Lambda_j + \lambda_j = -\log c_j
        \end{gathered}

    A dot marks a product that is added with one rounding. The interval j has a number c of at most
    8 bits, so that f, below 1/32, is small and almost always exact; near 1 it is 1. :math:`\Lambda`
    has 16 bits after the point, so that its sum is exact. :math:`\delta` is what the rounding of h
    leaves out, and D has degree 3. Subnormal numbers are first multiplied by :math:`2^{23}`. Below
    0 it is nan.

    Notes
    -----
    Error bound ``eq-exp-error``: at most 0.66 units in the last place; 0.63 are the most that was
    found, between 1.0925 and 1.095, and 0.53 elsewhere.

    Examples
    --------
    >>> log(np.float32([0, 1, 10, np.inf, -1])).tolist()
    [-inf, 0.0, 2.3025851249694824, inf, nan]
    """
    x = np.asarray(x, _f32)
    is_usual = (x > 0) & (x < np.inf)
    is_subnormal = is_usual & (x < _LEAST_NORMAL)
    normal = np.where(is_usual, x, _f32(1)) * np.where(is_subnormal, _f32(2**23), _f32(1))
    bits = normal.view(np.int32)
    exponent = (bits - _LEAST_OF_M) >> 23
    n = exponent.astype(_f32) - np.where(is_subnormal, _f32(23), _f32(0))
    m = (bits - (exponent << 23)).view(_f32)
    near, large, small = LOGARITHMS[:, (bits >> 18) & 31]
    f = fma32(m, near, _f32(-1))
    start = fma32(n, _LN2_HIGH, large)
    high = start + f
    rest = fma32(n, _LN2_LOW, small) + (f - (high - start))
    y = high + fma32(f * f, polynomial(f, _FROM_SQUARE), rest)
    outside = np.where(x < 0, _f32(np.nan), np.where(x == 0, _f32(-np.inf), x))
    return np.where(is_usual, y, outside)


def softplus_in_double(x: FloatArray) -> FloatArray:
    """The number that ``eq-softplus`` rounds, of doubles.

    Examples
    --------
    >>> softplus_in_double(np.float64([0, 40])).round(8).tolist()
    [0.69314718, 40.0]
    """
    u = exp_in_double(-np.abs(x))
    return np.asarray(np.maximum(x, 0) + inverse_tanh_series(u / (u + 2)))


def softplus(x: Array) -> FloatArray:
    r"""The logarithm of one plus the exponential function.

    Equation ``eq-softplus``, with L as in ``eq-log-series``, in double and rounded once:

    .. math:: \log(1 + e^x) = \max(x, 0) + L\left(\frac{u}{u + 2}\right), \qquad u = e^{-|x|}

    Examples
    --------
    >>> softplus(np.float32([0, 1000, -1000]))
    array([6.931472e-01, 1.000000e+03, 0.000000e+00], dtype=float32)
    """
    return softplus_in_double(np.asarray(x, np.float32).astype(np.float64)).astype(np.float32)
