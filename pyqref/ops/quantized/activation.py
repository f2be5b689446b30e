"""Functions of one quantized tensor whose result lies on the grid of the argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.numerics import activation
from pyqref.tensor.arguments import as_number

from .checks import require_flag, require_number, require_output_parameters, require_per_tensor
from .grid import grid_of, output_grid, same_grid
from .pointwise import run_pointwise

__all__ = ["clamp", "leaky_relu", "relu", "relu6"]

_LARGEST = float(np.finfo(np.float32).max)


def relu(qx: Any, inplace: bool = False) -> Any:
    r"""Rectified linear unit (equation ``eq-quantized-relu``): :math:`\max(q, z)`.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    inplace
        Write the result into ``qx``.
    """
    require_per_tensor("quantized.relu", qx)
    return _store("quantized.relu", qx, _kernels.relu(qx._array, qx.q_zero_point()), inplace)


def relu6(qx: Any, inplace: bool = False) -> Any:
    r"""Rectified linear unit with a ceiling (equation ``eq-quantized-relu6``).

    :math:`\min(\max(q, z), q(6))`; parameters as of :func:`relu`.
    """
    require_per_tensor("quantized.relu6", qx)
    return _store("quantized.relu6", qx, _kernels.relu6(qx._array, grid_of(qx)), inplace)


def clamp(qx: Any, min: float | None = None, max: float | None = None) -> Any:
    r"""Clamp to real bounds (equation ``eq-quantized-clamp``).

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    min, max
        Real numbers, or None for no bound; not both None.
    """
    require_per_tensor("quantized.clamp", qx)
    if min is None and max is None:
        raise RuntimeError("quantized.clamp: at least one of min and max must be given, got None")
    min, max = (
        None if bound is None else _bound(label, bound)
        for label, bound in (("min", min), ("max", max))
    )
    return same_grid(_kernels.clamp(qx._array, grid_of(qx), min, max), qx)


def _bound(label: str, value: Any) -> float:
    """A bound, which may be infinite, as a number of float32."""
    number = as_number(value, f"quantized.clamp: {label}")
    if math.isnan(number):
        raise ValueError(f"quantized.clamp: {label} must be a number, got nan")
    return float(np.clip(number, -_LARGEST, _LARGEST))


def leaky_relu(
    qx: Any,
    negative_slope: float,
    inplace: bool = False,
    output_scale: float | None = None,
    output_zero_point: int | None = None,
) -> Any:
    r"""Leaky ReLU (equation ``eq-leaky-relu``) on a grid of its own.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    negative_slope
        Slope below zero.
    inplace
        Not possible together with output parameters.
    output_scale, output_zero_point
        Of the result; those of ``qx`` if None.
    """
    name = "quantized.leaky_relu"
    require_per_tensor(name, qx)
    scale = qx.q_scale() if output_scale is None else output_scale
    zero_point = qx.q_zero_point() if output_zero_point is None else output_zero_point
    out = output_grid(*require_output_parameters(name, scale, zero_point, qx.dtype), qx.dtype)
    inplace = require_flag(name, "inplace", inplace)
    if inplace and out != grid_of(qx):
        raise ValueError(
            f"{name}: in place, the result keeps the parameters of the input, got "
            f"output_scale {out.scale} and output_zero_point {out.zero_point}"
        )
    slope = require_number(name, "negative_slope", negative_slope)
    result = run_pointwise(qx, lambda x: activation.leaky_relu(x, slope), out)
    return _store(name, qx, result._array, True) if inplace else result


def _store(name: str, qx: Any, integers: Any, inplace: bool) -> Any:
    if not require_flag(name, "inplace", inplace):
        return same_grid(integers, qx)
    qx._array[...] = integers
    qx._version[0] += 1
    return qx
