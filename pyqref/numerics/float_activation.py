"""Activations of float32 and their gradients: the order of operations that kernels keep.

What depends on exponentials is made of the functions of :mod:`.exponential`, :mod:`.logarithm`,
:mod:`.piecewise` and :mod:`.normal`; products and sums are of float32, but where a line says
double.
"""

from __future__ import annotations

import numpy as np

from . import exponential, logarithm, piecewise
from . import normal as distribution
from .rounding import fma32
from .types import FloatArray

__all__ = ["activation", "activation_gradient", "glu", "glu_gradients"]

_f32 = np.float32
_ZERO, _ONE, _THREE, _SIX = _f32(0), _f32(1), _f32(3), _f32(6)
#: Twice the inner polynomial of the tanh form of GELU is x (LINEAR + CUBIC x^2).
_LINEAR, _CUBIC = 1.5957691216057308, 0.07135481627260025
_MISH_IS_X = 40.0
_BELL_HEIGHT = _f32(0.3989422804014327)
_SLOPE_OF_ERF = 1.1283791670955126


def _shifted_relu6(x: FloatArray) -> FloatArray:
    return np.clip(x + _THREE, _ZERO, _SIX)


def _mish_power(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return w = e^x and w (w + 2), in double."""
    w = exponential.exp_in_double(np.minimum(x.astype(np.float64), _MISH_IS_X))
    return w, w * (w + 2)


def _gated(a: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray(a / exponential.one_plus_power(x))


def activation(
    name: str, x: FloatArray, first: float = 0, second: float = 0, third: float = 0
) -> FloatArray:
    r"""Value of an activation, or of another function of one number.

    Equation ``eq-float-activation``:

    .. math::
        \begin{aligned}
        \text{gelu: } & x\,T(|x|) \text{ below 0, else } x - x \cdot T(x) &
        \text{gelu\_tanh: } & x / (1 + e^{-x (c_1 + c_3 x^2)}) \\
        \text{silu: } & x / (1 + e^{-x}) &
        \text{mish: } & x\, \tfrac{t}{t + 2}, \; t = e^x (e^x + 2) \\
        \text{softplus: } & \tfrac1\beta \log(1 + e^{\beta x}) &
        \text{elu: } & \alpha\lambda\,(e^{\gamma x} - 1) \text{ below 0, else } \lambda x
        \end{aligned}

    with :math:`c_1 = 2\sqrt{2 / \pi}` and :math:`c_3 = 0.044715\, c_1`; the others are those of
    ``eq-leaky-relu``, ``eq-hardswish``, ``eq-hardsigmoid`` and of their own names.

    Parameters
    ----------
    name
        exp, log, erf, rsqrt, sigmoid, tanh, gelu, gelu_tanh, silu, mish, softplus, elu,
        leaky_relu, hardswish, hardsigmoid or hardtanh.
    x
        float32.
    first, second, third
        Of softplus :math:`\beta`, the threshold beyond which it is x, and a zero whose sign a
        result of zero may take; of elu
        :math:`\alpha\lambda`, :math:`\lambda` and :math:`\gamma`; of leaky_relu the slope; of
        hardtanh both ends.

    Examples
    --------
    >>> activation("silu", np.float32([0.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    a, b, c = _f32(first), _f32(second), _f32(third)
    with np.errstate(all="ignore"):
        return np.asarray(_value(name, x, a, b, c))


def _value(name: str, x: FloatArray, a: np.float32, b: np.float32, c: np.float32) -> FloatArray:
    wide = x.astype(np.float64)
    match name:
        case "exp":
            return exponential.exp(x)
        case "log":
            return logarithm.log(x)
        case "erf":
            return piecewise.erf(x)
        case "rsqrt":
            return _ONE / np.sqrt(x)
        case "sigmoid":
            return exponential.sigmoid(x)
        case "tanh":
            return piecewise.tanh(x)
        case "gelu":
            size, tail, _ = distribution.tail_and_bell(x)
            return np.where(x < 0, x * tail, fma32(-size, tail, x))
        case "gelu_tanh":
            power = exponential.exp_in_double(-wide * (wide * wide * _CUBIC + _LINEAR))
            # 0 x is nan where x is infinite, as x / inf would be.
            return (wide / ((wide * 0 + 1) + power)).astype(_f32)
        case "silu":
            return _gated(x, x)
        case "mish":
            _, t = _mish_power(x)
            return x * np.asarray(t / (t + 2), _f32)
        case "softplus":
            scaled = x * a
            y = logarithm.softplus_in_double(scaled.astype(np.float64)) * (1 / np.float64(a))
            return np.where(scaled > b, x, y.astype(_f32) + c)  # a zero, for the sign of zero
        case "elu":
            # Twice another sign: so -0.0 stays.
            below = (0 - exponential.expm1_in_double(x * c)) * -np.float64(a)
            return np.where(x < 0, below.astype(_f32), x * b)
        case "leaky_relu":
            return np.where(x > 0, x, x * a)
        case "hardswish":
            return x * _shifted_relu6(x) / _SIX
        case "hardsigmoid":
            return _shifted_relu6(x) / _SIX
        case "hardtanh":
            low = np.where(a > x, a, x)
            return np.where(b < low, b, low)
    raise ValueError(f"no activation {name!r}")


def activation_gradient(
    name: str,
    gradient: FloatArray,
    kept: FloatArray,
    first: float = 0,
    second: float = 0,
    third: float = 0,
) -> FloatArray:
    r"""Gradient of an argument from that of the result.

    Equation ``eq-float-activation-gradient``, with :math:`\phi(x) = e^{-x^2/2} / \sqrt{2\pi}`,
    :math:`\sigma` of x or :math:`2k(x) = x (c_1 + c_3 x^2)`, and :math:`w = e^x`:

    .. math::
        \begin{aligned}
        \text{gelu: } & g\,(\Phi(x) + x \cdot \phi(x)) &
        \text{gelu\_tanh: } & g\,\sigma\,(1 + x (c_1 + 3 c_3 x^2)(1 - \sigma)) \\
        \text{silu: } & g\,\sigma\,(1 + x (1 - \sigma)) &
        \text{mish: } & g\,\tfrac{1}{t + 2}\big(t + \tfrac{4 x w (w + 1)}{t + 2}\big) \\
        \text{softplus: } & g\,\sigma(\beta x) &
        \text{elu: } & g\,\alpha\lambda\gamma\,e^{\gamma x} \text{ up to 0, else } g\lambda \\
        \text{sigmoid: } & g\,(1 - y)\,y &
        \text{tanh: } & g\,(1 - y^2)
        \end{aligned}

    and piecewise constants for the others: hardtanh passes inside its ends, hardsigmoid a sixth
    between -3 and 3, hardswish :math:`x / 3 + 1/2` there, 0 up to -3 and 1 from 3 on.

    Parameters
    ----------
    kept
        The argument x; of sigmoid, tanh and hardtanh the result y.
    first, second, third
        As those of :func:`activation`; :math:`\gamma` is not negative.

    Examples
    --------
    >>> activation_gradient("silu", np.float32([2.0]), np.float32([0.0])).tolist()
    [1.0]
    """
    a, b, c = _f32(first), _f32(second), _f32(third)
    with np.errstate(all="ignore"):
        return np.asarray(_gradient(name, gradient, kept, a, b, c))


def _gradient(
    name: str, g: FloatArray, x: FloatArray, a: np.float32, b: np.float32, c: np.float32
) -> FloatArray:
    wide = x.astype(np.float64)
    match name:
        case "log":
            return g / x
        case "erf":
            return g * np.asarray(exponential.exp_in_double(-wide * wide) * _SLOPE_OF_ERF, _f32)
        case "sigmoid":
            return g * ((_ONE - x) * x)
        case "tanh":
            return g * (_ONE - x * x)
        case "gelu":
            _, tail, e = distribution.tail_and_bell(x)
            return g * fma32(x, e * _BELL_HEIGHT, np.where(x < 0, tail, _ONE - tail))
        case "gelu_tanh":
            square = wide * wide
            s = 1 / (1 + exponential.exp_in_double(-wide * (square * _CUBIC + _LINEAR)))
            slope = s * (1 + wide * (square * (3 * _CUBIC) + _LINEAR) * (1 - s))
            return g * slope.astype(_f32)
        case "silu":
            s32 = exponential.sigmoid(x)
            return g * (s32 * (_ONE + x * (_ONE - s32)))
        case "mish":
            w, t = _mish_power(x)
            inverse = 1 / (t + 2)
            slope = inverse * (t + 4 * wide * w * (w + 1) * inverse)
            return g * slope.astype(_f32)
        case "softplus":
            scaled = x * a
            return g * np.where(scaled > b, _ONE, exponential.sigmoid(scaled))
        case "elu":
            below = exponential.exp_below(x * c) * (a * c)
            return g * np.where(x > 0, b, below)
        case "leaky_relu":
            return g * np.where(x > 0, _ONE, a)
        case "hardswish":
            inside = g * (x / _THREE + _f32(0.5))
            return np.where(x <= -3, _ZERO, np.where(x >= 3, g, inside))
        case "hardsigmoid":
            return np.where((x > -3) & (x < 3), g * _f32(1 / 6), _ZERO)
        case "hardtanh":
            return np.where((x > a) & (x < b), g, _ZERO)
    raise ValueError(f"no gradient of {name!r}")


def glu(a: FloatArray, gate: FloatArray) -> FloatArray:
    r"""A number times the sigmoid of another.

    Equation ``eq-glu``:

    .. math:: y = a / (1 + e^{-b})

    Examples
    --------
    >>> glu(np.float32([3.0]), np.float32([0.0])).tolist()
    [1.5]
    """
    with np.errstate(all="ignore"):
        return _gated(a, gate)


def glu_gradients(
    gradient: FloatArray, a: FloatArray, gate: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Gradients of both arguments of :func:`glu`.

    Equation ``eq-glu-gradients``:

    .. math:: g_a = g / (1 + e^{-b}), \qquad g_b = (g\, a) \cdot \sigma(b)\,(1 - \sigma(b))

    Examples
    --------
    >>> [each.tolist() for each in glu_gradients(*np.float32([[1.0], [2.0], [0.0]]))]
    [[0.5], [0.5]]
    """
    with np.errstate(all="ignore"):
        s = exponential.sigmoid(gate)
        return _gated(gradient, gate), np.asarray(gradient * a * (s * (_ONE - s)))
