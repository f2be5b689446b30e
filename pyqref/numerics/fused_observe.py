"""The fused moving average observer: one step of observing and choosing parameters.

It differs from the separate observer in how it chooses scale and zero point: in
double, by the rules of dynamic quantization (:mod:`pyqref.numerics.dynamic_qparams`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Array
from .dynamic_qparams import choose_qparams_dynamic
from .types import Convention, FloatArray, IntArray

__all__ = ["FusedObservation", "fused_average", "fused_observe"]


class FusedObservation(NamedTuple):
    """State after one step: the running range and the parameters it gives.

    Examples
    --------
    >>> state = fused_observe(np.inf, -np.inf, -1.0, 3.0, 0.01, 0, 255, symmetric=False)
    >>> float(state.min_val), float(state.max_val), int(state.zero_point)
    (-1.0, 3.0, 64)
    """

    min_val: FloatArray
    max_val: FloatArray
    scale: FloatArray
    zero_point: IntArray


def fused_average(running: float | Array, batch: float | Array, constant: float) -> FloatArray:
    r"""The moving average as the fused observer works it out.

    Equation ``eq-fused-average``:

    .. math:: m' = \begin{cases} x & m = \pm\infty \\
              m + \mathrm{fl}_{32}(c)\,(x - m) & \text{otherwise} \end{cases}

    Examples
    --------
    >>> fused_average(np.float32([1.0, 1.0]), np.float32([3.0, 5.0]), 0.5).tolist()
    [2.0, 3.0]
    """
    running, batch = np.asarray(running, np.float32), np.asarray(batch, np.float32)
    with np.errstate(invalid="ignore"):
        averaged = running + np.float32(constant) * (batch - running)
    return np.where(np.isinf(running), batch, averaged)


def fused_observe(
    min_val: float,
    max_val: float,
    batch_min: float,
    batch_max: float,
    constant: float,
    quant_min: int,
    quant_max: int,
    symmetric: bool,
    convention: Convention = "documented",
) -> FusedObservation:
    r"""Update a running range and choose parameters for it.

    Equation ``eq-fused-observe``:

    .. math::
        \begin{gathered}
        (x_{min}', x_{max}') = (\text{fused average of both ends}), \\[1ex]
        (s, z) = \begin{cases}
            (1, 0) & x_{min}' = x_{max}', \text{ convention "documented"} \\
            \text{choose-qparams-dynamic}(x_{min}', x_{max}') & \text{otherwise}
        \end{cases}
        \end{gathered}

    with the scale rounded to float32 before the zero point is found.

    Parameters
    ----------
    min_val, max_val
        Running range, scalars or ``(C,)``; infinite ends are replaced by the batch's.
    batch_min, batch_max
        Range of this batch.
    constant
        Averaging constant in (0, 1]; 1 forgets the past.
    quant_min, quant_max
        Range of the integers.
    symmetric
        Widen ranges that contain zero so that it is in the middle.
    convention
        ``"documented"``: a range of one point gives scale 1 and zero point 0, as in
        :func:`~pyqref.numerics.qparams.choose_qparams`. ``"torch"``: what the formulas give.

    Examples
    --------
    >>> state = fused_observe(0.0, 100.0, 0.0, 200.0, 0.5, 0, 255, symmetric=False)
    >>> float(state.max_val), round(float(state.scale) * 255)
    (150.0, 150)
    """
    low = fused_average(min_val, batch_min, constant)
    high = fused_average(max_val, batch_max, constant)
    scale, zero_point = choose_qparams_dynamic(
        low, high, quant_min, quant_max, symmetric=symmetric, single=True
    )
    if convention == "documented":
        scale = np.where(low == high, 1.0, scale)
        zero_point = np.where(low == high, 0, zero_point)
    return FusedObservation(low, high, scale.astype(np.float32), zero_point)
