"""Batch norm on integers, whatever the number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor

from .grid import grid_of, tensor_on
from .normalization_checks import (
    normalized_grid,
    optional_parameter,
    require_dimensions,
    require_eps,
    require_parameter,
)

__all__ = [
    "batch_norm",
    "batch_norm1d",
    "batch_norm1d_relu",
    "batch_norm2d",
    "batch_norm2d_relu",
    "batch_norm3d",
    "batch_norm3d_relu",
    "batch_norm_relu",
]


def batch_norm2d(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
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

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.full((1, 1, 1, 1), 5.0), 0.5, 0, pyqref.quint8)
    >>> mean, var = pyqref.tensor([1.0]), pyqref.tensor([3.0])
    >>> y = pyqref.ops.quantized.batch_norm2d(x, None, None, mean, var, 1.0, 0.25, 10)
    >>> y.dequantize().item(), y.int_repr().item()  # (5 - 1) / sqrt(3 + 1)
    (2.0, 18)
    """
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm2d", (4,), qx, *arguments)


def batch_norm2d_relu(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm2d`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm2d_relu", (4,), qx, *arguments, relu=True)


def batch_norm3d(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm2d` for ``(N, C, D, H, W)``."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm3d", (5,), qx, *arguments)


def batch_norm3d_relu(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm3d`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm3d_relu", (5,), qx, *arguments, relu=True)


def batch_norm1d(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm2d` for ``(N, C)`` or ``(N, C, L)``."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm1d", (2, 3), qx, *arguments)


def batch_norm1d_relu(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm1d`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm1d_relu", (2, 3), qx, *arguments, relu=True)


def batch_norm(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm2d` for two to five dimensions."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm", (2, 3, 4, 5), qx, *arguments)


def batch_norm_relu(
    qx: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`batch_norm`, with no integer below the zero point of the result."""
    arguments = (weight, bias, mean, var, eps, output_scale, output_zero_point)
    return _batch_norm("batch_norm_relu", (2, 3, 4, 5), qx, *arguments, relu=True)


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
    out = normalized_grid(name, x, scale, zero_point)
    require_dimensions(name, x, dimensions)
    shape = (x.shape[1],)
    w = optional_parameter(name, "weight", weight, shape)
    b = optional_parameter(name, "bias", bias, shape)
    w = np.ones(shape, np.float32) if w is None else w
    b = np.zeros(shape, np.float32) if b is None else b
    statistics = (
        require_parameter(name, "mean", mean, shape),
        require_parameter(name, "var", var, shape),
    )
    alpha, beta = _kernels.batch_norm_coefficients(
        *statistics, w, b, require_eps(name, eps), x.q_scale(), out.scale
    )
    integers = _kernels.batch_norm(x._array, grid_of(x), alpha, beta, out, relu)
    return tensor_on(integers, out, x.dtype)
