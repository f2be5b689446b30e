"""Comparisons of tensors and numbers; quantized tensors are compared by value."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _kernels
from .._insides.numpy_errors import quiet
from .._kernels.layout import PART, lies_in_result_order
from .._kernels.parts import output_for, parts, under
from .._typing import Tensor, TensorOrNumber
from ..dtypes import per_tensor_affine
from .aliases import alias
from .base import TensorBase, wrap
from .dispatch import require_tensor
from .failures import broadcast_error
from .inplace import in_place
from .promotion import promote
from .refusal import refuse_quantized
from .wrong_arguments import explains_errors

__all__ = [
    "greater_",
    "greater_equal_",
    "less_",
    "less_equal_",
    "not_equal_",
    "allclose",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isclose",
    "le",
    "less",
    "less_equal",
    "lt",
    "ne",
    "not_equal",
]


def _values(operand: Any) -> Any:
    if isinstance(operand, TensorBase) and operand.is_quantized:
        quantized: Any = operand
        return quantized.dequantize()
    return operand


def _is_large(operand: Any) -> bool:
    """Return True if a quantized tensor would take much memory as real numbers."""
    is_quantized = isinstance(operand, TensorBase) and operand.is_quantized
    return is_quantized and operand._array.size > PART


def _compare(function: Any, input: Any, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        other = wrap(other)
    if _is_large(input) or _is_large(other):
        result = _of_bytes(function, input, other)
        return wrap(_by_parts(function, input, other) if result is None else result)
    return wrap(_compared(function, input, other))


def _compared(function: Any, input: Any, other: Any, out: Any = None) -> Any:
    a, b = promote(_values(input), _values(other))
    arrays = getattr(a, "_array", a), getattr(b, "_array", b)
    try:
        with quiet():
            return np.asarray(function(*arrays, out=out))
    except ValueError as error:
        raise broadcast_error(error, arrays) from None


def _room(*operands: Any) -> Any:
    """Room for what it would be at once: it lies as real numbers would, of odd views in C order."""
    arrays = [each._array for each in operands if isinstance(each, TensorBase)]
    is_odd = any(_is_large(x) and not lies_in_result_order(x._array) for x in operands)
    try:
        return output_for(arrays, np.bool_, "C" if is_odd else "K")
    except ValueError as error:
        raise broadcast_error(error, arrays) from None


def _of_bytes(function: Any, *operands: Any) -> Any:
    """Bytes compared with one number, through a table, or with bytes on the same grid, as they are.

    None where it is another comparison, where two bytes stand for the same real number, or where
    the result would not lie as they do.
    """
    large: Any = next(filter(_is_large, operands))
    array, quantizer = large._array, large._quantizer
    if array.itemsize > 1 or quantizer.qscheme is not per_tensor_affine:
        return None
    if not lies_in_result_order(array):
        return None
    if not all(getattr(each, "ndim", 0) for each in operands):
        each_byte = large._like(np.arange(256, dtype=np.uint8).view(array.dtype))
        table = _compared(function, *(each_byte if x is large else x for x in operands))
        return _kernels.look_up(table.view(np.uint8), array).view(np.bool_)
    if not all(x.is_quantized and x._quantizer == quantizer for x in operands):
        return None
    limits = np.iinfo(array.dtype)
    real = quantizer.dequantize(np.arange(limits.min, limits.max + 1).astype(array.dtype))
    if not np.all(real[1:] > real[:-1]):
        return None
    return function(*(each._array for each in operands), out=_room(*operands))


def _by_parts(function: Any, input: Any, other: Any) -> Any:
    result = _room(input, other)
    for at in parts(result, most=PART):
        _compared(function, _part_of(input, at), _part_of(other, at), result[at])
    return result


def _part_of(operand: Any, at: tuple[slice, ...]) -> Any:
    """A part of it, in real numbers."""
    if not isinstance(operand, TensorBase):
        return operand
    x: Any = operand
    where = under(at, x._array.shape)
    array = x._array[(*where, ...)]
    return wrap(x._quantizer.of_part(where).dequantize(array) if x.is_quantized else array)


def eq(input: TensorBase, other: TensorOrNumber) -> Tensor:
    """``input == other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.eq(pyqref.tensor([1.0, 2.0]), 2.0).tolist()
    [False, True]
    """
    return _compare(np.equal, input, other)


def ne(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input != other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ne(pyqref.tensor([1.0, 2.0]), 2.0).tolist()
    [True, False]
    """
    return _compare(np.not_equal, input, other)


def lt(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input < other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.lt(pyqref.tensor([1.0, 2.0]), 2.0).tolist()
    [True, False]
    """
    return _compare(np.less, input, other)


def le(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input <= other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.le(pyqref.tensor([1.0, 2.0]), 1.0).tolist()
    [True, False]
    """
    return _compare(np.less_equal, input, other)


def gt(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input > other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.gt(pyqref.tensor([1.0, 2.0]), 1.0).tolist()
    [False, True]
    """
    return _compare(np.greater, input, other)


def ge(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input >= other``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ge(pyqref.tensor([1.0, 2.0]), pyqref.tensor([1.0, 3.0])).tolist()
    [True, False]
    """
    return _compare(np.greater_equal, input, other)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return True if shapes, types and all elements are equal (and the quantizers, if quantized).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.equal(pyqref.ones(2), pyqref.ones(2))
    True
    >>> pyqref.equal(pyqref.ones(2), pyqref.ones(1, 2))
    False
    """
    require_tensor("equal", "input", input)
    require_tensor("equal", "other", other)
    if input.is_quantized or other.is_quantized:
        return (
            input.is_quantized == other.is_quantized
            and input._quantizer == other._quantizer
            and _all_equal(wrap(input._array), wrap(other._array))
        )
    return _all_equal(input, other)


def _all_equal(input: Any, other: Any) -> bool:
    return input._array.shape == other._array.shape and all(
        bool(np.all(_compared(np.equal, _part_of(input, at), _part_of(other, at))))
        for at in parts(input._array, most=PART)
    )


@explains_errors
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Return True where ``|input - other| <= atol + rtol * |other|``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isclose(pyqref.tensor([1.0, 1.0]), pyqref.tensor([1.0 + 1e-6, 1.1])).tolist()
    [True, False]
    """
    _same_type("isclose", input, other)
    arrays = input._array, other._array
    try:
        with quiet():
            return wrap(np.asarray(np.isclose(*arrays, rtol, atol, equal_nan)))
    except ValueError as error:
        raise broadcast_error(error, arrays) from None


@explains_errors
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Return True if :func:`isclose` holds everywhere.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([1.0])
    >>> pyqref.allclose(x, x + 1e-6), pyqref.allclose(x, x + 0.1)
    (True, False)
    """
    _same_type("allclose", input, other)
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._array))


def _same_type(name: str, input: Any, other: Any) -> None:
    require_tensor(name, "other", other)
    refuse_quantized(input, other)
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{name}: {input.dtype} did not match {other.dtype}")


greater, greater_equal = alias(gt, "greater"), alias(ge, "greater_equal")
less, less_equal = alias(lt, "less"), alias(le, "less_equal")
not_equal = alias(ne, "not_equal")

eq_, ne_, lt_, le_, gt_, ge_ = (in_place(each) for each in (eq, ne, lt, le, gt, ge))
greater_, greater_equal_, less_, less_equal_, not_equal_ = gt_, ge_, lt_, le_, ne_
