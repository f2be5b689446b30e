"""Scales that are powers of two, and where learned scales and clips begin."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .._typing import Array
from .lane_sums import lane_sums
from .rounding import round_half_even
from .types import FloatArray, IntArray

__all__ = [
    "lsq_scale",
    "magnitude_sums",
    "pact_clip",
    "pact_gradient",
    "power_of_two_scale",
    "power_of_two_zero_point",
]


def power_of_two_scale(scale: Array, rounding: Literal["up", "nearest"] = "up") -> FloatArray:
    r"""The power of two for a scale.

    Equation ``eq-power-of-two-scale``:

    .. math:: s' = 2^{\lceil \log_2 s \rceil} \text{ (up)}, \qquad
              s' = 2^{\lfloor \log_2 (s / \frac{3}{4}) \rfloor} \text{ (nearest)}

    worked out on exponents, without rounding. Up, the range is covered; to the nearest of both
    powers, the range can be cut by up to a quarter of its width.

    Examples
    --------
    >>> power_of_two_scale(np.float32([0.25, 0.3, 0.4])).tolist()
    [0.25, 0.5, 0.5]
    >>> power_of_two_scale(np.float32([0.25, 0.3, 0.4]), "nearest").tolist()
    [0.25, 0.25, 0.5]
    """
    mantissa, exponent = np.frexp(np.asarray(scale, np.float32))
    # s = m 2^e, 1/2 <= m < 1: between 2^(e-1) and 2^e, with the middle at m = 3/4.
    stays = mantissa == 0.5 if rounding == "up" else mantissa < 0.75
    return np.ldexp(np.float32(1), exponent - stays).astype(np.float32)


def power_of_two_zero_point(low: Array, scale: Array, quant_min: int, quant_max: int) -> IntArray:
    r"""The zero point of a range on a scale that was rounded.

    Equation ``eq-power-of-two-zero-point``:

    .. math:: z = \mathrm{sat}\big(q_{min} - \mathrm{rne}(\min(x_{min}, 0) / s')\big)

    as in ``eq-affine-qparams``; the division by a power of two is exact.

    Examples
    --------
    >>> power_of_two_zero_point(np.float32([-1.0]), np.float32([0.25]), 0, 255).tolist()
    [4]
    """
    low = np.minimum(np.asarray(low, np.float32), np.float32(0))
    steps = round_half_even(low.astype(np.float64) / np.asarray(scale, np.float64))
    return np.clip(quant_min - steps, quant_min, quant_max).astype(np.int64)


def magnitude_sums(rows: FloatArray) -> FloatArray:
    r"""The sum of the magnitudes of each row.

    Equation ``eq-magnitude-sum``:

    .. math:: t = \sum_i |x_i|

    in double, in the order of :func:`~pyqref.numerics.lane_sums.lane_sums`.

    Parameters
    ----------
    rows
        float32 ``(rows, n)``.

    Examples
    --------
    >>> magnitude_sums(np.float32([[1, -2], [0.5, 0]])).tolist()
    [3.0, 0.5]
    """
    return lane_sums(np.abs(rows))


def lsq_scale(mean_magnitude: Array, quant_max: int) -> FloatArray:
    r"""The scale with which a learned step size begins.

    Equation ``eq-lsq-scale``:

    .. math:: s = \frac{2\, \langle |x| \rangle}{\sqrt{q_{max}}}

    in double, rounded to float32. S. K. Esser et al., *Learned step size quantization*, ICLR 2020,
    section 2.1.

    Examples
    --------
    >>> lsq_scale(np.array([4.0]), 16).tolist()
    [2.0]
    """
    return np.asarray(2.0 * np.asarray(mean_magnitude, np.float64) / quant_max**0.5, np.float32)


def pact_clip(x: Array, alpha: float) -> FloatArray:
    r"""Clip activations at a learned level.

    Equation ``eq-pact-clip``:

    .. math:: y = \mathrm{clip}(x, 0, \alpha) = \tfrac{1}{2}\big(|x| - |x - \alpha| + \alpha\big)

    J. Choi et al., *PACT: parameterized clipping activation for quantized neural networks*, 2018
    (arXiv 1805.06085), equation 1. The first form is computed.

    Examples
    --------
    >>> pact_clip(np.float32([-1, 2, 9]), 6.0).tolist()
    [0.0, 2.0, 6.0]
    """
    x = np.asarray(x)
    return np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(alpha))


def pact_gradient(x: Array, alpha: float, gradient: Array) -> tuple[FloatArray, FloatArray]:
    r"""Gradients of the clip with respect to its input and its level.

    Equation ``eq-pact-gradient``:

    .. math:: \frac{\partial L}{\partial x} = \frac{\partial L}{\partial y}\,[0 < x < \alpha],
              \qquad \frac{\partial L}{\partial \alpha}
              = \sum_i \frac{\partial L}{\partial y_i}\,[x_i \ge \alpha]

    the sum in double, rounded once.

    Examples
    --------
    >>> x, gradient = np.float32([-1, 2, 6, 9]), np.float32([1, 1, 1, 1])
    >>> of_x, of_alpha = pact_gradient(x, 6.0, gradient)
    >>> of_x.tolist(), of_alpha.tolist()
    ([0.0, 1.0, 0.0, 0.0], [2.0])
    """
    x, gradient = np.asarray(x), np.asarray(gradient)
    inside = (x > 0) & (x < x.dtype.type(alpha))
    above = np.where(x >= x.dtype.type(alpha), gradient, gradient.dtype.type(0))
    total = np.sum(above, dtype=np.float64)
    return np.where(inside, gradient, gradient.dtype.type(0)), np.array([total], np.float32)
