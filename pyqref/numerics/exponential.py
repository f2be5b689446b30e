"""The exponential function in float32, and what recurrent cells make of it.

NumPy's ``exp`` and ``tanh`` differ in the last bit from one version, or processor, to the next.
These functions are sums, products and quotients of float32, each rounded: the same bits everywhere,
and in the kernels. No operation is fused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .types import FloatArray

__all__ = ["exp", "expm1", "sigmoid", "tanh"]

_f32 = np.float32
_LOG2_E = _f32(1.4426950408889634)
#: ln 2 in two parts. The first has 9 bits, so that its products with whole numbers are exact.
_LN2_HIGH, _LN2_LOW = _f32(355 / 512), _f32(0.6931471805599453 - 355 / 512)
#: 1/7!, 1/6!, ..., 1/2!.
_SERIES = tuple(_f32(1 / factorial) for factorial in (5040, 720, 120, 24, 6, 2))
#: Where the exponential is 0 and where it is infinite in float32.
_LOWEST, _HIGHEST = _f32(-104), _f32(89)
#: Where tanh is 1 in float32: at 9.02 and beyond.
_TANH_IS_ONE = _f32(10)


def _reduced(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``n`` and ``e^r - 1``, where ``x = n ln 2 + r`` and n is whole."""
    n = np.rint(x * _LOG2_E)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = _SERIES[0]
    for term in _SERIES[1:]:
        p = p * r + term
    return n, r + r * r * p


def _power_of_two(n: FloatArray) -> FloatArray:
    """``2^n`` of whole numbers from -126 to 127; where n is nan, any number."""
    return np.ldexp(_f32(1), np.nan_to_num(n).astype(np.int32))


def exp(x: Any) -> FloatArray:
    r"""The exponential function.

    Equation ``eq-exp``, with :math:`n = \mathrm{rint}(x \log_2 e)` and :math:`x = n \ln 2 + r`:

    .. math:: e^x = 2^n (1 + E(r)), \qquad
              E(r) = r + r^2 \left(\frac{1}{2!} + \frac{r}{3!} + \dots + \frac{r^5}{7!}\right)

    Parameters
    ----------
    x
        float32 of any shape.

    Notes
    -----
    Error bound ``eq-exp-error``: below 2 units of the last place. :math:`2^n` is multiplied in two
    steps, so that results beyond the range of float32 become 0, subnormal or infinite.

    Examples
    --------
    >>> exp(np.float32([0, 1, -1000, 1000]))
    array([1.       , 2.7182817, 0.       ,       inf], dtype=float32)
    """
    x = np.clip(np.asarray(x, _f32), _LOWEST, _HIGHEST)
    n, e = _reduced(x)
    half = np.rint(n * _f32(0.5))
    with np.errstate(over="ignore", under="ignore"):
        return (_f32(1) + e) * _power_of_two(half) * _power_of_two(n - half)


def expm1(x: Any) -> FloatArray:
    r"""The exponential function less one, between -87 and 88.

    Equation ``eq-expm1``, with n and E as in ``eq-exp``:

    .. math:: e^x - 1 = 2^n E(r) + (2^n - 1)

    Near 0, n is 0 and nothing is lost, where ``exp(x) - 1`` would cancel.

    Examples
    --------
    >>> expm1(np.float32([0, 1e-6, 1]))
    array([0.0000000e+00, 1.0000005e-06, 1.7182817e+00], dtype=float32)
    """
    n, e = _reduced(np.asarray(x, _f32))
    power = _power_of_two(n)
    return power * e + (power - _f32(1))


def sigmoid(x: Any) -> FloatArray:
    r"""The logistic function.

    Equation ``eq-sigmoid``, with the exponential function of ``eq-exp``:

    .. math:: \sigma(x) = \frac{1}{1 + e^{-x}}

    Examples
    --------
    >>> sigmoid(np.float32([0, 1000, -1000]))
    array([0.5, 1. , 0. ], dtype=float32)
    """
    return _f32(1) / (_f32(1) + exp(-np.asarray(x, _f32)))


def tanh(x: Any) -> FloatArray:
    r"""The hyperbolic tangent.

    Equation ``eq-tanh-expm1``, with ``eq-expm1``:

    .. math:: \tanh x = \mathrm{sign}(x) \, \frac{m}{m + 2}, \qquad m = e^{2|x|} - 1

    Examples
    --------
    >>> tanh(np.float32([0, -0.0, 0.5, -1000]))
    array([ 0.        , -0.        ,  0.46211714, -1.        ], dtype=float32)
    """
    x = np.asarray(x, _f32)
    m = expm1(_f32(2) * np.minimum(np.abs(x), _TANH_IS_ONE))
    return np.copysign(m / (m + _f32(2)), x)
