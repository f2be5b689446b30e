"""The error of quantization, as a bound and as noise."""

from __future__ import annotations

from math import erfc, exp, log10, pi, sqrt

import numpy as np

from .types import FloatArray

__all__ = [
    "clipping_error",
    "gaussian_noise",
    "rounding_bound",
    "rounding_noise",
    "uniform_sqnr",
]


def rounding_bound(scale: float) -> float:
    r"""The largest error of a number inside the range.

    Equation ``eq-rounding-error-bound``:

    .. math:: |x - \hat x| \le s / 2 \qquad
              \text{for } s\,(q_{min} - z - \tfrac12) \le x \le s\,(q_{max} - z + \tfrac12)

    in exact arithmetic; float32 adds less than :math:`s / 20{,}000` with 8 bits.

    Examples
    --------
    >>> rounding_bound(0.5)
    0.25
    """
    return scale / 2


def clipping_error(
    x: object, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> FloatArray:
    r"""The distance of each number from the range; 0 inside.

    Equation ``eq-clipping-error``:

    .. math:: e(x) = \max\big(s\,(q_{min} - z) - x,\; x - s\,(q_{max} - z),\; 0\big)

    Examples
    --------
    >>> clipping_error([-2.0, 0.5, 100.0], 0.25, 0, 0, 255)
    array([ 2.  ,  0.  , 36.25])
    """
    x = np.asarray(x, np.float64)
    low, high = scale * (quant_min - zero_point), scale * (quant_max - zero_point)
    return np.maximum(np.maximum(low - x, x - high), 0)


def rounding_noise(scale: float) -> float:
    r"""Mean square of an error that is spread evenly over a step.

    Equation ``eq-rounding-noise``:

    .. math:: \sigma^2 = \frac{1}{s} \int_{-s/2}^{s/2} e^2\, de = \frac{s^2}{12}

    Examples
    --------
    >>> rounding_noise(6.0)
    3.0
    """
    return scale * scale / 12


def uniform_sqnr(bits: int) -> float:
    r"""Signal to noise ratio, in dB, of numbers that fill their range evenly.

    Equation ``eq-sqnr-uniform``:

    .. math:: \mathrm{SQNR} = 10 \log_{10} \frac{R^2 / 12}{s^2 / 12}
              = 20 \log_{10}(2^b - 1) \approx 6.02\, b

    with :math:`R = (2^b - 1)\, s`.

    Examples
    --------
    >>> round(uniform_sqnr(8), 2), round(uniform_sqnr(8) - uniform_sqnr(7), 2)
    (48.13, 6.05)
    """
    return 20 * log10(2**bits - 1)


def gaussian_noise(bits: int, clip: float) -> float:
    r"""Mean square error of standard normal numbers that are clipped and rounded.

    Equation ``eq-gaussian-noise``:

    .. math:: D(a) = \frac{s^2}{12}\,\big(1 - 2 Q(a)\big)
              + 2\,\big((1 + a^2)\, Q(a) - a\, \varphi(a)\big), \qquad s = \frac{2a}{2^b - 1}

    with the normal density :math:`\varphi` and its tail :math:`Q(a) = \int_a^\infty \varphi`.

    Parameters
    ----------
    bits
        :math:`b`.
    clip
        :math:`a`, the ends of the range, in standard deviations.

    Examples
    --------
    >>> round(-10 * log10(gaussian_noise(8, 4.0)), 1)
    40.5
    """
    step = 2 * clip / (2**bits - 1)
    tail = erfc(clip / sqrt(2)) / 2
    density = exp(-clip * clip / 2) / sqrt(2 * pi)
    return rounding_noise(step) * (1 - 2 * tail) + 2 * ((1 + clip * clip) * tail - clip * density)
