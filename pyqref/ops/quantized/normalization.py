"""Normalization layers on integers: batch, layer, group and instance norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.numerics import normalization
from pyqref.numerics.elementwise import Grid

from .checks import (
    require_float,
    require_integer,
    require_number,
    require_output_parameters,
    require_per_tensor,
)
from .grid import grid_of, output_grid, tensor_on

__all__ = [
    "batch_norm",
    "batch_norm1d",
    "batch_norm1d_relu",
    "batch_norm2d",
    "batch_norm2d_relu",
    "batch_norm3d",
    "batch_norm3d_relu",
    "batch_norm_relu",
    "group_norm",
    "instance_norm",
    "layer_norm",
]


def batch_norm2d(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    r"""Batch norm with known statistics (equation ``eq-quantized-batch-norm``).

    Parameters
    ----------
    qx
        Quantized per tensor, ``(N, C, H, W)``.
    weight, bias
        float32 ``(C,)``, or None: one and zero.
    mean, var
        Statistics of the channels, float32 ``(C,)``.
    eps
        Added to the variance.
    output_scale, output_zero_point
        Of the result, which has the dtype of ``qx``.

    Raises
    ------
    RuntimeError
        An argument has another dtype, or a shape that does not fit.
    ValueError
        The output parameters are out of range.
    """
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm2d", (4,), qx, *arguments)


def batch_norm2d_relu(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm2d`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm2d_relu", (4,), qx, *arguments, relu=True)


def batch_norm3d(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm2d` for ``(N, C, D, H, W)``."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm3d", (5,), qx, *arguments)


def batch_norm3d_relu(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm3d`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm3d_relu", (5,), qx, *arguments, relu=True)


def batch_norm1d(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm2d` for ``(N, C)`` or ``(N, C, L)``."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm1d", (2, 3), qx, *arguments)


def batch_norm1d_relu(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm1d`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm1d_relu", (2, 3), qx, *arguments, relu=True)


def batch_norm(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm2d` for two to five dimensions."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm", (2, 3, 4, 5), qx, *arguments)


def batch_norm_relu(
    qx: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """:func:`batch_norm`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm_relu", (2, 3, 4, 5), qx, *arguments, relu=True)


def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any,
    bias: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    r"""Layer norm (equation ``eq-quantized-layer-norm``).

    Parameters
    ----------
    input
        Quantized per tensor, ``(*, *normalized_shape)``.
    normalized_shape
        Lengths of the last axes, which are normalized together.
    weight, bias
        float32 of this shape, or None: one and zero.
    eps
        Added to the variance.
    output_scale, output_zero_point
        Of the result, which has the dtype of ``input``.

    Raises
    ------
    RuntimeError
        An argument has another dtype, or a shape that does not fit.
    ValueError
        The output parameters are out of range.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0, 3.0]]), 0.1, 0, pyqref.quint8)
    >>> ops.layer_norm(x, [3], pyqref.ones(3), pyqref.zeros(3), 1e-5, 0.1, 20).dequantize()
    tensor([[-1.2000,  0.0000,  1.2000]])
    """
    name = "quantized.layer_norm"
    out = _out(name, input, output_scale, output_zero_point)
    several = isinstance(normalized_shape, list | tuple)
    lengths = normalized_shape if several else (normalized_shape,)
    shape = tuple(require_integer(name, "normalized_shape", each, 0) for each in lengths)
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"{name}: normalized_shape must be the lengths of the last axes of the input, "
            f"got {shape} for an input of shape {tuple(input.shape)}"
        )
    length = math.prod(shape)
    parameters = [
        None if each is None else _parameter(name, label, each, shape).reshape(1, length)
        for label, each in (("weight", weight), ("bias", bias))
    ]
    _require_elements(name, length)
    rows = np.ascontiguousarray(input._array).reshape(-1, length)
    with _saturating():
        integers = _kernels.layer_norm(
            rows, grid_of(input), parameters[0], parameters[1], _eps(name, eps), out
        )
    return tensor_on(integers.reshape(input._array.shape), out, input.dtype)


