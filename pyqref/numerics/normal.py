"""The error function and the normal distribution of float32, the same bits everywhere."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .exponential import WHOLE_F32, power_of_two
from .types import FloatArray

__all__ = ["bell", "erf", "normal", "tail_and_bell"]

_f32 = np.float32
#: From here on the error function is 1 in float32.
_ERF_IS_ONE = 3.93
#: From here on the bell is 0.
_BELL_IS_ZERO = _f32(13.27)
_RATE = _f32(-0.5 * 1.4426950408889634)


def erf(x: Array) -> FloatArray:
    r"""The error function.

    Equation ``eq-erf``, with :math:`a = \min(\max(x, -3.93), 3.93)`, in double and rounded once:

    .. math:: \mathrm{erf}(x) = a\, \frac{P(a^2)}{Q(a^2)}

    P has degree 6 and Q degree 5; their coefficients make the largest relative error least.

    Notes
    -----
    Error bound ``eq-exp-error``: at most 0.54 units in the last place.

    Examples
    --------
    >>> erf(np.float32([0, 0.5, -5]))
    array([ 0.       ,  0.5204999, -1.       ], dtype=float32)
    """
    a = np.clip(np.asarray(x, _f32).astype(np.float64), -_ERF_IS_ONE, _ERF_IS_ONE)
    z = a * a
    square = z * z
    p = square * -1.2857767632938314e-08 + (z * 4.6200150271145225e-06 + 0.0003771662339783654)
    q = z * 6.250045803695876e-05 + 0.0013024095455571422
    p = square * p + (z * 0.003840301761765399 + 0.05425474426237144)
    q = square * q + (z * 0.015434851896643257 + 0.11388704344523792)
    p = square * p + (z * 0.18514799104195107 + 1.128379169176582)
    q = square * q + (z * 0.4974165421241772 + 1)
    return np.asarray(a * p / q, _f32)


def bell(square: FloatArray) -> FloatArray:
    r"""The exponential function of minus half of a square, every operation in float32.

    Equation ``eq-bell``, with :math:`y = x^2 \cdot (-\frac12 \log_2 e)`, n the whole number nearest
    to it and :math:`r = y - n`:

    .. math:: e^{-x^2 / 2} = 2^n + 2^n \, r\, B(r)

    B has degree 5. Squares are at most 176.1; there the result is 0, since :math:`n < -126`.

    Examples
    --------
    >>> [f"{each:.5g}" for each in bell(np.float32([0, 2, 176]))]
    ['1', '0.36788', '0']
    """
    y = square * _RATE
    shifted = np.asarray(y + WHOLE_F32)
    r = y - (shifted - WHOLE_F32)
    rest = r * r
    p = r * _f32(1.5353458e-4) + _f32(1.3398883e-3)
    p = rest * p + (r * _f32(9.618437e-3) + _f32(5.5503324e-2))
    p = rest * p + (r * _f32(0.24022648) + _f32(0.6931472))
    power = power_of_two(shifted)
    return np.asarray(power + power * (r * p))


def tail_and_bell(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""The magnitude, held to 13.27, the upper tail of the normal distribution there, and the bell.

    Equation ``eq-normal-tail``, with ``eq-bell``, every operation in float32:

    .. math:: T(x) = 1 - \Phi(x) = e^{-x^2 / 2}\, \frac{A(x)}{B(x)}

    A and B have degrees 4 and 5: their quotient is Mills' ratio, over :math:`\sqrt{2 \pi}`. So
    small values keep their digits, which ``(1 - erf(x / sqrt(2))) / 2`` would lose.

    Examples
    --------
    >>> [f"{each:.5g}" for each in tail_and_bell(np.float32([0, 5]))[1]]
    ['0.5', '2.8665e-07']
    """
    size = np.minimum(np.abs(x), _BELL_IS_ZERO)
    square = size * size
    e = bell(square)
    above = size * _f32(0.03998397) + _f32(0.18130618)
    below = size * _f32(0.0100769) + _f32(0.10023233)
    above = square * _f32(0.0040201591) + above
    below = square * below + (size * _f32(0.4643788) + _f32(1.1944818))
    above = square * above + (size * _f32(0.43568558) + _f32(0.5))
    below = square * below + (size * _f32(1.6692561) + _f32(1))
    return size, e * above / below, e


def normal(x: Array) -> FloatArray:
    r"""The distribution function of the normal distribution, every operation in float32.

    Equation ``eq-normal``, with T of ``eq-normal-tail``:

    .. math:: \Phi(x) = \begin{cases} T(|x|) & x < 0 \\ 1 - T(x) & \text{otherwise} \end{cases}

    Examples
    --------
    >>> [f"{each:.5g}" for each in normal(np.float32([0, 1.96, -5]))]
    ['0.5', '0.975', '2.8665e-07']
    """
    x = np.asarray(x, _f32)
    _, tail, _ = tail_and_bell(x)
    return np.where(x < 0, tail, _f32(1) - tail)
