"""The normal distribution of float32, with the same bits everywhere."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .exponential import WHOLE_F32, polynomial, power_of_two
from .rounding import fma32
from .types import FloatArray

__all__ = ["bell", "normal", "tail_and_bell"]

_f32 = np.float32
#: From here on the bell is 0.
_BELL_IS_ZERO = _f32(13.27)
_RATE = _f32(-0.5 * 1.4426950408889634)
_BELL = tuple(map(_f32, (0.6931472, 0.24022648, 5.5503324e-2, 9.618437e-3, 1.3398883e-3,
                         1.5353458e-4)))  # fmt: skip
_ABOVE = tuple(map(_f32, (0.5, 0.43568558, 0.18130618, 0.03998397, 0.0040201591)))
_BELOW = tuple(map(_f32, (1, 1.6692561, 1.1944818, 0.4643788, 0.10023233, 0.0100769)))


def bell(square: FloatArray) -> FloatArray:
    r"""The exponential function of minus half of a square, every operation in float32.

    Equation ``eq-bell``, with n the whole number nearest to :math:`x^2 (-\frac12 \log_2 e)`:

    .. math:: e^{-x^2 / 2} = 2^n \cdot (r\, B(r)) + 2^n, \qquad
              r = x^2 \cdot (-\tfrac12 \log_2 e) - n

    A dot marks a product that is added with one rounding. B has degree 5. Squares are at most
    176.1; there the result is 0, since :math:`n < -126`.

    Examples
    --------
    >>> [f"{each:.5g}" for each in bell(np.float32([0, 2, 176]))]
    ['1', '0.36788', '0']
    """
    shifted = fma32(square, _RATE, WHOLE_F32)
    r = fma32(square, _RATE, WHOLE_F32 - shifted)
    power = power_of_two(shifted)
    return fma32(power, r * polynomial(r, _BELL), power)


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
    return size, e * polynomial(size, _ABOVE) / polynomial(size, _BELOW), e


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
