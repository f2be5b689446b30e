"""The exponential function of float32, and what activations and recurrent cells make of it.

NumPy's ``exp`` and ``tanh`` differ in the last bit from one version, or processor, to the next.
These functions are sums, products, quotients and fused multiply-adds, each rounded: the same bits
everywhere, and in the kernels. Those that networks use most are of float32 throughout; the others
are worked out in double, where no operation is fused, and rounded to float32 once.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .function_tables import POWERS
from .rounding import fma32
from .types import FloatArray

__all__ = [
    "exp",
    "exp_below",
    "exp_in_double",
    "expm1",
    "expm1_in_double",
    "one_plus_power",
    "polynomial",
    "sigmoid",
]

_f32 = np.float32
_LOG2_E = 1.4426950408889634
_LN2 = 0.6931471805599453
#: 1/2!, 1/3!, ..., 1/8!.
_SERIES = tuple(1 / factorial for factorial in (2, 6, 24, 120, 720, 5040, 40320))
#: Between these no power of two of a double is subnormal or infinite.
_LOWEST, _HIGHEST = -708.0, 709.0
#: 1.5 * 2^52 leaves no room for a fraction; then the lowest bits are n + 1023.
WHOLE = 1.5 * 2**52 + 1023
#: The same of float32, whose lowest bits are n + 127; and ln 2 in two parts, the first of 9 bits,
#: so that its products with whole numbers are exact.
WHOLE_F32 = _f32(1.5 * 2**23 + 127)
_LN2_HIGH, _LN2_LOW = _f32(355 / 512), _f32(_LN2 - 355 / 512)
#: ln 2 as the nearest float32, and the rest; times a whole number and subtracted in one rounding,
#: the first leaves nothing to be rounded.
_LN2_NEAREST = _f32(_LN2)
_LN2_REST = _f32(_LN2 - float(_LN2_NEAREST))
#: From the cube on, of a polynomial that comes within 1.1e-10 of the exponential function.
_FROM_CUBE = tuple(map(_f32, (0.16666666, 0.04166646, 0.008333565, 0.0013935462, 0.0001974563)))
#: From the square on, of a polynomial that comes within 3.1e-9 of the exponential function.
_FITTED = tuple(map(_f32, (0.49999993, 0.1666652, 0.04166839, 0.00836874, 0.00138146)))
#: Up to here 2^n is finite.
_HIGHEST_F32 = _f32(88.37)
_ONE, _HALF = _f32(1), _f32(0.5)
#: 1.5 * 2^18 leaves room for five bits of a fraction.
_OF_32 = _f32(1.5 * 2**18)
_SIXTH = _f32(1 / 6)
#: Beyond these the exponential function is 0 or infinite in float32.
_IS_ZERO, _IS_INFINITE = _f32(-105), _f32(100)


def power_of_two(shifted: FloatArray) -> FloatArray:
    """``2^n`` from ``n + WHOLE`` or ``n + WHOLE_F32``; where n is nan, any number."""
    if shifted.dtype == np.float32:
        return np.asarray(shifted.view(np.int32) << 23).view(np.float32)
    return np.asarray(shifted.view(np.int64) << 52).view(np.float64)


def polynomial(x: FloatArray, coefficients: tuple[np.float32, ...]) -> FloatArray:
    """Horner's rule in float32: each step is a fused multiply-add.

    Parameters
    ----------
    x
        float32.
    coefficients
        From the constant on.

    Examples
    --------
    >>> polynomial(np.float32([2, 3]), (np.float32(1), np.float32(10))).tolist()
    [21.0, 31.0]
    """
    *others, p = coefficients
    total = np.full_like(x, p)
    for coefficient in reversed(others):
        total = fma32(total, x, coefficient)
    return total


def _scaled(x: FloatArray, n: FloatArray) -> FloatArray:
    """``x 2^n``, rounded once: subnormal results, too. The first of two products is exact."""
    first = np.rint(_HALF * n)
    return x * power_of_two(first + WHOLE_F32) * power_of_two((n - first) + WHOLE_F32)


def _reduced(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``2^n`` and ``e^r - 1``, where ``x = n ln 2 + r`` and n is whole, in double."""
    x = np.clip(x, _LOWEST, _HIGHEST)
    shifted = x * _LOG2_E + WHOLE
    r = x - (shifted - WHOLE) * _LN2
    square = r * r
    c2, c3, c4, c5, c6, c7, c8 = _SERIES
    p = square * c8 + (r * c7 + c6)
    p = square * p + (r * c5 + c4)
    p = square * p + (r * c3 + c2)
    return power_of_two(np.asarray(shifted)), r + square * p


