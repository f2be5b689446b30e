"""Memory of an array's elements: its storage, its offset, arrays laid over it.

The *storage* of an array is the array that owns its memory; all views of one
storage share it, as the views of a ``torch`` storage do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from .operation import Array

__all__ = [
    "add_where",
    "address",
    "as_strided",
    "in_memory_order",
    "meets_partly",
    "overlaps",
    "same_layout",
    "storage_of",
]


def address(array: Array) -> int:
    """Address of the first element."""
    return int(array.__array_interface__["data"][0])


def storage_of(array: Array) -> Array:
    """The array that owns the memory of ``array``."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def in_memory_order(array: Array) -> Array:
    """The array with its axes permuted so that strides decrease."""
    order = np.argsort([-abs(stride) for stride in array.strides], kind="stable")
    return array.transpose(order)


def as_strided(
    array: Array, shape: Sequence[int], strides: Sequence[int], offset: int | None = None
) -> Array:
    """Lay an array over the storage of another.

    Parameters
    ----------
    array
        Whose storage is used.
    shape
        Lengths of the new array.
    strides
        Steps between neighbours, in bytes.
    offset
        Bytes from the beginning of the storage; None for that of ``array``.

    Raises
    ------
    RuntimeError
        An element would lie outside the storage.
    """
    storage = storage_of(array)
    memory = in_memory_order(storage)
    start = address(memory)
    if offset is None:
        offset = address(array) - start
    reach = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    if 0 in shape:
        return np.empty(tuple(shape), dtype=array.dtype)
    available = extent(memory.shape, memory.strides, memory.itemsize)
    if offset < 0 or offset + reach + array.itemsize > available:
        raise RuntimeError(
            f"as_strided: size {list(shape)} and strides (in bytes) {list(strides)} from byte "
            f"{offset} need {offset + reach + array.itemsize} bytes, the storage has {available}"
        )
    if memory.flags.c_contiguous:
        return np.ndarray(
            tuple(shape), array.dtype, buffer=memory, offset=offset, strides=tuple(strides)
        )
    flat = np.lib.stride_tricks.as_strided(
        memory, (available // array.itemsize,), (array.itemsize,)
    )
    return np.ndarray(tuple(shape), array.dtype, buffer=flat, offset=offset, strides=tuple(strides))


def extent(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """Bytes from the first element of an array to the end of its last one."""
    if 0 in shape:
        return 0
    steps = zip(shape, strides, strict=True)
    return itemsize + sum((length - 1) * stride for length, stride in steps)


def overlaps(array: Array) -> bool:
    """Return True if an axis is repeated in memory, as by ``expand``."""
    if 0 not in array.strides or array.size == 0:
        return False
    return any(s == 0 < n - 1 for s, n in zip(array.strides, array.shape, strict=True))


def meets_partly(written: Array, read: Array) -> bool:
    """Return True if written elements overlap other elements that are read.

    As in ``torch``, only arrays without gaps count; of others each element would be compared.
    """
    if written is read or storage_of(written) is not storage_of(read):
        return False
    if not written.size or not read.size or not (_is_dense(written) and _is_dense(read)):
        return False
    first, second = address(written), address(read)
    if first == second and written.nbytes == read.nbytes:
        return _steps(written) != _steps(read)
    return first < second + read.nbytes and second < first + written.nbytes


def _is_dense(array: Array) -> bool:
    if array.flags.c_contiguous:
        return True
    return 0 not in array.strides and extent(array.shape, array.strides, array.itemsize) == (
        array.nbytes
    )


def _steps(array: Array) -> list[tuple[int, int]]:
    pairs = zip(array.shape, array.strides, strict=True)
    return [(length, step) for length, step in pairs if length > 1]


def add_where(
    flat: Array, start: int, shape: Sequence[int], strides: Sequence[int], values: Array | int
) -> None:
    """Add to the places in ``flat`` memory that an array of this layout has its elements at.

    Unlike ``view += values`` this is right for elements that share a place.

    Parameters
    ----------
    flat
        The memory, a vector.
    start, strides
        Position of the first element and steps, in bytes.
    shape
        Of the array, and of ``values`` after broadcasting.
    """
    width = flat.itemsize
    where = start // width + sum(
        np.arange(length).reshape([-1] + [1] * (len(shape) - axis - 1)) * (step // width)
        for axis, (length, step) in enumerate(zip(shape, strides, strict=True))
    )
    # NumPy reads beyond values of fewer axes than the index has.
    np.add.at(flat, np.broadcast_to(where, tuple(shape)), np.broadcast_to(values, tuple(shape)))


def same_layout(
    shape: Sequence[int], strides: Sequence[int], dtype: DTypeLike
) -> tuple[Array, Array]:
    """Zeros with these very strides (in bytes), and the flat memory that they lie in."""
    width = np.dtype(dtype).itemsize
    flat = np.zeros(-(-extent(shape, strides, width) // width), dtype=dtype)
    if 0 in shape:
        return np.zeros(shape, dtype=dtype), flat
    return np.ndarray(tuple(shape), dtype, buffer=flat, strides=tuple(strides)), flat
