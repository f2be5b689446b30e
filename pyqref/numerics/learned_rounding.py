"""Rounding that is learned: each weight goes to the integer below or above it, whichever helps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .exponential import exp_in_double
from .logarithm import log
from .types import FloatArray

__all__ = [
    "annealed_exponent",
    "reconstruction_error",
    "rectified_sigmoid",
    "rounding_gradient",
    "rounding_regularizer",
    "rounding_start",
    "soft_rounding",
]

#: The sigmoid is stretched from 0 .. 1 to these, so that it reaches both ends of 0 .. 1.
LOWEST, HIGHEST = -0.1, 1.1


def _sigmoid(v: ArrayLike) -> FloatArray:
    x = np.asarray(v, np.float64)
    e = exp_in_double(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, e) / (1.0 + e))


def rectified_sigmoid(v: ArrayLike) -> FloatArray:
    r"""The share of a step by which a weight is rounded up.

    Equation ``eq-rectified-sigmoid``:

    .. math:: h(v) = \min\bigl(1, \max\bigl(0,\; (\zeta - \gamma)\, \sigma(v) + \gamma\bigr)\bigr),
              \qquad \zeta = 1.1,\; \gamma = -0.1

    A plain sigmoid never reaches 0 or 1; this one does, at :math:`|v| = \ln 11`.

    Parameters
    ----------
    v
        What is learned, of any shape.

    Returns
    -------
    float64 in [0, 1], of the same shape. The exponential function is that of ``eq-exp``, in double
    precision.

    Notes
    -----
    Source: Nagel et al. 2020, equation 23; Louizos et al. 2018.

    Examples
    --------
    >>> rectified_sigmoid([-3.0, 0.0, 3.0]).round(6).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(np.clip(_sigmoid(v) * (HIGHEST - LOWEST) + LOWEST, 0.0, 1.0))


def rounding_start(share: ArrayLike) -> FloatArray:
    r"""The value from which a weight's rounding is learned.

    Equation ``eq-rounding-start``:

    .. math:: v = \ln \frac{r - \gamma}{\zeta - r}, \qquad h(v) = r

    Learning begins where the soft weight is the float weight.

    Parameters
    ----------
    share
        What is left of each weight above the integer below it, in [0, 1].

    Returns
    -------
    float32 of the same shape.

    Examples
    --------
    >>> rectified_sigmoid(rounding_start([0.0, 0.25, 0.5])).round(6).tolist()
    [0.0, 0.25, 0.5]
    """
    r = np.asarray(share, np.float64)
    return np.asarray(log(((r - LOWEST) / (HIGHEST - r)).astype(np.float32)))


def soft_rounding(
    below: ArrayLike,
    share: ArrayLike,
    scale: ArrayLike,
    zero_point: ArrayLike,
    quant_min: int,
    quant_max: int,
) -> FloatArray:
    r"""The weight that stands between two integers while its rounding is learned.

    Equation ``eq-soft-rounding``:

    .. math:: \tilde W = s \Bigl(\min\bigl(q_{\max}, \max(q_{\min},\;
              \lfloor W / s \rfloor + z + h)\bigr) - z\Bigr)

    Where h is 0 or 1 this is a weight on the grid.

    Parameters
    ----------
    below
        :math:`\lfloor W / s \rfloor + z`, the integers below the weights.
    share
        h, in [0, 1].
    scale, zero_point
        The grid, broadcast to the weights.
    quant_min, quant_max
        The range of integers.

    Returns
    -------
    float32, computed in double precision and rounded once.

    Notes
    -----
    Source: Nagel et al. 2020, equation 22.

    Examples
    --------
    >>> soft_rounding([3, 3, 7], [0.0, 0.5, 1.0], 0.25, 0, -8, 7).tolist()
    [0.75, 0.875, 1.75]
    """
    place = np.asarray(below, np.float64) + np.asarray(share, np.float64)
    place = np.clip(place, quant_min, quant_max) - np.asarray(zero_point, np.float64)
    return np.asarray((place * np.asarray(scale, np.float64)).astype(np.float32))


def _power(base: FloatArray, exponent: float) -> FloatArray:
    """``base ** exponent`` of numbers in [0, 1], with the same bits everywhere."""
    return exp_in_double(exponent * log(base.astype(np.float32)).astype(np.float64))


def rounding_regularizer(share: ArrayLike, exponent: float) -> FloatArray:
    r"""The price of a weight that stands between two integers.

    Equation ``eq-rounding-regularizer``:

    .. math:: f(h) = 1 - |2h - 1|^{\beta}

    It is 0 at both integers. With a large exponent it is flat in the middle, where weights may
    move freely; with a small one it drives them to the nearer end.

    Parameters
    ----------
    share
        h, in [0, 1].
    exponent
        :math:`\beta`, above 1.

    Returns
    -------
    float64 in [0, 1], of the same shape.

    Notes
    -----
    Source: Nagel et al. 2020, equation 24, of which this is one term.

    Examples
    --------
    >>> rounding_regularizer([0.0, 0.25, 0.5, 1.0], 2.0).round(6).tolist()
    [0.0, 0.75, 1.0, 0.0]
    """
    return np.asarray(1.0 - _power(np.abs(2.0 * np.asarray(share, np.float64) - 1.0), exponent))


