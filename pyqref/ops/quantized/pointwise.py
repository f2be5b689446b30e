"""Activations that move from one grid to another, and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.backends import quantized as settings
from pyqref.numerics import activation
from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics.elementwise import Grid
from pyqref.tensor.arguments import described
from pyqref.tensor.base import TensorBase, wrap

from .checks import (
    require_axis,
    require_flag,
    require_number,
    require_output_parameters,
    require_per_tensor,
)
from .grid import grid_of, output_grid, same_grid, tensor_on

__all__ = [
    "celu",
    "dropout",
    "elu",
    "hardswish",
    "prelu",
    "run_pointwise",
    "sigmoid",
    "softmax",
    "threshold",
]


def run_pointwise(
    x: Any, function: Callable[[np.ndarray], np.ndarray], out: Grid, table: bool = False
) -> Any:
    """A real function on a quantized tensor; of bytes, each of the 256 values only once.

    Equation ``eq-quantized-pointwise``; with ``table``, on qnnpack and for quint8,
    ``eq-quantized-table``.
    """
    grid = grid_of(x)
    unsigned = np.dtype(out.storage) == np.uint8
    own_table = table and settings.engine == "qnnpack" and unsigned
    run = activation.pointwise_table if own_table else activation.pointwise
    every = np.arange(256, dtype=np.uint8)
    narrow = x.dtype.itemsize == 1
    # What overflows saturates.
    with np.errstate(over="ignore", invalid="ignore"):
        values = run(function, every.view(x._array.dtype) if narrow else x._array, grid, out)
    if not narrow:
        return tensor_on(values, out, x.dtype)
    return tensor_on(_kernels.look_up(values, x._array), out, x.dtype)


def _out(name: str, x: Any, scale: Any, zero_point: Any) -> Grid:
    require_per_tensor(name, x, None, "qx")
    return output_grid(*require_output_parameters(name, scale, zero_point, x.dtype), x.dtype)


def sigmoid(qx: Any, output_scale: float, output_zero_point: int) -> Any:
    r"""Logistic function (equation ``eq-logistic``) on a grid of its own.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    output_scale, output_zero_point
        Of the result, which has the dtype of ``qx``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-8.0, 0.0, 8.0]), 0.1, 128, pyqref.quint8)
    >>> pyqref.ops.quantized.sigmoid(x, 1 / 256, 0).int_repr().tolist()
    [0, 128, 255]
    """
    out = _out("quantized.sigmoid", qx, output_scale, output_zero_point)
    return run_pointwise(qx, activation.sigmoid, out, table=True)


def hardswish(input: Any, output_scale: float, output_zero_point: int) -> Any:
    r"""Hardswish (equation ``eq-hardswish``) on a grid of its own; parameters as of sigmoid."""
    out = _out("quantized.hardswish", input, output_scale, output_zero_point)
    return run_pointwise(input, activation.hardswish, out, table=True)


def elu(
    self: Any,
    output_scale: float,
    output_zero_point: int,
    alpha: float = 1,
    scale: float = 1,
    input_scale: float = 1,
) -> Any:
    r"""Exponential linear unit (equation ``eq-elu``) on a grid of its own.

    Parameters
    ----------
    self
        Quantized per tensor, of any dtype and shape.
    output_scale, output_zero_point
        Of the result, which has the dtype of ``self``.
    alpha, scale, input_scale
        Of the formula.
    """
    out = _out("quantized.elu", self, output_scale, output_zero_point)
    given = (("alpha", alpha), ("scale", scale), ("input_scale", input_scale))
    parameters = [require_number("quantized.elu", name, value) for name, value in given]
    return run_pointwise(self, lambda x: activation.elu(x, *parameters), out)


def celu(self: Any, output_scale: float, output_zero_point: int, alpha: float = 1) -> Any:
    r"""ELU with :math:`\beta = 1 / \alpha` (equation ``eq-elu``), smooth at zero.

    Raises
    ------
    ValueError
        ``alpha`` is zero.
    """
    out = _out("quantized.celu", self, output_scale, output_zero_point)
    alpha = require_number("quantized.celu", "alpha", alpha)
    if alpha == 0:
        raise ValueError("quantized.celu: alpha must not be 0, got 0")
    return run_pointwise(self, lambda x: activation.elu(x, alpha, 1.0, 1 / alpha), out)


def threshold(qx: Any, threshold: float, value: float) -> Any:
    r"""``value`` for all that is not above ``threshold`` (``eq-threshold``); the grid stays."""
    require_per_tensor("quantized.threshold", qx)
    name = "quantized.threshold"
    low = require_number(name, "threshold", threshold)
    below = require_number(name, "value", value)
    return run_pointwise(qx, lambda x: activation.threshold(x, low, below), grid_of(qx))


def prelu(qx: Any, weight: Any, output_scale: float, output_zero_point: int) -> Any:
    r"""ReLU with a quantized slope below zero (equation ``eq-quantized-prelu``).

    Parameters
    ----------
    qx
        Quantized per tensor, any shape.
    weight
        Slopes of the same dtype, quantized per tensor: one, or one for each channel
        (axis 1, or axis 0 of a 1-D tensor).
    output_scale, output_zero_point
        Of the result.

    Notes
    -----
    torch 2.13 multiplies positive elements by 1 as the grid of the weight holds it. With
    ``backends.quantized.conventions = "torch"`` this function does the same.
    """
    name = "quantized.prelu"
    out = _out(name, qx, output_scale, output_zero_point)
    require_per_tensor(name, weight, (qx.dtype,), "weight")
    channels = qx.shape[1] if qx.dim() > 1 else qx.numel()
    if weight.dim() > 1 or weight.numel() not in (1, channels):
        raise RuntimeError(
            f"{name}: weight must have 1 element, or one for each of the {channels} channels, "
            f"got shape {tuple(weight.shape)}"
        )
    slopes = weight._array.reshape((-1,) + (1,) * max(qx.dim() - 2, 0))
    conventions: Any = settings.conventions
    slopes = slopes if qx.dim() else slopes.reshape(())
    with np.errstate(over="ignore", invalid="ignore"):
        integers = activation.prelu(
            qx._array, grid_of(qx), slopes, grid_of(weight), out, conventions
        )
    return tensor_on(integers, out, qx.dtype)


def softmax(qx: Any, dim: int, output_scale: float, output_zero_point: int) -> Any:
    r"""Softmax along ``dim`` (equation ``eq-softmax``) on a grid of its own.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype, at least one dimension.
    dim
        The axis along which the results sum to about one.
    output_scale, output_zero_point
        Of the result.
    """
    name = "quantized.softmax"
    out = _out(name, qx, output_scale, output_zero_point)
    dim = require_axis(name, "dim", dim, qx.dim())
    real = dequantize_per_tensor(qx._array, qx.q_scale(), qx.q_zero_point())
    result = activation.softmax(real, dim) if qx.dim() else np.ones((), np.float32)
    return tensor_on(quantize_per_tensor(result, *out), out, qx.dtype)


def dropout(
    self: Any,
    output_scale: float,
    output_zero_point: int,
    p: float = 0.5,
    training: bool = False,
) -> Any:
    """A copy: dropout has no effect when a quantized model runs.

    Scale and zero point stay as they are; as in torch the output parameters have no
    effect, and neither has ``training``.
    """
    if not isinstance(self, TensorBase):
        raise TypeError(f"quantized.dropout: self must be a tensor, got {described(self)}")
    p = require_number("quantized.dropout", "p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"quantized.dropout: p must be in [0, 1], got {p}")
    require_flag("quantized.dropout", "training", training)
    copied = self._array.copy()
    return same_grid(copied, self) if self.is_quantized else wrap(copied)
