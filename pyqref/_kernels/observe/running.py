"""Running statistics by the kernel in use: what is left once the ranges of a batch are known.

They are few numbers, one or as many as there are channels: NumPy's calls would take longer
than the batch itself. Arrays that a kernel does not take go to the twin in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry
from pyqref.numerics import dynamic_qparams, fused_observe, moving_average
from pyqref.numerics.types import FloatArray, IntArray

__all__ = [
    "are_finite",
    "average_range",
    "choose_qparams_dynamic",
    "extreme_range",
    "extremes",
    "fused_average",
]

_FLOAT32 = np.dtype(np.float32)


def are_finite(first: FloatArray, second: FloatArray) -> bool:
    """Whether there is neither nan nor infinity in two contiguous arrays.

    Examples
    --------
    >>> ends = np.float32([1.0, 2.0])
    >>> are_finite(ends, ends + 1), are_finite(ends, np.float32([1.0, np.inf]))
    (True, False)
    """
    kernel = registry.twin("observe")
    if kernel is None or first.dtype != _FLOAT32 or second.dtype != _FLOAT32:
        return bool(np.isfinite(first).all() and np.isfinite(second).all())
    return bool(kernel.are_finite(first, second))


def extremes(x: np.ndarray) -> tuple[Any, Any]:
    """Smallest and largest of an array that is not empty, as Python's numbers; nan if there is one.

    Examples
    --------
    >>> extremes(np.array([3, -1, 2]))
    (-1, 3)
    """
    kernel = registry.twin("observe")
    found = None if kernel is None else kernel.extremes(x)
    return (x.min().item(), x.max().item()) if found is None else found


def extreme_range(
    min_val: FloatArray, max_val: FloatArray, batch_min: Any, batch_max: Any
) -> tuple[FloatArray, FloatArray]:
    """As :func:`pyqref.numerics.moving_average.extreme_range` (``eq-running-range``).

    Examples
    --------
    >>> low, high = np.float32([-1.0, 0.0]), np.float32([1.0, 2.0])
    >>> extreme_range(low, high, low - 2, high - 2)
    (array([-3., -2.], dtype=float32), array([1., 2.], dtype=float32))
    """
    kernel = registry.twin("observe")
    if type(batch_min) is not np.ndarray:
        batch_min, batch_max = np.asarray(batch_min), np.asarray(batch_max)
    found = None
    if kernel is not None:
        found = kernel.extreme_range(min_val, max_val, batch_min, batch_max)
    if found is None:
        return moving_average.extreme_range(min_val, max_val, batch_min, batch_max)
    return found


def average_range(
    min_val: FloatArray, max_val: FloatArray, batch_min: Any, batch_max: Any, constant: float
) -> tuple[FloatArray, FloatArray]:
    """As :func:`pyqref.numerics.moving_average.average_range` (``eq-average-range``).

    Examples
    --------
    >>> low, high = np.float32([-1.0, np.inf]), np.float32([1.0, -np.inf])
    >>> average_range(low, high, np.float32([-3.0, -3.0]), np.float32([5.0, 5.0]), 0.5)
    (array([-2., -3.], dtype=float32), array([3., 5.], dtype=float32))
    """
    kernel = registry.twin("observe")
    if type(batch_min) is not np.ndarray:
        batch_min, batch_max = np.asarray(batch_min), np.asarray(batch_max)
    found = None
    if kernel is not None:
        found = kernel.average_range(min_val, max_val, batch_min, batch_max, constant)
    if found is None:
        return moving_average.average_range(min_val, max_val, batch_min, batch_max, constant)
    return found


def fused_average(running: FloatArray, batch: FloatArray, constant: float) -> FloatArray:
    """As :func:`pyqref.numerics.fused_observe.fused_average` (``eq-fused-average``).

    Examples
    --------
    >>> fused_average(np.float32([1.0, np.inf]), np.float32([3.0, 5.0]), 0.5)
    array([2., 5.], dtype=float32)
    """
    kernel = registry.twin("observe")
    batch = np.asarray(batch)
    found = None if kernel is None else kernel.fused_average(running, batch, constant)
    return fused_observe.fused_average(running, batch, constant) if found is None else found


def choose_qparams_dynamic(
    min_val: FloatArray,
    max_val: FloatArray,
    quant_min: int,
    quant_max: int,
    *,
    symmetric: bool = False,
    single: bool = False,
) -> tuple[FloatArray, IntArray]:
    """As :func:`pyqref.numerics.dynamic_qparams.choose_qparams_dynamic`.

    Equation ``eq-choose-qparams-dynamic``.

    Examples
    --------
    >>> scales, zero_points = choose_qparams_dynamic(np.float32([-1.0]), np.float32([3.0]), 0, 255)
    >>> scales, zero_points
    (array([0.01568627]), array([64]))
    """
    kernel = registry.twin("observe")
    if kernel is not None and quant_max - quant_min < 2**31:
        found = kernel.choose_qparams_dynamic(
            min_val,
            max_val,
            quant_min,
            quant_max,
            symmetric,
            single,
            dynamic_qparams.SMALLEST_DYNAMIC_SCALE,
        )
        if found is not None:
            return found
    return dynamic_qparams.choose_qparams_dynamic(
        min_val, max_val, quant_min, quant_max, symmetric=symmetric, single=single
    )
