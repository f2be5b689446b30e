"""The logarithm of float32, and softplus: in double and rounded once, the same bits everywhere."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .exponential import WHOLE, exp_in_double, power_of_two
from .types import FloatArray

__all__ = ["inverse_tanh_series", "log", "softplus", "softplus_in_double"]

_LN2 = 0.6931471805599453
#: Added to the bits of a double, its exponent is that of the power of two nearest by ratio.
_TO_NEAREST = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD


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
    r"""The natural logarithm.

    Equation ``eq-log``, with :math:`x = 2^n m` and m between :math:`\sqrt{1/2}` and
    :math:`\sqrt 2`, in double and rounded once:

    .. math:: \log x = n \ln 2 + L\left(\frac{m - 1}{m + 1}\right)

    L is that of ``eq-log-series``. Below 0 it is nan.

    Examples
    --------
    >>> log(np.float32([0, 1, 10, np.inf, -1])).tolist()
    [-inf, 0.0, 2.3025851249694824, inf, nan]
    """
    x = np.asarray(x, np.float32)
    is_usual = (x > 0) & (x < np.inf)
    wide = np.where(is_usual, x, np.float32(1)).astype(np.float64)
    n = (((wide.view(np.int64) + _TO_NEAREST) >> 52) - 1023).astype(np.float64)
    m = wide * power_of_two(np.asarray(WHOLE - n))
    y = n * _LN2 + inverse_tanh_series((m - 1) / (m + 1))
    outside = np.where(x < 0, np.nan, np.where(x == 0, -np.inf, x))
    return np.where(is_usual, y, outside).astype(np.float32)


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
