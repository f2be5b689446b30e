"""Bits and truth values; these functions have no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, Tensor, TensorOrNumber
from .base import ANY_TENSOR, wrap
from .dispatch import require_tensor
from .failures import broadcast_error
from .foreign import no_tensor
from .inplace import in_place
from .promotion import promote
from .refusal import refuse_quantized

__all__ = [
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
]


def _bitwise(function: Any, input: Any, other: Any) -> Any:
    refuse_quantized(input, other)
    arrays = [getattr(each, "_array", each) for each in promote(input, other)]
    if arrays[0].dtype.kind == "f":
        raise RuntimeError(f"{function.__name__} is not defined for floating point tensors")
    return _plain(function, *arrays)


def _plain(function: Any, *arrays: Any) -> Any:
    """A function without gradient."""
    try:
        return wrap(np.asarray(function(*arrays)))
    except ValueError as error:
        raise broadcast_error(error, arrays) from None


def _logical(function: Any, input: Any, other: Any) -> Any:
    require_tensor(function.__name__, "input", input)
    require_tensor(function.__name__, "other", other)
    refuse_quantized(input, other)
    return _plain(function, input._array, other._array)


def bitwise_and(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input & other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bitwise_and(pyqref.tensor([6, 255]), 3).tolist()
    [2, 3]
    """
    return _bitwise(np.bitwise_and, input, other)


def bitwise_or(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input | other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bitwise_or(pyqref.tensor([4, 1]), 3).tolist()
    [7, 3]
    """
    return _bitwise(np.bitwise_or, input, other)


def bitwise_xor(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input ^ other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bitwise_xor(pyqref.tensor([6, 1]), 3).tolist()
    [5, 2]
    """
    return _bitwise(np.bitwise_xor, input, other)


def bitwise_left_shift(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input << other``; 0 for a shift by all bits, or by less than none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bitwise_left_shift(pyqref.tensor([1, 3]), 4).tolist()
    [16, 48]
    """
    return _bitwise(left_shift, input, other)


def bitwise_right_shift(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input >> other``, which keeps the sign; the sign alone for a shift by all bits.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bitwise_right_shift(pyqref.tensor([48, -1]), 4).tolist()
    [3, -1]
    """
    return _bitwise(right_shift, input, other)


def _steps(input: Any, other: Any) -> tuple[Any, int]:
    """Shifts within the bits of a type, those outside being all of them; and how many it has."""
    if np.result_type(input, other).kind == "b":
        raise RuntimeError("shifts are not defined for bool tensors; convert them with x.int()")
    bits = 8 * np.result_type(input, other).itemsize
    steps = np.asarray(other)
    return np.where((steps < 0) | (steps >= bits), bits, steps).astype(steps.dtype), bits


def left_shift(input: Array, other: TensorOrNumber) -> Array:
    steps, _ = _steps(input, other)
    return np.left_shift(input, steps)


def right_shift(input: Array, other: TensorOrNumber) -> Array:
    steps, _ = _steps(input, other)
    return np.right_shift(input, steps)


def bitwise_not(input: Tensor) -> Tensor:
    """``~input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bitwise_not(pyqref.tensor([0, 5])).tolist()
    [-1, -6]
    >>> pyqref.bitwise_not(pyqref.tensor([True])).tolist()
    [False]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("bitwise_not", "input", input)
    refuse_quantized(input)
    if input.dtype.is_floating_point:
        raise RuntimeError("bitwise_not is not defined for floating point tensors")
    return wrap(np.asarray(np.invert(input._array)))


def logical_and(input: Tensor, other: TensorOrNumber) -> Tensor:
    """True where both elements are non-zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logical_and(pyqref.tensor([1, 1, 0]), pyqref.tensor([5, 0, 0])).tolist()
    [True, False, False]
    """
    return _logical(np.logical_and, input, other)


def logical_or(input: Tensor, other: TensorOrNumber) -> Tensor:
    """True where at least one element is non-zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logical_or(pyqref.tensor([1, 1, 0]), pyqref.tensor([5, 0, 0])).tolist()
    [True, True, False]
    """
    return _logical(np.logical_or, input, other)


def logical_xor(input: Tensor, other: TensorOrNumber) -> Tensor:
    """True where exactly one element is non-zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logical_xor(pyqref.tensor([1, 1, 0]), pyqref.tensor([5, 0, 0])).tolist()
    [False, True, False]
    """
    return _logical(np.logical_xor, input, other)


def logical_not(input: Tensor) -> Tensor:
    """True where an element is zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logical_not(pyqref.tensor([0.0, 0.5])).tolist()
    [True, False]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("logical_not", "input", input)
    refuse_quantized(input)
    return wrap(np.asarray(np.logical_not(input._array)))


bitwise_and_ = in_place(bitwise_and)
bitwise_or_ = in_place(bitwise_or)
bitwise_xor_ = in_place(bitwise_xor)
bitwise_left_shift_ = in_place(bitwise_left_shift)
bitwise_right_shift_ = in_place(bitwise_right_shift)
bitwise_not_ = in_place(bitwise_not)
logical_and_ = in_place(logical_and)
logical_or_ = in_place(logical_or)
logical_xor_ = in_place(logical_xor)
logical_not_ = in_place(logical_not)
