"""One range in Python's numbers: the bits of the equations, without their arrays.

A step of a dynamic layer and a fused fake quantizer of one range wait for these. They take a
microsecond where the equations on arrays of one element take forty.
"""

from __future__ import annotations

from math import isinf

import numpy as np

from pyqref.numerics.dynamic_qparams import SMALLEST_DYNAMIC_SCALE, choose_qparams_dynamic

__all__ = ["choose_qparams_of_range", "fused_average_of_one"]

_LARGEST = float(np.finfo(np.float32).max)


def choose_qparams_of_range(
    min_val: float, max_val: float, quant_min: int, quant_max: int, *, single: bool = False
) -> tuple[float, int]:
    """Scale and zero point of one range (``eq-choose-qparams-dynamic``).

    As :func:`pyqref.numerics.dynamic_qparams.choose_qparams_dynamic`, of Python's numbers, which
    are doubles as well.

    Examples
    --------
    >>> choose_qparams_of_range(-1.0, 3.0, 0, 255)
    (0.01568627450980392, 64)
    """
    low, high = min(float(min_val), 0.0), max(float(max_val), 0.0)
    scale = (high - low) / (quant_max - quant_min) or 0.1
    if not SMALLEST_DYNAMIC_SCALE <= scale <= _LARGEST:
        scales, zero_points = choose_qparams_dynamic(
            min_val, max_val, quant_min, quant_max, single=single
        )
        return float(scales), int(zero_points)
    if single:
        scale = float(np.float32(scale))
    from_low, from_high = low / scale, high / scale
    if abs(quant_min) - from_low < abs(quant_max) + from_high:
        exact = quant_min - from_low
    else:
        exact = quant_max - from_high
    # round() goes to the even of two neighbours, as rint does.
    return scale, round(min(max(exact, quant_min), quant_max))


def fused_average_of_one(running: float, batch: float, constant: float) -> float:
    """One end of a running range after a batch (``eq-fused-average``).

    As :func:`pyqref.numerics.fused_observe.fused_average`, of two float32 numbers.

    Examples
    --------
    >>> float(fused_average_of_one(1.0, 3.0, 0.5))
    2.0
    """
    if isinf(running):
        return batch
    step = np.float32(constant) * (np.float32(batch) - np.float32(running))
    return float(np.float32(running) + step)
