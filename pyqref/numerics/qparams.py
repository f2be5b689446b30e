"""From a range of real numbers to the scale and zero point that cover it.

Two ways exist side by side. *Observers* work in float32 with the smallest scale
``2**-23``; what is chosen *while running* (dynamic quantization, the fused moving
average) is worked out in double with other small-scale rules: see
:mod:`pyqref.numerics.dynamic_qparams`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyqref._typing import Array, Number
from pyqref.dtypes import dtype as Dtype

from .rounding import round_half_even
from .types import Convention, FloatArray, IntArray

__all__ = [
    "EPS",
    "affine_qparams",
    "choose_qparams",
    "float_qparams",
    "quant_range",
    "reduce_range",
    "symmetric_qparams",
    "symmetric_zero_point",
]

#: Smallest scale an observer gives: the spacing of float32 at 1.
EPS = float(np.finfo(np.float32).eps)


def reduce_range(quant_min: int, quant_max: int) -> tuple[int, int]:
    r"""Take one bit off a range of integers.

    Equation ``eq-reduce-range``:

    .. math:: (q_{min}, q_{max}) \mapsto (\lfloor q_{min}/2 \rfloor, \lfloor q_{max}/2 \rfloor)

    Sums of products then stay within 16 bits on processors that accumulate there.

    Notes
    -----
    Bound ``eq-pair-sum``: two products of a 7-bit input and an 8-bit weight fit 16 bits.

    Examples
    --------
    >>> reduce_range(0, 255), reduce_range(-128, 127), reduce_range(-127, 127)
    ((0, 127), (-64, 63), (-64, 63))
    """
    return quant_min // 2, quant_max // 2


def quant_range(dtype: Dtype, reduce: bool = False) -> tuple[int, int]:
    """Smallest and largest integer of a quantized dtype, one bit less with ``reduce``.

    The range of ``qint32`` is never reduced.

    Examples
    --------
    >>> from pyqref.dtypes import qint8, quint8
    >>> quant_range(quint8), quant_range(qint8, reduce=True)
    ((0, 255), (-64, 63))

    Raises
    ------
    ValueError
        ``dtype`` is not quantized.
    """
    if dtype.quant_min is None or dtype.quant_max is None:
        raise ValueError(f"dtype must be a quantized dtype such as quint8, got {dtype!r}")
    if reduce and dtype.itemsize == 1:
        return reduce_range(dtype.quant_min, dtype.quant_max)
    return dtype.quant_min, dtype.quant_max


def symmetric_zero_point(
    signed: bool, quant_min: int | None = None, quant_max: int | None = None
) -> int:
    r"""The zero point of a symmetric scheme.

    Equation ``eq-symmetric-zero-point``:

    .. math:: z = \begin{cases}
        0 & \text{signed} \\
        128 & \text{unsigned} \\
        \lfloor (q_{min} + q_{max}) / 2 \rfloor & \text{unsigned, range chosen by the user}
        \end{cases}

    Pass ``quant_min`` and ``quant_max`` only when the user chose them.

    Examples
    --------
    >>> symmetric_zero_point(True), symmetric_zero_point(False), symmetric_zero_point(False, 0, 15)
    (0, 128, 7)
    """
    if signed:
        return 0
    if quant_min is None or quant_max is None:
        return 128
    return (quant_min + quant_max) // 2


def symmetric_qparams(
    min_val: float | Array, max_val: float | Array, quant_min: int, quant_max: int, eps: float = EPS
) -> FloatArray:
    r"""Scale of a range made symmetric about zero.

    Equation ``eq-symmetric-scale``:

    .. math:: s = \max\left(\frac{\max(-x_{min}, x_{max}, 0)}
                               {(q_{max} - q_{min}) / 2},\; \varepsilon\right)

    Half of the *whole* range divides: 127.5 for 8 bits.

    Examples
    --------
    >>> float(symmetric_qparams(-1.0, 255.0, -128, 127))
    2.0
    """
    low = np.minimum(np.asarray(min_val, np.float32), np.float32(0))
    high = np.maximum(np.asarray(max_val, np.float32), np.float32(0))
    scale = np.maximum(-low, high) / np.float32((quant_max - quant_min) / 2)
    return np.maximum(scale, np.float32(eps))


def affine_qparams(
    min_val: float | Array, max_val: float | Array, quant_min: int, quant_max: int, eps: float = EPS
) -> tuple[FloatArray, IntArray]:
    r"""Scale and zero point of a range, widened to contain zero.

    Equation ``eq-affine-qparams``:

    .. math::
        \begin{gathered}
        x^-_{} = \min(x_{min}, 0), \quad x^+ = \max(x_{max}, 0), \\[1ex]
        s = \max\left(\frac{x^+ - x^-}{q_{max} - q_{min}},\, \varepsilon\right), \qquad
        z = \mathrm{sat}\big(q_{min} - \mathrm{rne}(x^- / s)\big)
        \end{gathered}

    in float32 with true divisions. Real zero is an integer exactly: ``z`` itself,
    ``eq-real-zero``.

    Notes
    -----
    Error bound ``eq-range-ends``: each end of the range is met within half a step.

    Examples
    --------
    >>> scale, zero_point = affine_qparams(-2.5, 252.5, 0, 255)
    >>> float(scale), int(zero_point)
    (1.0, 2)
    """
    low = np.minimum(np.asarray(min_val, np.float32), np.float32(0))
    high = np.maximum(np.asarray(max_val, np.float32), np.float32(0))
    with np.errstate(over="ignore", invalid="ignore"):
        scale = (high - low) / np.float32(quant_max - quant_min)
        scale = np.maximum(scale, np.float32(eps))
        steps = round_half_even(low / scale).astype(np.float64)
        steps = np.where(steps == steps, steps, 0.0)  # infinite / infinite
    zero_point = np.clip(quant_min - steps, quant_min, quant_max).astype(np.int64)
    return scale, zero_point


def float_qparams(
    min_val: float | Array, max_val: float | Array, quant_min: int, quant_max: int, eps: float = EPS
) -> tuple[FloatArray, FloatArray]:
    r"""Scale and *float* zero point of a range, for embeddings.

    Equation ``eq-float-qparams``:

    .. math:: s = \frac{x_{max} - x_{min}}{q_{max} - q_{min}} \;(\text{1 if} \le \varepsilon),
              \qquad z = -x_{min} / s

    Examples
    --------
    >>> scale, zero_point = float_qparams(-1.0, 30.875, 0, 255)
    >>> float(scale), float(zero_point)
    (0.125, 8.0)
    """
    low, high = np.asarray(min_val, np.float32), np.asarray(max_val, np.float32)
    scale = (high - low) / np.float32(quant_max - quant_min)
    scale = np.where(scale > np.float32(eps), scale, np.float32(1))
    return scale, -low / scale


def choose_qparams(
    min_val: Number | Sequence[int] | Array,
    max_val: Number | Sequence[int] | Array,
    quant_min: int,
    quant_max: int,
    *,
    symmetric: bool = False,
    midpoint: int = 0,
    eps: float = EPS,
    convention: Convention = "documented",
) -> tuple[FloatArray, IntArray]:
    r"""Scale and zero point as an observer chooses them.

    Equation ``eq-choose-qparams``:

    .. math:: (s, z) = \begin{cases}
        (1, 0) & \text{nothing observed: } x_{min} > x_{max} \\
        (1, 0) & x_{min} = x_{max}, \text{ convention "documented"} \\
        (s_{sym}, midpoint) & \text{symmetric} \\
        (s_{aff}, z_{aff}) & \text{affine}
        \end{cases}

    Parameters
    ----------
    min_val, max_val
        The range: scalars, or arrays ``(C,)`` for per-channel schemes.
    quant_min, quant_max
        Range of the integers.
    symmetric
        ``eq-symmetric-scale`` instead of ``eq-affine-qparams``.
    midpoint
        Zero point of a symmetric scheme, from :func:`symmetric_zero_point`.
    eps
        Smallest scale.
    convention
        ``"documented"``: a range of one point gives scale 1 and zero point 0.
        ``"torch"``: it gives what the formulas give.

    Returns
    -------
    scale
        float32, of the shape of ``min_val``.
    zero_point
        int64, of the same shape.

    Examples
    --------
    >>> scale, zero_point = choose_qparams(-1.0, 3.0, 0, 255)
    >>> float(scale), int(zero_point)
    (0.01568627543747425, 64)
    >>> scale, zero_point = choose_qparams([-1, 0], [3, 0], -128, 127, symmetric=True)
    >>> scale, zero_point
    (array([0.02352941, 1.        ], dtype=float32), array([0, 0]))
    """
    low, high = np.asarray(min_val, np.float32), np.asarray(max_val, np.float32)
    zero_point: IntArray
    if symmetric:
        scale = symmetric_qparams(low, high, quant_min, quant_max, eps)
        zero_point = np.full(scale.shape, midpoint, dtype=np.int64)
    else:
        scale, zero_point = affine_qparams(low, high, quant_min, quant_max, eps)
    unit = low > high
    if convention == "documented":
        unit = unit | (low == high)
    return np.where(unit, np.float32(1), scale), np.where(unit, np.int64(0), zero_point)