def annealed_exponent(
    step: int, steps: int, warm_up: float = 0.2, exponents: tuple[float, float] = (20.0, 2.0)
) -> float:
    r"""The exponent of the regularizer at a step.

    Equation ``eq-annealed-exponent``:

    .. math:: \beta_t = \beta_1 + (\beta_0 - \beta_1)\,
              \min\Bigl(1, \frac{1 - t/T}{1 - w}\Bigr)

    Parameters
    ----------
    step, steps
        t in [0, T), and T.
    warm_up
        w in [0, 1): for this share of the steps there is no price at all, and the exponent stays.
    exponents
        :math:`\beta_0` at first and :math:`\beta_1` in the end.

    Returns
    -------
    float

    Examples
    --------
    >>> [annealed_exponent(step, 100) for step in (0, 20, 60, 100)]
    [20.0, 20.0, 11.0, 2.0]
    """
    first, last = exponents
    return last + (first - last) * min(1.0, (1 - step / steps) / (1 - warm_up))


def rounding_gradient(
    v: ArrayLike,
    gradient: ArrayLike,
    below: ArrayLike,
    scale: ArrayLike,
    quant_min: int,
    quant_max: int,
    exponent: float,
    price: float,
) -> FloatArray:
    r"""The slope of the loss along what is learned.

    Equation ``eq-rounding-gradient``, with :math:`u = 2 h(v) - 1`:

    .. math:: \frac{\partial L}{\partial v} = (\zeta - \gamma)\, \sigma(v)\, \sigma(-v)
              \Bigl(s\, \frac{\partial E}{\partial \tilde W}
              - 2 \lambda \beta\, |u|^{\beta - 1} \operatorname{sign} u\Bigr)

    The loss is the error E of the layer's outputs and :math:`\lambda` times the regularizer. The
    slope is 0 where h is 0 or 1. The first term is left out where the soft integer lies outside
    the range.

    Parameters
    ----------
    v
        What is learned.
    gradient
        Of the error, for the soft weight.
    below, scale, quant_min, quant_max
        As for ``eq-soft-rounding``.
    exponent
        :math:`\beta`, above 1.
    price
        :math:`\lambda`, not negative.

    Returns
    -------
    float32 of the same shape, computed in double precision and rounded once.

    Examples
    --------
    >>> rounding_gradient([0.0, 9.0], [2.0, 2.0], [0, 0], 0.5, -8, 7, 2.0, 0.0).round(6).tolist()
    [0.30000001192092896, 0.0]
    """
    share = rectified_sigmoid(v)
    u = 2.0 * share - 1.0
    place = np.asarray(below, np.float64) + share
    inside = (quant_min <= place) & (place <= quant_max)
    error = np.where(inside, np.asarray(scale, np.float64) * np.asarray(gradient, np.float64), 0.0)
    drive = price * exponent * 2.0 * _power(np.abs(u), exponent - 1.0) * np.sign(u)
    sigma = _sigmoid(v)
    slope = np.where(np.abs(u) < 1, (HIGHEST - LOWEST) * sigma * (1.0 - sigma), 0.0)
    return np.asarray((slope * (error - drive)).astype(np.float32))


def reconstruction_error(
    expected: ArrayLike, found: ArrayLike, axis: int, *, relu: bool = False
) -> FloatArray:
    r"""How far a layer's outputs are from those of the float layer, channel by channel.

    Equation ``eq-reconstruction-error``:

    .. math:: E_n = \sum_i \bigl(f(y_{in}) - f(\tilde y_{in})\bigr)^2

    The sum is over the samples and places i; f is the activation function behind the layer. What
    is cut by a ReLU in both networks costs nothing.

    Parameters
    ----------
    expected, found
        Outputs of the float layer and of the rounded one, of the same shape.
    axis
        The axis of the channels n.
    relu
        Whether f is a ReLU; otherwise it is the identity.

    Returns
    -------
    float64 ``(N,)``.

    Notes
    -----
    Source: Nagel et al. 2020, equation 25.

    Examples
    --------
    >>> reconstruction_error([[1.0, -3.0]], [[0.5, -1.0]], 1).tolist()
    [0.25, 4.0]
    >>> reconstruction_error([[1.0, -3.0]], [[0.5, -1.0]], 1, relu=True).tolist()
    [0.25, 0.0]
    """
    one, two = (np.asarray(each, np.float64) for each in (expected, found))
    if relu:
        one, two = np.maximum(one, 0.0), np.maximum(two, 0.0)
    rows = np.moveaxis((one - two) ** 2, axis, 0)
    return np.asarray(rows.reshape(len(rows), -1).sum(axis=1))
