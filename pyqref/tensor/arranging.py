"""Copies of the elements of a tensor in another order, or several times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Ints, Shape, Tensor
from ..dtypes import contiguous_format, per_tensor_affine
from ..tape import shape as operations
from .arguments import as_integer
from .axes import axes_of, axis_of, shape_argument
from .dispatch import apply
from .layout import as_strided, clone
from .memory import require_memory
from .refusal import refuse_quantized
from .shape import flatten, transpose, unsqueeze
from .wrong_arguments import explain_errors

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "repeat",
    "repeat_interleave",
    "roll",
    "rot90",
    "tile",
    "unfold",
]


def flip(input: Tensor, *dims: Ints) -> Tensor:
    """Elements in reversed order along ``dims``; a copy.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.flip(pyqref.tensor([[1, 2], [3, 4]]), (0,)).tolist()
    [[3, 4], [1, 2]]
    """
    return apply(operations.Flip, input, axes_of(shape_argument(dims), input.ndim))


def fliplr(input: Tensor) -> Tensor:
    """Reverse the second axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.fliplr(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]
    """
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """Reverse the first axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.flipud(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2]]
    """
    return flip(input, 0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turn by 90 degrees ``k`` times in the plane of two axes.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.rot90(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    first, second = axes_of(dims, input.ndim)
    match k % 4:
        case 1:
            return transpose(flip(input, second), first, second)
        case 2:
            return flip(input, first, second)
        case 3:
            return transpose(flip(input, first), first, second)
    return clone(input, memory_format=contiguous_format)


def roll(input: Tensor, shifts: Any, dims: Shape | None = None) -> Tensor:
    """Shift elements along ``dims``; what falls off comes in again.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.roll(pyqref.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    shifts = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
    axes = None if dims is None else axes_of(dims, input.ndim)
    if axes is not None and len(axes) != len(shifts):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(axes)}"
        )
    if axes is None and len(shifts) != 1:
        raise RuntimeError(f"roll: without dims one shift is needed, got {len(shifts)}")
    shifts = tuple(as_integer(each, "roll: shifts") for each in shifts)
    return apply(operations.Roll, input, shifts, axes)


def repeat(input: Tensor, *repeats: Ints) -> Tensor:
    """The tensor tiled ``repeats`` times along each axis."""
    times = shape_argument(repeats)
    if len(times) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    if any(count < 0 for count in times):
        raise RuntimeError(f"repeat: counts must be non-negative, got {list(times)}")
    own = (1,) * (len(times) - input.ndim) + input._array.shape
    shape = [count * length for count, length in zip(times, own, strict=True)]
    require_memory(shape, input._array.itemsize, "repeat: a result")
    return apply(operations.Repeat, input, times)


def tile(input: Tensor, *dims: Ints) -> Tensor:
    """Repeat like :func:`repeat`; missing leading counts are 1.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tile(pyqref.tensor([1, 2]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    times = shape_argument(dims)
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


def repeat_interleave(input: Tensor, repeats: Tensor | int, dim: int | None = None) -> Tensor:
    """Each slice along ``dim`` repeated in its place.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.repeat_interleave(pyqref.tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    >>> pyqref.repeat_interleave(pyqref.tensor([1, 2]), pyqref.tensor([1, 3])).tolist()
    [1, 2, 2, 2]
    """
    refuse_quantized(repeats)
    per_tensor = input.is_quantized and input.qscheme() is per_tensor_affine
    if per_tensor and isinstance(repeats, int) and repeats > 1:
        require_memory((input._array.size, repeats), input._array.itemsize, "repeat_interleave: it")
        return _spread(input, repeats, dim)
    if dim is None:
        input, dim = flatten(input), 0
    axis = axis_of(dim, input.ndim)
    if isinstance(repeats, (int, float)):
        repeats = as_integer(repeats, "repeat_interleave: repeats")
    counts = getattr(repeats, "_array", repeats)
    if np.any(np.asarray(counts) < 0):
        raise RuntimeError(f"repeat_interleave: repeats must be non-negative, got {counts}")
    length = input._array.shape[axis]
    total = np.asarray(counts, np.float64).sum() * (length if np.ndim(counts) == 0 else 1)
    require_memory((int(total),), 8, "repeat_interleave: an index")
    longer = [*input._array.shape]
    longer[axis] = int(total)
    require_memory(longer, input._array.itemsize, "repeat_interleave: a result")
    where = np.repeat(np.arange(input._array.shape[axis]), counts)
    return input.index_select(axis, input.new_tensor(where))


def _spread(input: Any, repeats: int, dim: int | None) -> Any:
    """Each slice repeated as often, without an index, which is larger than bytes are."""
    axis = input.ndim - 1 if dim is None else axis_of(dim, input.ndim)
    shape = list(input._array.shape)
    longer = shape[:axis] + [repeats * each for each in shape[axis : axis + 1]] + shape[axis + 1 :]
    spread = unsqueeze(input, axis + 1).expand(*shape[: axis + 1], repeats, *shape[axis + 1 :])
    return spread.reshape(-1 if dim is None else longer)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of ``size`` along an axis, every ``step``, as a new last axis; a view."""
    axis = axis_of(dimension, input.ndim)
    length = input._array.shape[axis]
    if size > length or size < 0 or step < 1:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}"
        )
    shape, stride = list(input._array.shape), list(input.stride())
    step = min(as_integer(step, "unfold: step"), max(length, 1))
    shape[axis] = (length - size) // step + 1
    window = stride[axis]
    stride[axis] *= step
    return as_strided(input, (*shape, size), (*stride, window), input.storage_offset())


explain_errors(globals())
