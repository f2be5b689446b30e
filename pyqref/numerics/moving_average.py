"""The running statistics of observers: extremes and their exponential averages."""

from __future__ import annotations

import numpy as np

from .._typing import Array, NumberOrArray
from .types import FloatArray

__all__ = ["average_range", "extreme_range", "moving_average"]


def moving_average(mean: NumberOrArray, current: NumberOrArray, constant: float) -> FloatArray:
    r"""One step of an exponential moving average.

    Equation ``eq-moving-average``:

    .. math:: m' = m + \mathrm{fl}_{32}(c)\,(x - m) \;=\; (1 - c)\, m + c\, x

    in float32, the first form, without a fused multiply-add.

    Notes
    -----
    Unrolled, ``eq-moving-average-weights``. Error bound ``eq-moving-average-error``: however
    many steps, below ``(5 + 1/c) * 2**-24`` of the largest number.

    Examples
    --------
    >>> float(moving_average(np.float32(1.0), np.float32(3.0), 0.5))
    2.0
    """
    mean, current = np.asarray(mean, np.float32), np.asarray(current, np.float32)
    return np.asarray(mean + np.float32(constant) * (current - mean))


def extreme_range(
    min_val: float | Array, max_val: float | Array, batch_min: object, batch_max: object
) -> tuple[FloatArray, FloatArray]:
    r"""The range of everything seen so far.

    Equation ``eq-running-range``:

    .. math:: x_{min}' = \min(x_{min}, \min X), \qquad x_{max}' = \max(x_{max}, \max X)

    starting from the empty range :math:`(+\infty, -\infty)`.

    Examples
    --------
    >>> low, high = extreme_range(np.float32(-1.0), np.float32(1.0), -3.0, 0.5)
    >>> float(low), float(high)
    (-3.0, 1.0)
    """
    low = np.minimum(np.asarray(min_val, np.float32), np.asarray(batch_min, np.float32))
    high = np.maximum(np.asarray(max_val, np.float32), np.asarray(batch_max, np.float32))
    return np.asarray(low), np.asarray(high)


def average_range(
    min_val: float | FloatArray,
    max_val: float | FloatArray,
    batch_min: NumberOrArray,
    batch_max: NumberOrArray,
    constant: float,
) -> tuple[FloatArray, FloatArray]:
    r"""The moving average of the ranges of the batches.

    Equation ``eq-average-range``:

    .. math:: (x_{min}', x_{max}') = \begin{cases}
        (\min X, \max X) & \text{the old range is empty} \\
        (\mathrm{ma}(x_{min}, \min X), \mathrm{ma}(x_{max}, \max X)) & \text{later}
        \end{cases}

    Scalars, or arrays ``(C,)`` per channel; each element starts by itself.

    Examples
    --------
    >>> low, high = average_range(np.float32(-1.0), np.float32(1.0), -3.0, 5.0, 0.5)
    >>> float(low), float(high)
    (-2.0, 3.0)
    """
    batch_min, batch_max = np.asarray(batch_min, np.float32), np.asarray(batch_max, np.float32)
    first = np.isposinf(min_val) & np.isneginf(max_val)
    with np.errstate(invalid="ignore"):
        low = moving_average(min_val, batch_min, constant)
        high = moving_average(max_val, batch_max, constant)
    return np.where(first, batch_min, low), np.where(first, batch_max, high)
