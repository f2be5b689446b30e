"""Functions that are odd and level off, of float32: polynomials, piece by piece.

The hyperbolic tangent and the error function. Every operation is of float32, so that the bits are
the same everywhere, and in the kernels.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .function_tables import ERF, TANH
from .rounding import fma32
from .types import FloatArray

__all__ = ["erf", "piecewise", "tanh"]

_f32 = np.float32
#: Three quarters of the power of two at which the first interval ends, with the place of its
#: exponent and of two more bits.
_FIRST, _FIRST_PLACE = _f32(7 / 128), 491
#: From 9.02 and from 3.93 on, tanh and erf are 1 in float32.
_TANH_END, _ERF_END = _f32(9.5), _f32(3.95)


def piecewise(x: FloatArray, table: Array, end: np.float32) -> FloatArray:
    r"""An odd function, from polynomials that a table has for each interval of the magnitude.

    Equation ``eq-piecewise``, with :math:`a = \min(|x|, \mathrm{end})`, m the middle of its
    interval and :math:`u = a - m`:

    .. math::
        f(x) = \mathrm{sign}(x) \Big(f_m + \big(u \cdot s_m
            + (u^2 \cdot C_m(u) + (u \cdot \sigma_m + \varphi_m))\big)\Big)

    A dot marks a product that is added with one rounding. f and s are the value and the slope in
    the middle, :math:`\varphi` and :math:`\sigma` what their roundings leave out, and C has degree
    4. One interval ends at 1/16, and its m is 0; from there on each power of two has four.

    Parameters
    ----------
    x
        float32.
    table
        ``(intervals, 10)``: m, f, phi, s, sigma and C from its constant on.
    end
        Within the last interval.

    Examples
    --------
    >>> piecewise(np.float32([0.5]), TANH, np.float32(9))
    array([0.46211717], dtype=float32)
    """
    a = np.minimum(np.abs(x), end)
    place = (np.maximum(a, _FIRST).view(np.int32) >> 21) - _FIRST_PLACE
    middle, value, value_rest, slope, slope_rest, *others, p = np.moveaxis(table[place & 31], -1, 0)
    u = a - middle
    for coefficient in reversed(others):
        p = fma32(p, u, coefficient)
    p = fma32(u * u, p, fma32(u, slope_rest, value_rest))
    return np.copysign(value + fma32(u, slope, p), x)


def tanh(x: Array) -> FloatArray:
    r"""The hyperbolic tangent, every operation in float32.

    By equation ``eq-piecewise``, with 30 intervals.

    Notes
    -----
    Error bound ``eq-exp-error``: at most 0.6 units in the last place; 0.564 are the most that was
    found.

    Examples
    --------
    >>> tanh(np.float32([0, -0.0, 0.5, -1000]))
    array([ 0.        , -0.        ,  0.46211717, -1.        ], dtype=float32)
    """
    return piecewise(np.asarray(x, _f32), TANH, _TANH_END)


def erf(x: Array) -> FloatArray:
    r"""The error function, every operation in float32.

    By equation ``eq-piecewise``, with 25 intervals.

    Notes
    -----
    Error bound ``eq-exp-error``: at most 0.6 units in the last place; 0.564 are the most that was
    found.

    Examples
    --------
    >>> erf(np.float32([0, 0.5, -5]))
    array([ 0.       ,  0.5204999, -1.       ], dtype=float32)
    """
    return piecewise(np.asarray(x, _f32), ERF, _ERF_END)
