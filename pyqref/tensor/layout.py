"""The order of the elements in memory: contiguous, channels last, any steps; and copies in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Ints, MemoryFormat, Shape, Tensor
from ..dtypes import channels_last, channels_last_3d, contiguous_format, preserve_format
from ..tape.shape import AsStrided, Clone, Permute
from .arguments import as_integer, described
from .axes import shape_argument
from .base import ANY_TENSOR
from .dispatch import apply
from .foreign import no_tensor
from .wrong_arguments import explains_errors

__all__ = ["as_strided", "clone", "contiguous", "is_contiguous"]

_ORDER = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def _inverse(memory_format: Any, ndim: int) -> tuple[tuple[int, ...], Any]:
    order = _ORDER[memory_format]
    if len(order) != ndim:
        raise RuntimeError(
            f"required rank {len(order)} tensor to use {memory_format._name} format, got {ndim}"
        )
    return order, np.argsort(order)


def _is_order(memory_format: Any) -> bool:
    """Return True if it is a memory format that names an order of the axes."""
    try:
        return memory_format in _ORDER
    except TypeError:  # of a list, which has no hash
        raise TypeError(
            "argument 'memory_format' must be a pyqref.memory_format, "
            f"got {described(memory_format)}"
        ) from None


def is_contiguous(input: Tensor, memory_format: MemoryFormat = contiguous_format) -> bool:
    """Return True if the elements lie in memory in the order of ``memory_format``."""
    if memory_format is not contiguous_format and _is_order(memory_format):
        if len(_ORDER[memory_format]) != input.ndim:
            return False
        return bool(input._array.transpose(_ORDER[memory_format]).flags.c_contiguous)
    return bool(input._array.flags.c_contiguous)


def contiguous(input: Tensor, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """The tensor itself if it is contiguous, else a contiguous copy."""
    if memory_format is contiguous_format and input._array.flags.c_contiguous:
        return input
    if is_contiguous(input, memory_format):
        return input
    return clone(input, memory_format=memory_format)


def clone(input: Tensor, *, memory_format: MemoryFormat = preserve_format) -> Tensor:
    """A copy with elements of its own; gradients flow through it.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(2)
    >>> pyqref.clone(x)[0] = 5.0
    >>> x.tolist()
    [0.0, 0.0]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("clone", "input", input)
    if _is_order(memory_format):
        order, back = _inverse(memory_format, input.ndim)
        moved = clone(apply(Permute, input, order), memory_format=contiguous_format)
        return apply(Permute, moved, tuple(int(axis) for axis in back))
    return apply(Clone, input, "C" if memory_format is contiguous_format else "K")


@explains_errors
def as_strided(
    input: Tensor, size: Shape, stride: Ints, storage_offset: int | None = None
) -> Tensor:
    """A view by sizes, strides and offset, in elements of the storage.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.as_strided(pyqref.arange(5), (3, 3), (1, 1)).tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    size, stride = shape_argument((size,)), shape_argument((stride,))
    if len(size) != len(stride):
        raise RuntimeError(f"mismatch in length of strides and shape: {len(stride)}, {len(size)}")
    if any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported, got {list(stride)}")
    if any(length < 0 for length in size):
        raise RuntimeError(f"as_strided: size must be non-negative, got {list(size)}")
    if storage_offset is not None:
        storage_offset = as_integer(storage_offset, "as_strided: storage_offset")
    return apply(AsStrided, input, size, stride, storage_offset)
