"""Activations of quantized arrays: a function of real numbers between two grids.

Each function below is the real one, in float32; exponentials are taken in double and
rounded once. :func:`pointwise` carries it to integers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .affine import dequantize_per_tensor, quantize_per_tensor, reciprocal32
from .elementwise import Grid, dequantize_fused, quantize_after
from .rounding import clamp_to_int, round_half_even
from .types import Convention, FloatArray, IntArray

__all__ = [
    "elu",
    "hardsigmoid",
    "hardswish",
    "leaky_relu",
    "pointwise",
    "pointwise_table",
    "prelu",
    "quantize_result",
    "sigmoid",
    "tanh",
    "threshold",
]

RealFunction = Callable[[FloatArray], FloatArray]


def pointwise(function: RealFunction, q: IntArray, grid: Grid, out: Grid) -> IntArray:
    r"""A real function on a quantized array, as vector code runs it.

    Equation ``eq-quantized-pointwise``:

    .. math::
        \hat x = \mathrm{dequantize\_fused}(q), \qquad
        q' = \begin{cases} \mathrm{quantize\_after}(f(\hat x)) & \text{8 bits} \\
                           \mathrm{quantize}(f(\hat x)) & \text{32 bits} \end{cases}

    Parameters
    ----------
    function
        Takes and returns float32 arrays.
    q
        Integers on ``grid``.
    out
        Grid of the result, of the same storage.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> pointwise(sigmoid, np.uint8([118, 128, 138]), Grid(0.5, 128), Grid(1 / 256, 0)).tolist()
    [2, 128, 254]
    """
    return quantize_result(np.asarray(function(dequantize_fused(q, grid)), np.float32), out)


def quantize_result(y: FloatArray, out: Grid) -> IntArray:
    """Integers of real results: ``eq-quantize-after`` of 8 bits, ``eq-affine-quantize`` of 32.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> quantize_result(np.float32([0.5, 1.5, 1000.0]), Grid(1.0, 1)).tolist()
    [1, 3, 255]
    """
    if np.dtype(out.storage).itemsize == 1:
        return quantize_after(y, out)
    return quantize_per_tensor(y, *out)


def pointwise_table(function: RealFunction, q: IntArray, grid: Grid, out: Grid) -> IntArray:
    r"""A real function on a quantized array, as qnnpack fills its tables of 256 entries.

    Equation ``eq-quantized-table``:

    .. math:: q' = \mathrm{quantize}\big(f(\mathrm{dequantize}(q))\big)

    The zero point is added before rounding, unlike in ``eq-quantized-pointwise``.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> half, out = lambda x: x / 2, Grid(1.0, 1)  # ties: the zero point decides where they go
    >>> pointwise_table(half, np.uint8([1, 3, 5]), Grid(1.0, 0), out).tolist()
    [2, 2, 4]
    >>> pointwise(half, np.uint8([1, 3, 5]), Grid(1.0, 0), out).tolist()
    [1, 3, 3]
    """
    y = np.asarray(function(dequantize_per_tensor(q, grid.scale, grid.zero_point)), np.float32)
    return quantize_per_tensor(y, *out)


def sigmoid(x: FloatArray) -> FloatArray:
    r"""Logistic function.

    Equation ``eq-logistic``:

    .. math:: \sigma(x) = \mathrm{fl}_{32}\left(\frac{1}{1 + e^{-x}}\right)

    Examples
    --------
    >>> sigmoid(np.float32([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(over="ignore"):
        value = 1 / (1 + np.exp(-np.asarray(x, np.float64)))
    return value.astype(np.float32)


def tanh(x: FloatArray) -> FloatArray:
    r"""Hyperbolic tangent.

    Equation ``eq-tanh``:

    .. math:: \tanh(x) = \mathrm{fl}_{32}\left(\frac{e^x - e^{-x}}{e^x + e^{-x}}\right)

    Examples
    --------
    >>> tanh(np.float32([-100.0, 0.0, 100.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return np.tanh(np.asarray(x, np.float64)).astype(np.float32)


def hardsigmoid(x: FloatArray) -> FloatArray:
    r"""Piecewise linear sigmoid.

    Equation ``eq-hardsigmoid``:

    .. math:: h(x) = \min(\max(x + 3, 0), 6) / 6

    Examples
    --------
    >>> hardsigmoid(np.float32([-4, 0, 4])).tolist()
    [0.0, 0.5, 1.0]
    """
    three, six = np.float32(3), np.float32(6)
    return np.clip(np.asarray(x, np.float32) + three, np.float32(0), six) / six


def hardswish(x: FloatArray) -> FloatArray:
    r"""Product of a number and its piecewise linear sigmoid.

    Equation ``eq-hardswish``:

    .. math:: y = \big(x \cdot \min(\max(x + 3, 0), 6)\big) / 6

    Examples
    --------
    >>> hardswish(np.float32([-1.5, 1.5, 4])).tolist()
    [-0.375, 1.125, 4.0]
    """
    x = np.asarray(x, np.float32)
    return x * np.clip(x + np.float32(3), np.float32(0), np.float32(6)) / np.float32(6)


def elu(
    x: FloatArray, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> FloatArray:
    r"""Exponential linear unit; CELU with input_scale = 1 / alpha.

    Equation ``eq-elu``:

    .. math:: y = \begin{cases} \lambda x & x > 0 \\
              \mathrm{fl}_{32}\big(\alpha \lambda (e^{\beta x} - 1)\big) & \text{otherwise}
              \end{cases}

    Parameters
    ----------
    alpha
        :math:`\alpha`, minus the limit to the left.
    scale
        :math:`\lambda`.
    input_scale
        :math:`\beta`.

    Examples
    --------
    >>> elu(np.float32([-100.0, 0.0, 2.0]), alpha=0.5).tolist()
    [-0.5, 0.0, 2.0]
    """
    x = np.asarray(x, np.float32)
    exponent = np.minimum(x * np.float32(input_scale), 0).astype(np.float64)
    below = np.expm1(exponent) * float(np.float32(alpha) * np.float32(scale))
    return np.where(x > 0, x * np.float32(scale), below.astype(np.float32))


def leaky_relu(x: FloatArray, negative_slope: float) -> FloatArray:
    r"""A smaller slope below zero.

    Equation ``eq-leaky-relu``:

    .. math:: y = \begin{cases} x & x > 0 \\ a\,x & \text{otherwise} \end{cases}

    Examples
    --------
    >>> leaky_relu(np.float32([-4.0, 4.0]), 0.25).tolist()
    [-1.0, 4.0]
    """
    x = np.asarray(x, np.float32)
    return np.where(x > 0, x, x * np.asarray(negative_slope, np.float32))


def threshold(x: FloatArray, low: float, value: float) -> FloatArray:
    r"""A constant for all that does not exceed ``low``.

    Equation ``eq-threshold``:

    .. math:: y = \begin{cases} x & x > t \\ v & \text{otherwise} \end{cases}

    Examples
    --------
    >>> threshold(np.float32([0.5, 1.0, 1.5]), 1.0, -7.0).tolist()
    [-7.0, -7.0, 1.5]
    """
    x = np.asarray(x, np.float32)
    return np.where(x > np.float32(low), x, np.float32(value))


def prelu(
    q: IntArray,
    grid: Grid,
    weight: IntArray,
    weight_grid: Grid,
    out: Grid,
    convention: Convention = "documented",
) -> IntArray:
    r"""ReLU with a quantized slope below zero.

    Equation ``eq-quantized-prelu``:

    .. math::
        \begin{gathered}
        q' = \mathrm{sat}\big(\mathrm{rne}(m \, (q - z)\, w) + z_y\big), \\[1ex]
        (m, w) = \begin{cases}
            (s_x s_w\, \iota(s_y),\; q_w - z_w) & q \le z \\
            (s_x\, \iota(s_y),\; 1) & q > z, \text{ documented} \\
            (s_x s_w\, \iota(s_y),\; \mathrm{quantize}_w(1) - z_w) & q > z, \text{ torch}
        \end{cases}
        \end{gathered}

    torch 2.13 takes the slope 1, too, from the weight's grid, where it may saturate.

    Parameters
    ----------
    q
        Integers ``(...)`` on ``grid``.
    weight
        Integers that broadcast against ``q``, on ``weight_grid``.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> x, slope, out = np.uint8([108, 148]), np.uint8([255]), Grid(0.1, 128)
    >>> prelu(x, Grid(0.1, 128), slope, Grid(0.25 / 255, 0), out).tolist()
    [123, 148]
    >>> prelu(x, Grid(0.1, 128), slope, Grid(0.25 / 255, 0), out, "torch").tolist()
    [123, 133]
    """
    centred = np.asarray(q).astype(np.int64) - grid.zero_point
    slope = np.asarray(weight).astype(np.int64) - weight_grid.zero_point
    multiplier = np.float32(grid.scale) * np.float32(weight_grid.scale) * reciprocal32(out.scale)
    one = int(quantize_per_tensor(np.ones((), np.float32), *weight_grid)) - weight_grid.zero_point
    if convention == "torch":
        below = above = multiplier
    else:
        below, above, one = multiplier, np.float32(grid.scale) * reciprocal32(out.scale), 1
    positive = centred > 0
    product = (centred * np.where(positive, one, slope)).astype(np.float32)
    rounded = round_half_even(product * np.where(positive, above, below)).astype(np.float64)
    return clamp_to_int(rounded + out.zero_point, out.quant_min, out.quant_max, out.storage)
