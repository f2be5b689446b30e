"""From a quantized tensor to its integers and grid, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref.dtypes import dtype as Dtype
from pyqref.numerics.affine import quantize_per_tensor
from pyqref.numerics.elementwise import Grid, dequantize_fused, quantize_after
from pyqref.tensor.quantized import make_per_tensor

__all__ = ["apply_in_float", "grid_of", "output_grid", "same_grid", "tensor_on"]


def output_grid(scale: float, zero_point: int, dtype: Dtype) -> Grid:
    """The grid of a result of ``dtype``."""
    assert dtype.quant_min is not None
    assert dtype.quant_max is not None
    return Grid(scale, zero_point, dtype.quant_min, dtype.quant_max, dtype.numpy_dtype)


def grid_of(tensor: Any) -> Grid:
    """The grid on which a per-tensor quantized tensor lies."""
    return output_grid(tensor.q_scale(), tensor.q_zero_point(), tensor.dtype)


def tensor_on(integers: Any, grid: Grid, dtype: Dtype) -> Any:
    """The tensor of these integers on a grid."""
    return make_per_tensor(integers, grid.scale, grid.zero_point, dtype)


def same_grid(integers: Any, like: Any) -> Any:
    """The tensor of these integers with scale, zero point and dtype of ``like``."""
    return make_per_tensor(integers, like.q_scale(), like.q_zero_point(), like.dtype)


def apply_in_float(x: Any, function: Callable[[np.ndarray], np.ndarray], out: Grid) -> Any:
    """A function of real numbers on a quantized tensor, as vector code runs it.

    Equations ``eq-dequantize-fused`` and, of 8-bit results, ``eq-quantize-after``;
    qint32 results are quantized as ``eq-affine-quantize`` says.
    """
    result = function(dequantize_fused(x._array, grid_of(x))).astype(np.float32)
    narrow = x.dtype.itemsize == 1
    integers = quantize_after(result, out) if narrow else quantize_per_tensor(result, *out)
    return tensor_on(integers, out, x.dtype)
