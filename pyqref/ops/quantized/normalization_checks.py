"""Checks of normalizations: shapes of parameters, a positive eps, numbers to normalize."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyqref._typing import Tensor
from pyqref.numerics.elementwise import Grid
from pyqref.tensor.quantized.other_arithmetic import keeps_engine

from .checks import (
    output_quantizer,
    require_float,
    require_number,
    require_per_tensor,
)

__all__ = [
    "normalized_grid",
    "optional_parameter",
    "require_dimensions",
    "require_elements",
    "require_eps",
    "require_parameter",
    "saturating",
]


def saturating() -> np.errstate:
    """Let overflow saturate at the ends of the range, without a warning of NumPy."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def normalized_grid(name: str, x: Tensor, scale: float, zero_point: int) -> Grid:
    """The grid of the result of normalizing ``x``."""
    require_per_tensor(name, x)
    keeps_engine(name)
    return output_quantizer(name, scale, zero_point, x.dtype).grid


def require_eps(name: str, eps: float) -> float:
    """``eps`` as a number that is not negative."""
    eps = require_number(name, "eps", eps)
    if eps < 0:
        raise ValueError(f"{name}: eps must not be negative, got {eps}")
    return eps


def require_parameter(name: str, label: str, tensor: Tensor, shape: tuple[int, ...]) -> np.ndarray:
    """The array of a float32 tensor of this shape."""
    require_float(name, tensor, label)
    array: np.ndarray = tensor._array
    if array.shape != shape:
        raise RuntimeError(f"{name}: {label} must have shape {shape}, got {array.shape}")
    return array


def optional_parameter(
    name: str, label: str, tensor: Tensor, shape: tuple[int, ...]
) -> np.ndarray | None:
    """Check a parameter like :func:`require_parameter`; None stays None."""
    return None if tensor is None else require_parameter(name, label, tensor, shape)


def require_dimensions(name: str, x: Tensor, allowed: Sequence[int]) -> None:
    """Raise unless ``x`` has one of these numbers of dimensions."""
    if x.dim() not in allowed:
        wanted = " or ".join(str(each) for each in allowed) if len(allowed) < 5 else "(N, C, *)"
        raise RuntimeError(
            f"{name}: input must have {wanted} dimensions, got shape {tuple(x.shape)}"
        )


def require_elements(name: str, count: int) -> None:
    """Raise if there is nothing to normalize."""
    if count == 0:
        raise RuntimeError(f"{name}: input must have at least one element to normalize, got none")
