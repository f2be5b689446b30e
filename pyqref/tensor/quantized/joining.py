"""Joining functions, such as ``cat`` and ``stack``, of quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ... import _kernels
from ...backends import quantized as settings
from ...numerics.elementwise import Grid
from ...tape import Operation
from ...tape.shape import Cat, Stack
from ..diagnostics import UnlikeGridsWarning, warn
from ..dispatch import quantized_implementation
from ..under_way import layer_under_way
from .operations import per_tensor_of, run_operation
from .other_arithmetic import replaced
from .quantizer import PerChannelQuantizer
from .tensor import make_quantized

__all__ = ["joined_elsewhere", "warn_of_unlike_grids"]


@quantized_implementation(Cat)
def _cat(axis: int, *tensors: Any) -> Any:
    """One after another, with the parameters of the first."""
    for each in tensors:
        if each.is_quantized and isinstance(each._quantizer, PerChannelQuantizer):
            raise RuntimeError(
                "cat is defined for per tensor quantized tensors only; dequantize, join and "
                "quantize again"
            )
    return _joined(Cat, axis, tensors)


@quantized_implementation(Stack)
def _stack(axis: int, *tensors: Any) -> Any:
    """Along a new axis, with the parameters of the first."""
    return _joined(Stack, axis, tensors)


def _joined(operation: type[Operation], axis: int, tensors: tuple[Any, ...]) -> Any:
    """Join the integers; tensors of other parameters are quantized again with the first's."""
    name = operation.__name__.lower()
    quantizer = per_tensor_of(name, *tensors)
    arrays, alike = [], True
    for tensor in tensors:
        own = tensor._quantizer
        if own.dtype is not quantizer.dtype:
            raise RuntimeError(
                f"{name}: all tensors must have one dtype, got {quantizer.dtype} and {own.dtype}"
            )
        alike = alike and own == quantizer
        arrays.append(tensor._array)
    if alike:
        return make_quantized(run_operation(operation, axis, *arrays), quantizer)
    warn_of_unlike_grids(name, tensors)
    grids = [tensor._quantizer.grid for tensor in tensors]
    if operation is Stack:
        place = (*(slice(None),) * axis, np.newaxis)
        arrays = [array[place] for array in arrays]
    integers = joined_elsewhere(name, arrays, grids, axis, quantizer.grid)
    if integers is None:
        integers = _kernels.cat(arrays, grids, axis, quantizer.grid)
    return make_quantized(integers, quantizer)


def joined_elsewhere(
    name: str, arrays: Sequence[Any], grids: Sequence[Grid], axis: int, out: Grid
) -> np.ndarray | None:
    """The arrays on one grid, joined in the arithmetic in use; None if the engine is to do it."""
    parts = []
    for array, grid in zip(arrays, grids, strict=True):
        if grid[:2] != out[:2]:
            array = replaced(name, "rescale", array, grid, out)
            if array is None:
                return None
        parts.append(array)
    return None if settings.arithmetic is None else np.concatenate(parts, axis=axis)


def warn_of_unlike_grids(name: str, tensors: Sequence[Any]) -> None:
    """Warn that ``name`` quantizes again what lies on another grid than the first tensor."""
    first: Grid = tensors[0]._quantizer.grid
    for position, tensor in enumerate(tensors):
        grid = tensor._quantizer.grid
        if grid != first and tensor._array.size:
            layer = layer_under_way()
            place = f"{layer.path}: " if layer is not None and layer.path else ""
            warn(f"{place}{name} puts {_unlike(name, position, grid, first)}", UnlikeGridsWarning)
            return


@lru_cache(maxsize=256)
def _unlike(name: str, position: int, grid: Grid, first: Grid) -> str:
    """The rest of the message; kept, since a layer warns each time."""
    low, high = ((each - first.zero_point) * first.scale for each in first[2:4])
    return (
        f"tensor {position}, of scale "
        f"{grid.scale:.6g} and zero point {grid.zero_point}, on the grid of tensor 0, of "
        f"scale {first.scale:.6g} and zero point {first.zero_point}, which holds numbers "
        f"of {low:.6g} to {high:.6g} only; {_remedy(name)}"
    )


def _remedy(name: str) -> str:
    if name.startswith("quantized."):
        return "give it a scale and a zero point of the result"
    return (
        "in eager mode join by FloatFunctional.cat, in graph mode keep the join in float by "
        f"set_object_type(pyqref.{name}, None), or call ops.quantized.cat with a scale and a zero "
        "point"
    )
