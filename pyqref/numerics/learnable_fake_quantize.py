"""Gradients of fake quantization with respect to its scale and zero point.

With them the step size is a parameter that is trained like a weight: S. K. Esser et al.,
*Learned step size quantization*, ICLR 2020 (arXiv 1902.08153).
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .affine import reciprocal32
from .lane_sums import lane_sums
from .rounding import fma32, round_half_even
from .types import FloatArray

__all__ = [
    "learnable_positions",
    "learnable_scale_gradient",
    "learnable_zero_point_gradient",
    "whole_zero_point",
]


def whole_zero_point(zero_point: Array, quant_min: int, quant_max: int) -> FloatArray:
    r"""The integer that a zero point stands for while it is trained as a real number.

    Equation ``eq-learnable-zero-point``:

    .. math:: z = \mathrm{sat}(\mathrm{rne}(\hat z))

    Examples
    --------
    >>> whole_zero_point(np.float32([-3.0, 2.5, 300.0]), 0, 255).tolist()
    [0.0, 2.0, 255.0]
    """
    return np.clip(round_half_even(np.asarray(zero_point)), quant_min, quant_max)


def learnable_positions(x: Array, scale: float | Array, zero_point: int | Array) -> FloatArray:
    r"""The position of each number on the grid that the gradients go by.

    Equation ``eq-learnable-position``:

    .. math:: v = \mathrm{rne}(\mathrm{fma}(x, \iota(s), z))

    Scales and zero points of channels broadcast with ``x``.

    Examples
    --------
    >>> learnable_positions(np.float32([0.5, 300]), 1.0, 1).tolist()
    [2.0, 301.0]
    """
    x = np.asarray(x)
    inverse, offset = reciprocal32(scale), np.asarray(zero_point, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        if x.dtype == np.float64:
            return round_half_even(x * inverse + offset)
        return round_half_even(fma32(x, inverse, offset))


def learnable_scale_gradient(
    x: FloatArray,
    gradient: FloatArray,
    positions: FloatArray,
    scale: float | Array,
    zero_point: int | Array,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
    axis: int | None = None,
) -> FloatArray:
    r"""Gradient of fake quantization with respect to its scale.

    Equation ``eq-learnable-scale-gradient``:

    .. math::
        \frac{\partial L}{\partial s} = f \sum_i \frac{\partial L}{\partial y_i} \cdot
        \begin{cases}
        q_{min} - z & v_i < q_{min} \\
        \big((v_i - z)\, s - x_i\big)\, \iota(s) & q_{min} \le v_i \le q_{max} \\
        q_{max} - z & v_i > q_{max}
        \end{cases}

    Parameters
    ----------
    x
        What was quantized.
    gradient
        That of the result, of the same shape.
    positions
        ``v``, from :func:`learnable_positions`.
    scale, zero_point
        float32 and whole numbers, which broadcast with ``x``.
    quant_min, quant_max
        Range of the integers.
    grad_factor
        ``f``, the number by which the gradient is scaled.
    axis
        That of the channels, or None for one scale.

    Returns
    -------
    FloatArray
        ``(C,)`` where there is an axis, and ``()`` where there is none.

    Notes
    -----
    Each term is ``gradient * fma(v - z, s, -x) * (1 / s) * f`` from the left in float32, as
    in torch, the sum is that of :func:`~pyqref.numerics.lane_sums.lane_sums`, rounded once. A
    position that is nan counts as below.
    Error bound ``eq-learnable-gradient-error``: eight roundings of each term.

    Examples
    --------
    >>> x, one = np.float32([-1.0, 0.75, 9.0]), np.ones(3, np.float32)
    >>> learnable_scale_gradient(x[1:2], one[1:2], np.float32([2.0]), 0.5, 0, 0, 3).item()
    0.5
    >>> learnable_scale_gradient(x, one, np.float32([-2, 2, 18]), 0.5, 0, 0, 3).item()
    3.5
    """
    offset = np.asarray(zero_point, np.float32)
    inside = (positions >= quant_min) & (positions <= quant_max)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.clip(positions, quant_min, quant_max) - offset
        double = x.dtype == np.float64
        error = steps * scale - x if double else fma32(steps, scale, -x)
        end = np.where(positions > quant_max, quant_max - offset, quant_min - offset)
        terms = np.where(inside, gradient * error * reciprocal32(scale), gradient * end)
        return _sum(terms * np.float32(grad_factor), axis)


def learnable_zero_point_gradient(
    gradient: FloatArray,
    positions: FloatArray,
    scale: float | Array,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
    axis: int | None = None,
) -> FloatArray:
    r"""Gradient of fake quantization with respect to its zero point.

    Equation ``eq-learnable-zero-point-gradient``:

    .. math::
        \frac{\partial L}{\partial z} = -f s \sum_{i \,:\, v_i \notin [q_{min}, q_{max}]}
        \frac{\partial L}{\partial y_i}

    Inside the range the zero point is added and taken off again; only what is clamped moves
    with it.

    Parameters
    ----------
    gradient, positions, scale, quant_min, quant_max, grad_factor, axis
        As in :func:`learnable_scale_gradient`.

    Examples
    --------
    >>> one = np.ones(3, np.float32)
    >>> learnable_zero_point_gradient(one, np.float32([-2, 2, 18]), 0.5, 0, 3).item()
    -1.0
    """
    inside = (positions >= quant_min) & (positions <= quant_max)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.where(inside, np.float32(0), -np.float32(scale) * gradient)
        return _sum(terms * np.float32(grad_factor), axis)


def _sum(terms: FloatArray, axis: int | None) -> FloatArray:
    """The sum of all terms, or of those of each index of an axis, rounded once to float32."""
    if axis is None:
        return np.asarray(lane_sums(terms.reshape(1, -1))[0], np.float32)
    rows = np.moveaxis(terms, axis, 0).reshape(terms.shape[axis], -1)
    return lane_sums(rows).astype(np.float32)
