"""Functions of one quantized tensor whose result lies on the grid of the argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.numerics import activation
from pyqref.tensor.arguments import as_number
from pyqref.tensor.quantized import PerTensorQuantizer, make_quantized
from pyqref.tensor.quantized.other_arithmetic import clamped_elsewhere

from .checks import output_quantizer, require_flag, require_number, require_per_tensor
from .pointwise import run_pointwise

__all__ = ["clamp", "leaky_relu", "relu", "relu6"]

_LARGEST = float(np.finfo(np.float32).max)


def relu(qx: Tensor, inplace: bool = False) -> Tensor:
    r"""Rectified linear unit (equation ``eq-quantized-relu``): :math:`\max(q, z)`.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    inplace
        Write the result into ``qx``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.relu(a).dequantize().tolist()
    [0.0, 2.0]
    """
    own = require_per_tensor("quantized.relu", qx)
    return _store("quantized.relu", qx, _kernels.relu(qx._array, own.zero_point), own, inplace)


def relu6(qx: Tensor, inplace: bool = False) -> Tensor:
    r"""Rectified linear unit with a ceiling (equation ``eq-quantized-relu6``).

    :math:`\min(\max(q, z), q(6))`; parameters as of :func:`relu`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.relu6(a).dequantize().tolist()
    [0.0, 2.0]
    """
    own = require_per_tensor("quantized.relu6", qx)
    integers = clamped_elsewhere("quantized.relu6", qx._array, own.grid, 0.0, 6.0)
    if integers is None:
        integers = _kernels.relu6(qx._array, own.grid)
    return _store("quantized.relu6", qx, integers, own, inplace)


def clamp(qx: Tensor, min: float | None = None, max: float | None = None) -> Tensor:
    r"""Clamp to real bounds (equation ``eq-quantized-clamp``).

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    min, max
        Real numbers, or None for no bound; not both None.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.clamp(a, 0.0, 1.0).dequantize().tolist()
    [0.0, 1.0]
    """
    own = require_per_tensor("quantized.clamp", qx)
    if min is None and max is None:
        raise RuntimeError("quantized.clamp: at least one of min and max must be given, got None")
    low = None if min is None else _bound("quantized.clamp: min", min)
    high = None if max is None else _bound("quantized.clamp: max", max)
    integers = clamped_elsewhere("quantized.clamp", qx._array, own.grid, low, high)
    if integers is None:
        integers = _kernels.clamp(qx._array, own.grid, low, high)
    return make_quantized(integers, own)


def _bound(name: str, value: Any) -> float:
    """A bound, which may be infinite, as a number of float32."""
    number = as_number(value, name)
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    return -_LARGEST if number < -_LARGEST else _LARGEST if number > _LARGEST else number


def leaky_relu(
    qx: Tensor,
    negative_slope: float,
    inplace: bool = False,
    output_scale: float | None = None,
    output_zero_point: int | None = None,
) -> Tensor:
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

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.leaky_relu(a, 0.1, False, 0.1, 20).dequantize()
    tensor([-0.1000,  2.0000])
    """
    name = "quantized.leaky_relu"
    own = require_per_tensor(name, qx)
    scale = own.scale if output_scale is None else output_scale
    zero_point = own.zero_point if output_zero_point is None else output_zero_point
    out = output_quantizer(name, scale, zero_point, own.dtype)
    inplace = require_flag(name, "inplace", inplace)
    if inplace and out != own:
        raise ValueError(
            f"{name}: in place, the result keeps the parameters of the input, got "
            f"output_scale {out.scale} and output_zero_point {out.zero_point}"
        )
    slope = require_number(name, "negative_slope", negative_slope)
    result = run_pointwise(qx, activation.leaky_relu, out, slope)
    return _store(name, qx, result._array, own, True) if inplace else result


def _store(name: str, qx: Any, integers: Any, own: PerTensorQuantizer, inplace: bool) -> Any:
    if not require_flag(name, "inplace", inplace):
        return make_quantized(integers, own)
    qx._array[...] = integers
    qx._version[0] += 1
    return qx
