"""Running statistics by the kernel in use: a small batch, and what is made of its few ranges.

NumPy's calls would take longer than the numbers do. Arrays that a kernel does not take go to the
twin in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref.numerics import dynamic_qparams, fused_observe, moving_average
from pyqref.numerics.types import FloatArray, IntArray

from .ranges import min_max, min_max_per_channel

__all__ = [
    "choose_qparams_dynamic",
    "extremes",
    "fused_average",
    "running_range",
]

_FLOAT32 = np.dtype(np.float32)


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


def running_range(
    min_val: FloatArray,
    max_val: FloatArray,
    x: np.ndarray,
    axis: int | None = None,
    constant: float | None = None,
) -> tuple[FloatArray, FloatArray] | None:
    """The range of what was seen and of a batch (``eq-running-range``), or their average.

    Parameters
    ----------
    min_val, max_val
        What was seen; empty if nothing was.
    x
        The batch, at least one number.
    axis
        Where the channels are that have a range each; None for one range of all numbers.
    constant
        What the batch counts in a moving average (``eq-average-range``); None for extremes.

    Returns
    -------
    float32 arrays, ``()`` or ``(C,)``; None where ``x`` holds nan or infinity.

    Examples
    --------
    >>> low, high = np.float32([-1.0, 0.0]), np.float32([1.0, 2.0])
    >>> running_range(low, high, np.float32([[-3.0, 0.0], [1.0, 4.0]]), 1)
    (array([-3.,  0.], dtype=float32), array([1., 4.], dtype=float32))
    """
    kernel = registry.twin("observe")
    if kernel is not None:
        found = kernel.running_range(min_val, max_val, x, axis, constant, threads.limit)
        if found is not None:
            return found
    batch = min_max(x) if axis is None else min_max_per_channel(x, axis)
    low, high = (np.asarray(each, _FLOAT32) for each in batch)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    if min_val.size == 0:
        return low, high
    if constant is None:
        return moving_average.extreme_range(min_val, max_val, low, high)
    return moving_average.average_range(min_val, max_val, low, high, constant)


def fused_average(running: FloatArray, batch: FloatArray, constant: float) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.fused_observe.fused_average`.

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
    """Fast form of :func:`pyqref.numerics.dynamic_qparams.choose_qparams_dynamic`.

    Examples
    --------
    >>> scales, zero_points = choose_qparams_dynamic(np.float32([-1.0]), np.float32([3.0]), 0, 255)
    >>> scales, zero_points
    (array([0.01568627]), array([64]))
    """
    kernel = registry.twin("observe")
    if kernel is not None and quant_max - quant_min < 2**31:
        found = kernel.choose_qparams_dynamic(
            min_val, max_val, quant_min, quant_max, symmetric, single
        )
        if found is not None:
            return found
    return dynamic_qparams.choose_qparams_dynamic(
        min_val, max_val, quant_min, quant_max, symmetric=symmetric, single=single
    )
