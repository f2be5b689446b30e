"""Quantizing the input of a dynamic layer."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.dtypes import quint8
from pyqref.numerics.dynamic_qparams import choose_qparams_of_range
from pyqref.tensor.quantized import make_per_tensor

__all__ = ["dynamic_integers", "quantize_input", "quantize_rows", "require_finite_range"]


def dynamic_integers(
    x: np.ndarray, engine: str, reduce_range: bool, what: str = "the input"
) -> tuple[np.ndarray, float, int]:
    """The integers of a float32 array, and the scale and zero point of its range.

    Equation ``eq-dynamic-input``.

    Raises
    ------
    ValueError
        The input holds nan or infinity, which no scale covers.
    """
    x = np.ascontiguousarray(x)
    quantize, scale, zero_point = quantize_rows(x, engine, reduce_range, what)
    return quantize(...), scale, zero_point


def quantize_rows(
    x: np.ndarray, engine: str, reduce_range: bool, what: str
) -> tuple[Callable[[Any], np.ndarray], float, int]:
    """As :func:`dynamic_integers`: what gives the integers of some rows, and the grid of all."""
    low, high = _kernels.min_max(x) if x.size else (0.0, 0.0)
    require_finite_range(low, high, what)
    bits = 127 if reduce_range and engine != "qnnpack" else 255
    scale, zero_point = choose_qparams_of_range(low, high, 0, bits)

    def quantize(at: Any) -> np.ndarray:
        return _kernels.quantize_per_tensor(x[at], scale, zero_point, 0, 255, np.uint8)

    return quantize, scale, zero_point


def require_finite_range(low: float, high: float, what: str) -> None:
    """Raise unless a scale can cover the range."""
    if not (isfinite(low) and isfinite(high)):
        raise ValueError(
            f"dynamic quantization: {what} holds nan or infinity, which no scale covers "
            f"(its range is {np.float32(low)} to {np.float32(high)})"
        )


def quantize_input(x: Any, engine: str, reduce_range: bool) -> Any:
    """As :func:`dynamic_integers`, of a tensor, as a quint8 tensor."""
    integers, scale, zero_point = dynamic_integers(x._array, engine, reduce_range)
    return make_per_tensor(integers, scale, zero_point, quint8)
