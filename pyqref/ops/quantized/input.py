"""Quantizing the input of a dynamic layer."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.observe.one_range import choose_qparams_of_range
from pyqref.backends import quantized as settings
from pyqref.tensor.quantized.other_arithmetic import replaced

from ..._typing import Packed

__all__ = ["dynamic_elsewhere", "dynamic_grid", "quantize_rows", "require_finite_range"]


def dynamic_grid(
    x: np.ndarray, engine: str, reduce_range: bool, what: str = "the input"
) -> tuple[float, int]:
    """The scale and zero point of the range of a float32 array: of ``eq-dynamic-input``.

    Raises
    ------
    ValueError
        The input holds nan or infinity, which no scale covers.
    """
    low, high = _kernels.min_max(x) if x.size else (0.0, 0.0)
    require_finite_range(low, high, what)
    bits = 127 if reduce_range and engine != "qnnpack" else 255
    return choose_qparams_of_range(low, high, 0, bits)


def quantize_rows(
    x: np.ndarray, engine: str, reduce_range: bool, what: str
) -> tuple[Callable[[Any], np.ndarray], float, int]:
    """Return the grid of all rows and a function for their integers: ``eq-dynamic-input``."""
    scale, zero_point = dynamic_grid(x, engine, reduce_range, what)

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


def dynamic_elsewhere(
    name: str, x: np.ndarray, packed: Packed, reduce_range: bool, what: str = "the input"
) -> np.ndarray | None:
    """Real results of a dynamic layer in the arithmetic in use; None: the engine computes them."""
    if settings.arithmetic is None:
        return None
    if x.size:
        require_finite_range(*_kernels.min_max(x), what)
    made: np.ndarray | None = replaced(name, "dynamic", packed, x, reduce_range)
    return made