def exp_in_double(x: Array) -> FloatArray:
    r"""The exponential function of doubles.

    Equation ``eq-exp``, with n the whole number nearest to :math:`x \log_2 e` and
    :math:`x = n \ln 2 + r`:

    .. math:: e^x = 2^n + 2^n E(r), \qquad
              E(r) = r + r^2 \left(\frac{1}{2!} + \frac{r}{3!} + \dots + \frac{r^6}{8!}\right)

    Examples
    --------
    >>> exp_in_double(np.float64([0, 1])).round(8).tolist()
    [1.0, 2.71828183]
    """
    power, e = _reduced(np.asarray(x, np.float64))
    return power + power * e


def expm1_in_double(x: Array) -> FloatArray:
    """The number that ``eq-expm1`` rounds, of doubles.

    Examples
    --------
    >>> expm1_in_double(np.float64([0, 1])).round(8).tolist()
    [0.0, 1.71828183]
    """
    power, e = _reduced(np.asarray(x, np.float64))
    return power * e + (power - 1)


def _rounded(x: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(x, _f32)


def exp(x: Array) -> FloatArray:
    r"""The exponential function, every operation in float32.

    Equation ``eq-exp-float``, with N the multiple of 1/32 nearest to :math:`x \log_2 e`, n the
    whole number below it, :math:`j = 32 (N - n)`, and H the float32 nearest to :math:`\ln 2`:

    .. math::
        \begin{gathered}
        e^x = 2^n \big(T_j + (T_j \cdot e + t_j)\big), \qquad
        e = r^2 \cdot (r \cdot \tfrac16 + \tfrac12) + r, \\
        r = (x - N \cdot H) - N \cdot (\ln 2 - H), \qquad T_j + t_j = 2^{j / 32}
        \end{gathered}

    A dot marks a product that is added with one rounding. The powers :math:`2^{j / 32}` are a table
    of 32 float32, T, and of what their rounding leaves out, t.

    Parameters
    ----------
    x
        float32 of any shape.

    Notes
    -----
    Error bound ``eq-exp-error``: at most 0.54 units in the last place; 0.531 are the most that was
    found.

    Examples
    --------
    >>> exp(np.float32([0, 1, -1000, 1000]))
    array([1.       , 2.7182817, 0.       ,       inf], dtype=float32)
    """
    x = np.minimum(np.maximum(np.asarray(x, _f32), _IS_ZERO), _IS_INFINITE)
    shifted = fma32(x, _f32(_LOG2_E), _OF_32)
    n = shifted - _OF_32
    r = fma32(n, -_LN2_REST, fma32(n, -_LN2_NEAREST, x))
    power, rest = POWERS[:, shifted.view(np.int32) & 31]
    e = fma32(r * r, fma32(r, _SIXTH, _HALF), r)
    with np.errstate(over="ignore", under="ignore"):
        return _scaled(power + fma32(power, e, rest), np.floor(n))


def expm1(x: Array) -> FloatArray:
    r"""The exponential function less one.

    Equation ``eq-expm1``, with n and E as in ``eq-exp``, in double and rounded once:

    .. math:: e^x - 1 = 2^n E(r) + (2^n - 1)

    Near 0, n is 0 and nothing is lost, where ``exp(x) - 1`` would cancel.

    Examples
    --------
    >>> expm1(np.float32([0, 1e-6, 1]))
    array([0.0000000e+00, 1.0000005e-06, 1.7182819e+00], dtype=float32)
    """
    return _rounded(expm1_in_double(np.asarray(x, _f32)))


def exp_below(x: Array) -> FloatArray:
    r"""The exponential function of numbers that are not positive, every operation in float32.

    Equation ``eq-exp-below``, with n as in ``eq-exp``, :math:`\ln 2` in two parts, and C of degree
    4, whose coefficients make the largest relative error least:

    .. math:: e^x = 2^n + 2^n (r + r^2 C(r)), \qquad
              r = (x - n \tfrac{355}{512}) - n (\ln 2 - \tfrac{355}{512})

    It is 0 below :math:`-126.5 \ln 2 = -87.7`.

    Examples
    --------
    >>> exp_below(np.float32([0, -1, -1000]))
    array([1.        , 0.36787945, 0.        ], dtype=float32)
    """
    x = np.maximum(np.asarray(x, _f32), _f32(-88))
    shifted = x * _f32(_LOG2_E) + WHOLE_F32
    n = shifted - WHOLE_F32
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    square = r * r
    c2, c3, c4, c5, c6 = _FITTED
    p = square * c6 + (r * c5 + c4)
    p = square * p + (r * c3 + c2)
    power = power_of_two(np.asarray(shifted))
    return np.asarray(power + power * (r + square * p))


def one_plus_power(x: FloatArray) -> FloatArray:
    r"""One plus the exponential function of ``-x``, every operation in float32.

    Equation ``eq-one-plus-exp``, with n the whole number nearest to :math:`-x \log_2 e`, H the
    float32 nearest to :math:`\ln 2`, and D of degree 4:

    .. math::
        \begin{gathered}
        1 + e^{-x} = (1 + 2^n) + (2^n \cdot r + (2^n \cdot e + \varepsilon)), \\
        e = \tfrac r2 \cdot r + (r^3 \cdot D(r) + (\lambda \cdot r + \lambda)), \\
        r = -x - n \cdot H, \qquad \lambda = -n (\ln 2 - H)
        \end{gathered}

    A dot marks a product that is added with one rounding. :math:`\varepsilon` is what the rounding
    of :math:`1 + 2^n` leaves out. Below -88.37 it is infinite.

    Examples
    --------
    >>> one_plus_power(np.float32([0, 1000, -1000])).tolist()
    [2.0, 1.0, inf]
    """
    y = np.minimum(np.maximum(_f32(0) - x, _f32(-88)), _HIGHEST_F32)
    shifted = fma32(y, _f32(_LOG2_E), WHOLE_F32)
    n = shifted - WHOLE_F32
    r, rest = fma32(n, -_LN2_NEAREST, y), n * -_LN2_REST
    e = fma32((r * r) * r, polynomial(r, _FROM_CUBE), fma32(rest, r, rest))
    e = fma32(_HALF * r, r, e)
    power = power_of_two(shifted)
    start = _ONE + power
    total = start + fma32(power, r, fma32(power, e, _ONE - (start - power)))
    return np.where(x < -_HIGHEST_F32, _f32(np.inf), total)


def sigmoid(x: Array) -> FloatArray:
    r"""The logistic function, every operation in float32.

    Equation ``eq-sigmoid``, with the divisor of ``eq-one-plus-exp``:

    .. math:: \sigma(x) = \frac{1}{1 + e^{-x}}

    Notes
    -----
    Error bound ``eq-exp-error``: :math:`2.9 \cdot 2^{-24}` of the result; 1.63 units in the last
    place are the most that was found.

    Examples
    --------
    >>> sigmoid(np.float32([0, 1000, -1000]))
    array([0.5, 1. , 0. ], dtype=float32)
    """
    with np.errstate(all="ignore"):
        return np.asarray(_ONE / one_plus_power(np.asarray(x, _f32)))
