"""From a quantized tensor to its integers and grid, and back."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Array, Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.numerics.elementwise import Grid
from pyqref.tensor.quantized import make_quantized
from pyqref.tensor.quantized.quantizer import per_tensor_quantizer

__all__ = ["grid_of", "output_grid", "same_grid", "tensor_on"]


def output_grid(scale: float, zero_point: int, dtype: Dtype) -> Grid:
    """The grid of a result of ``dtype``."""
    assert dtype.quant_min is not None
    assert dtype.quant_max is not None
    return Grid(scale, zero_point, dtype.quant_min, dtype.quant_max, dtype.numpy_dtype)


def grid_of(tensor: Any) -> Grid:
    """The grid on which a per-tensor quantized tensor lies."""
    grid: Grid = tensor._per_tensor("the grid").grid
    return grid


def tensor_on(integers: Array, grid: Grid, dtype: Dtype) -> Tensor:
    """The tensor of these integers on a grid."""
    quantizer = per_tensor_quantizer(dtype, float(grid.scale), int(grid.zero_point))
    return make_quantized(integers, quantizer)


def same_grid(integers: Any, like: Any) -> Tensor:
    """The tensor of these integers with scale, zero point and dtype of ``like``."""
    return make_quantized(integers, like._per_tensor("the grid"))
