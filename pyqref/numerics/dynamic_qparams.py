"""Scale and zero point chosen while running, in double precision.

Used by dynamic quantization and by the fused moving average observer. The rules for
small ranges differ from the observers' (:mod:`pyqref.numerics.qparams`): a scale of
zero becomes 0.1, and no scale is below ``6.1e-5``, so that its reciprocal and the
products of two scales stay far from the subnormal numbers.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .types import FloatArray, IntArray

__all__ = [
    "SMALLEST_DYNAMIC_SCALE",
    "choose_qparams_dynamic",
    "symmetric_range",
]

#: Smallest scale chosen while running (the float32 nearest to 6.1e-5).
SMALLEST_DYNAMIC_SCALE = float(np.float32(6.1e-5))


def symmetric_range(
    low: object, high: object, quant_min: int, quant_max: int
) -> tuple[FloatArray, FloatArray]:
    r"""Widen ranges that contain zero so that it lies in the middle of the integers.

    Equation ``eq-symmetric-range``:

    .. math::
        \begin{gathered}
        s = \max\left(\left|\frac{x_{min}}{h + 1}\right|,
                      \left|\frac{x_{max}}{h}\right|\right), \\[1ex]
        (x_{min}, x_{max}) \mapsto (-(h + 1) s,\; h s), \qquad
        h = \lfloor (q_{max} - q_{min}) / 2 \rfloor
        \end{gathered}

    A range on one side of zero stays as it is. Quotients and results are float32.

    Raises
    ------
    ValueError
        There are two integers: none lies in the middle.

    Examples
    --------
    >>> low, high = symmetric_range(-1.0, 254.0, -128, 127)
    >>> float(low), float(high)
    (-256.0, 254.0)
    """
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    half = (quant_max - quant_min) // 2
    both = (low < 0) & (high > 0)
    if not both.any():
        return low, high
    if half == 0:
        raise ValueError(
            "a symmetric range needs quant_max - quant_min >= 2, got "
            f"[{quant_min}, {quant_max}]; use an affine scheme"
        )
    step = np.maximum(np.abs(low / np.float32(half + 1)), np.abs(high / np.float32(half)))
    widened_low = np.float32(-(half + 1)) * step
    widened_high = np.float32(half) * step
    return np.where(both, widened_low, low), np.where(both, widened_high, high)


def choose_qparams_dynamic(
    min_val: float | Array,
    max_val: float | Array,
    quant_min: int,
    quant_max: int,
    *,
    symmetric: bool = False,
    single: bool = False,
) -> tuple[FloatArray, IntArray]:
    r"""Scale and zero point of a range, in double.

    Equation ``eq-choose-qparams-dynamic``:

    .. math::
        \begin{gathered}
        s_0 = \frac{\max(x_{max}, 0) - \min(x_{min}, 0)}{q_{max} - q_{min}}, \\[1ex]
        s = \begin{cases}
            0.1 & \mathrm{fl}_{32}(s_0) = 0 \text{ or } 1 / s_0 \text{ overflows} \\
            \max(s_0,\; 6.1 \cdot 10^{-5}) & \text{otherwise}
        \end{cases}
        \end{gathered}

    The zero point comes from the end of the range that is met with the smaller
    error, :math:`z_- = q_{min} - x_{min} / s` or :math:`z_+ = q_{max} - x_{max} / s`,
    estimated by the sizes of the two numbers that are subtracted; it is clamped and
    rounded half to even. When the scale was raised, the range grows with it.

    Parameters
    ----------
    min_val, max_val
        The range, scalars or arrays, float32 values.
    quant_min, quant_max
        Range of the integers.
    symmetric
        Apply :func:`symmetric_range` first, and put the zero point at the middle.
    single
        Round the scale to float32 before the zero point is found, as the fused observer
        does, which keeps it so. It decides ranges symmetric about zero: -1..1 gives
        127.5, and 127.49999 with the rounded scale.

    Returns
    -------
    scale
        float64, of the shape of ``min_val``.
    zero_point
        int64, of the same shape.

    Examples
    --------
    >>> scale, zero_point = choose_qparams_dynamic(-1.0, 3.0, 0, 255)
    >>> float(scale), int(zero_point)
    (0.01568627450980392, 64)
    """
    low: FloatArray = np.asarray(min_val, np.float64)
    high: FloatArray = np.asarray(max_val, np.float64)
    centred = symmetric & (low < 0) & (high > 0)
    if symmetric:
        low, high = symmetric_range(low, high, quant_min, quant_max)
    low = np.minimum(low, 0.0).astype(np.float64)
    high = np.maximum(high, 0.0).astype(np.float64)
    width = quant_max - quant_min
    scale = (high - low) / width
    with np.errstate(divide="ignore", over="ignore"):
        rounded = scale.astype(np.float32)
        degenerate = (rounded == 0) | np.isinf(np.float32(1) / rounded)
    scale = np.where(degenerate, 0.1, scale)
    raised = scale < SMALLEST_DYNAMIC_SCALE
    with np.errstate(over="ignore", invalid="ignore"):  # of scales that are not raised
        # A range that the scale was raised for grows with it, in float32.
        ratio = np.float32(SMALLEST_DYNAMIC_SCALE) / scale.astype(np.float32)
        low = np.where(raised, low.astype(np.float32) * ratio, low)
        high = np.where(raised, high.astype(np.float32) * ratio, high)
    scale = np.where(raised, SMALLEST_DYNAMIC_SCALE, scale)
    if single:
        scale = scale.astype(np.float32).astype(np.float64)

    from_low, from_high = quant_min - low / scale, quant_max - high / scale
    error_low = abs(quant_min) + np.abs(low / scale)
    error_high = abs(quant_max) + np.abs(high / scale)
    exact = np.where(error_low < error_high, from_low, from_high)
    exact = np.where(centred, (quant_min + quant_max) / 2, exact)
    zero_point = np.rint(np.clip(exact, quant_min, quant_max)).astype(np.int64)
    return scale, zero_point
