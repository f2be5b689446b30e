"""Convolutions of real numbers into real numbers, both on one grid (``eq-conv-dynamic``).

What goes into a convolution, and what comes out of it, are bytes. The first are made some lines at
a time where they are used, by ``quantize_input.pxd``; the others lie where the result will be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref._kernels.layout import empty
from pyqref._kernels.quantize.affine import (
    dequantize_into,
    dequantize_per_tensor,
    quantize_per_tensor,
)
from pyqref.numerics.types import FloatArray, IntArray

from ..._typing import Array

__all__ = ["of_equation", "output_for_bytes", "dequantize_in_place"]

_FLOAT32 = np.dtype(np.float32)
#: Bytes that are copied before real numbers take their place.
_COPIED = 1 << 13


def output_for_bytes(shape: tuple[int, ...]) -> tuple[FloatArray, IntArray]:
    """An array of real numbers, and its last quarter, as bytes of the same shape."""
    real = empty(shape, _FLOAT32)
    return real, real.reshape(-1).view(np.uint8)[3 * real.size :].reshape(shape)


def dequantize_in_place(real: FloatArray, scale: float, zero_point: int) -> None:
    """Replace the bytes in the last quarter of an array by real numbers (``eq-affine-dequantize``).

    Three quarters of those that are left at a time: their numbers end before the next byte.

    Examples
    --------
    >>> real, integers = output_for_bytes((3,))
    >>> integers[...] = 1, 2, 5
    >>> dequantize_in_place(real, 0.5, 1)
    >>> real
    array([0. , 0.5, 2. ], dtype=float32)
    """
    flat, done = real.reshape(-1), 0
    integers = flat.view(np.uint8)[3 * flat.size :]
    while done < flat.size:
        left = flat.size - done
        stop = done + 3 * left // 4 if left > _COPIED else flat.size
        some = integers[done:stop] if left > _COPIED else integers[done:].copy()
        dequantize_into(some, flat[done:stop], scale, zero_point)
        done = stop


def of_equation(
    convolve: Callable[[IntArray], IntArray],
    x: Any,
    zero_point: int,
    scale: float | None,
) -> Array:
    """The result of an equation that convolves integers: of integers, or with a scale, of reals."""
    if scale is None:
        return convolve(x)
    q = quantize_per_tensor(x, scale, zero_point, 0, 255, np.uint8)
    return dequantize_per_tensor(convolve(q), scale, zero_point)
