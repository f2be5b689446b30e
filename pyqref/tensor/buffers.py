"""Tensors over the memory of other Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Tensor
from ..dtypes import dtype as dtype_
from .arguments import as_integer, described
from .creation import made, numpy_type
from .wrong_arguments import explains_errors

__all__ = ["frombuffer"]


@explains_errors
def frombuffer(
    buffer: Any,
    *,
    dtype: dtype_,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A vector over the bytes of an object, which it shares.

    Parameters
    ----------
    buffer
        An object with the buffer protocol, such as ``bytearray``. Of ``bytes``, which do not
        change, the tensor must not be changed either: it is copied.
    dtype
        How the bytes are read.
    count
        How many elements; all by default.
    offset
        Bytes that are left out at first.
    requires_grad
        Whether gradients are collected.

    Examples
    --------
    >>> import pyqref
    >>> memory = bytearray([1, 0, 2, 0])
    >>> numbers = pyqref.frombuffer(memory, dtype=pyqref.int16)
    >>> numbers[0] = 3
    >>> numbers.tolist(), memory[0]
    ([3, 2], 3)
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(
            f"frombuffer(): buffer must have the buffer protocol, got {described(buffer)}"
        ) from None
    wanted = np.dtype(numpy_type(dtype))
    count, offset = as_integer(count, "frombuffer(): count"), as_integer(offset, "offset")
    if view.nbytes == 0 or count == 0:
        raise ValueError(
            f"frombuffer(): both buffer length ({view.nbytes}) and count ({count}) must not be 0"
        )
    if not 0 <= offset < view.nbytes:
        raise ValueError(
            f"frombuffer(): offset ({offset} bytes) must be non-negative and no greater than "
            f"buffer length ({view.nbytes} bytes) minus 1"
        )
    left = view.nbytes - offset
    if count < 0 and left % wanted.itemsize:
        raise ValueError(
            f"frombuffer(): buffer length ({left} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({wanted.itemsize})"
        )
    if count > 0 and count * wanted.itemsize > left:
        raise ValueError(
            f"frombuffer(): requested buffer length ({count} * {wanted.itemsize} bytes) after "
            f"offset ({offset} bytes) must not be greater than actual buffer length "
            f"({view.nbytes} bytes)"
        )
    array = np.frombuffer(buffer, wanted, count if count > 0 else -1, offset)
    return made(array if array.flags.writeable else array.copy(), requires_grad)