def group_norm(
    input: Any,
    num_groups: int,
    weight: Any,
    bias: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    r"""Group norm (equation ``eq-quantized-group-norm``).

    Parameters
    ----------
    input
        Quantized per tensor, ``(N, C, *)``.
    num_groups
        Divides C.
    weight, bias
        float32 ``(C,)``, or None: one and zero.
    eps, output_scale, output_zero_point
        As of :func:`layer_norm`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> x = pyqref.tensor([0.0, 1.0, 4.0, 8.0]).reshape(1, 4, 1)
    >>> q = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8)
    >>> y = ops.group_norm(q, 2, pyqref.ones(4), pyqref.zeros(4), 1e-5, 0.1, 20)
    >>> y.dequantize().flatten()
    tensor([-1.,  1., -1.,  1.])
    """
    name = "quantized.group_norm"
    out = _out(name, input, output_scale, output_zero_point)
    _require_dimensions(name, input, range(2, 9))
    channels = input.shape[1]
    num_groups = require_integer(name, "num_groups", num_groups)
    if num_groups < 1 or channels % num_groups:
        raise RuntimeError(
            f"{name}: num_groups must divide the {channels} channels of the input, got {num_groups}"
        )
    return _by_channel(name, input, int(num_groups), weight, bias, eps, out)


def instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    r"""Instance norm (equation ``eq-quantized-instance-norm``): one group for each channel.

    Parameters
    ----------
    input
        Quantized per tensor, ``(N, C, *)`` with at least one more axis.
    weight, bias
        float32 ``(C,)``, or None: one and zero.
    eps, output_scale, output_zero_point
        As of :func:`layer_norm`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[[0.0, 1.0]]]), 0.1, 0, pyqref.quint8)
    >>> ops.instance_norm(x, pyqref.ones(1), pyqref.zeros(1), 1e-5, 0.1, 20).dequantize()
    tensor([[[-1.,  1.]]])
    """
    name = "quantized.instance_norm"
    out = _out(name, input, output_scale, output_zero_point)
    _require_dimensions(name, input, range(3, 9))
    return _by_channel(name, input, input.shape[1], weight, bias, eps, out)


def _by_channel(
    name: str, x: Any, groups: int, weight: Any, bias: Any, eps: float, out: Grid
) -> Any:
    eps = _eps(name, eps)
    _require_elements(name, math.prod(x.shape[1:]))
    shape = (x.shape[1],)
    w = None if weight is None else _parameter(name, "weight", weight, shape)
    b = None if bias is None else _parameter(name, "bias", bias, shape)
    with _saturating():
        integers = _kernels.group_norm(x._array, grid_of(x), groups, w, b, eps, out)
    return tensor_on(integers, out, x.dtype)


def _batch_norm(
    name: str,
    dimensions: Sequence[int],
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    scale: float,
    zero_point: int,
    relu: bool = False,
) -> Any:
    name = f"quantized.{name}"
    out = _out(name, x, scale, zero_point)
    _require_dimensions(name, x, dimensions)
    shape = (x.shape[1],)
    w = np.ones(shape, np.float32) if weight is None else _parameter(name, "weight", weight, shape)
    b = np.zeros(shape, np.float32) if bias is None else _parameter(name, "bias", bias, shape)
    statistics = _parameter(name, "mean", mean, shape), _parameter(name, "var", var, shape)
    with _saturating():
        alpha, beta = normalization.batch_norm_coefficients(
            *statistics, w, b, _eps(name, eps), x.q_scale(), out.scale
        )
        integers = normalization.batch_norm(x._array, grid_of(x), alpha, beta, out, relu)
    return tensor_on(integers, out, x.dtype)


def _saturating() -> np.errstate:
    """What overflows goes to the ends of the range, without a word from NumPy."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def _out(name: str, x: Any, scale: Any, zero_point: Any) -> Grid:
    require_per_tensor(name, x)
    return output_grid(*require_output_parameters(name, scale, zero_point, x.dtype), x.dtype)


def _eps(name: str, eps: Any) -> float:
    eps = require_number(name, "eps", eps)
    if eps < 0:
        raise ValueError(f"{name}: eps must not be negative, got {eps}")
    return eps


def _parameter(name: str, label: str, tensor: Any, shape: tuple[int, ...]) -> np.ndarray:
    require_float(name, tensor, label)
    if tuple(tensor.shape) != shape:
        raise RuntimeError(f"{name}: {label} must have shape {shape}, got {tuple(tensor.shape)}")
    array: np.ndarray = tensor.detach()._array
    return array


def _require_dimensions(name: str, x: Any, allowed: Sequence[int]) -> None:
    if x.dim() not in allowed:
        wanted = " or ".join(str(each) for each in allowed) if len(allowed) < 5 else "(N, C, *)"
        raise RuntimeError(
            f"{name}: input must have {wanted} dimensions, got shape {tuple(x.shape)}"
        )


def _require_elements(name: str, count: int) -> None:
    if count == 0:
        raise RuntimeError(f"{name}: input must have at least one element to normalize, got none")
