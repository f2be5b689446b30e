"""Layer, group and instance norm on integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.parts import parts
from pyqref._typing import Tensor
from pyqref.numerics.elementwise import Grid

from .checks import (
    require_integer,
)
from .grid import grid_of, tensor_on
from .normalization_checks import (
    normalized_grid,
    optional_parameter,
    require_dimensions,
    require_elements,
    require_eps,
    require_parameter,
    saturating,
)

__all__ = [
    "group_norm",
    "instance_norm",
    "layer_norm",
]

#: Elements that are put in another order at a time.
_PART = 1 << 18


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
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
    out = normalized_grid(name, input, output_scale, output_zero_point)
    several = isinstance(normalized_shape, list | tuple)
    lengths = normalized_shape if several else (normalized_shape,)
    shape = tuple(require_integer(name, "normalized_shape", each, 0) for each in lengths)
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"{name}: normalized_shape must be the lengths of the last axes of the input, "
            f"got {shape} for an input of shape {tuple(input.shape)}"
        )
    length = math.prod(shape)
    w, b = (
        None if each is None else require_parameter(name, label, each, shape).reshape(1, length)
        for label, each in (("weight", weight), ("bias", bias))
    )
    require_elements(name, length)
    eps = require_eps(name, eps)

    def run(x: np.ndarray) -> np.ndarray:
        rows = _kernels.in_c_order(x).reshape(-1, length)
        return _kernels.layer_norm(rows, grid_of(input), w, b, eps, out).reshape(x.shape)

    x, axes = input._array, range(input.dim() - len(shape), input.dim())
    shaped_w, shaped_b = (None if f is None else f.reshape(shape) for f in (w, b))
    with saturating():
        if x.flags.c_contiguous or x.size <= _PART:
            return tensor_on(run(x), out, input.dtype)
        integers = np.empty(x.shape, x.dtype)
        for at in parts(x, whole=axes, most=_PART):
            if length > _PART:
                row = (*(each.start for each in at[: axes[0]]), ...)
                _kernels.layer_norm_of_row(
                    x[row], grid_of(input), shaped_w, shaped_b, eps, out, integers[row]
                )
            else:
                integers[at] = run(x[at])
    return tensor_on(integers, out, input.dtype)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
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
    out = normalized_grid(name, input, output_scale, output_zero_point)
    require_dimensions(name, input, range(2, 9))
    channels = input.shape[1]
    num_groups = require_integer(name, "num_groups", num_groups)
    if num_groups < 1 or channels % num_groups:
        raise RuntimeError(
            f"{name}: num_groups must divide the {channels} channels of the input, got {num_groups}"
        )
    return _by_channel(name, input, int(num_groups), weight, bias, eps, out)


def instance_norm(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
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
    out = normalized_grid(name, input, output_scale, output_zero_point)
    require_dimensions(name, input, range(3, 9))
    return _by_channel(name, input, input.shape[1], weight, bias, eps, out)


def _by_channel(
    name: str, x: Any, groups: int, weight: Any, bias: Any, eps: float, out: Grid
) -> Any:
    eps = require_eps(name, eps)
    require_elements(name, math.prod(x.shape[1:]))
    shape = (x.shape[1],)
    w = optional_parameter(name, "weight", weight, shape)
    b = optional_parameter(name, "bias", bias, shape)
    with saturating():
        integers = _kernels.group_norm(x._array, grid_of(x), groups, w, b, eps, out)
    return tensor_on(integers, out, x.dtype)
