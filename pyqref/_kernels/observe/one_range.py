"""One range in Python's numbers, by the kernel in use: what a dynamic layer asks for in each step.

The equations on arrays of one element take forty times as long.
"""

from __future__ import annotations

from pyqref._kernels import registry
from pyqref.numerics import dynamic_qparams, fused_observe

__all__ = ["choose_qparams_of_range", "fused_average_of_one"]


def choose_qparams_of_range(
    min_val: float, max_val: float, quant_min: int, quant_max: int, *, single: bool = False
) -> tuple[float, int]:
    """Scale and zero point of one finite range.

    As :func:`pyqref.numerics.dynamic_qparams.choose_qparams_dynamic`, of Python's numbers.

    Examples
    --------
    >>> choose_qparams_of_range(-1.0, 3.0, 0, 255)
    (0.01568627450980392, 64)
    """
    kernel = registry.twin("observe")
    if kernel is not None:
        return kernel.choose_qparams_of_range(min_val, max_val, quant_min, quant_max, single)
    scale, zero_point = dynamic_qparams.choose_qparams_dynamic(
        min_val, max_val, quant_min, quant_max, single=single
    )
    return float(scale), int(zero_point)


def fused_average_of_one(running: float, batch: float, constant: float) -> float:
    """One end of a running range after a batch.

    As :func:`pyqref.numerics.fused_observe.fused_average`, of two float32 numbers.

    Examples
    --------
    >>> fused_average_of_one(1.0, 3.0, 0.5)
    2.0
    """
    kernel = registry.twin("observe")
    if kernel is not None:
        return kernel.fused_average_of_one(running, batch, constant)
    return float(fused_observe.fused_average(running, batch, constant))
