"""Questions about tensors and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Tensor, TensorOrNumber
from ..dtypes import dtype as dtype_
from ..dtypes import from_numpy_dtype
from ..tape import is_grad_enabled
from .base import ANY_TENSOR, TensorBase, wrap
from .foreign import no_tensor
from .refusal import refuse_quantized
from .wrong_arguments import explains_errors

__all__ = [
    "can_cast",
    "get_device",
    "is_complex",
    "is_floating_point",
    "is_inference_mode_enabled",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "isin",
    "isneginf",
    "isposinf",
    "isreal",
    "numel",
    "promote_types",
    "signbit",
    "typename",
]


def is_tensor(obj: TensorOrNumber | Sequence[float]) -> bool:
    """Return True if ``obj`` is a tensor.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_tensor(pyqref.ones(1)), pyqref.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, TensorBase)


def numel(input: Tensor) -> int:
    """Number of elements.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.numel(pyqref.ones(2, 3))
    6
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("numel", "input", input)
    return int(input._array.size)


def is_floating_point(input: Tensor) -> bool:
    """Return True if the dtype is a floating point type.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_floating_point(pyqref.tensor(1.0)), pyqref.is_floating_point(pyqref.tensor(1))
    (True, False)
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("is_floating_point", "input", input)
    return bool(input.dtype.is_floating_point)


def is_complex(input: Tensor) -> bool:
    """Always false: there are no complex tensors.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_complex(pyqref.ones(1))
    False
    """
    return False


def is_signed(input: Tensor) -> bool:
    """Return True if the dtype has negative numbers.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_signed(pyqref.tensor([1], dtype=pyqref.int8))
    True
    >>> pyqref.is_signed(pyqref.tensor([1], dtype=pyqref.uint8))
    False
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("is_signed", "input", input)
    return bool(input.dtype.is_signed)


def is_same_size(input: Tensor, other: object) -> bool:
    """Return True if the shapes are equal.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_same_size(pyqref.ones(2), pyqref.ones(1, 2))
    False
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("is_same_size", "input", input)
    if not isinstance(other, ANY_TENSOR):
        raise no_tensor("is_same_size", "other", other)
    return bool(input._array.shape == other._array.shape)


def is_nonzero(input: Tensor) -> bool:
    """Return True if the only element is not zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_nonzero(pyqref.tensor([0.5])), pyqref.is_nonzero(pyqref.tensor([0]))
    (True, False)
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("is_nonzero", "input", input)
    if input._array.size != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            f"{'no values' if input._array.size == 0 else 'more than one value'} is ambiguous"
        )
    return bool(input.item())


def is_inference_mode_enabled() -> bool:
    """Return True if operations are not recorded (``inference_mode`` is ``no_grad`` here).

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.inference_mode():
    ...     print(pyqref.is_inference_mode_enabled())
    True
    """
    return not is_grad_enabled()


def get_device(input: Tensor) -> int:
    """-1, the number of the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.get_device(pyqref.ones(1))  # -1: the processor
    -1
    """
    return -1


def typename(obj: Any) -> str:
    """The name of the type, as ``Tensor.type()`` gives it for tensors.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.typename(pyqref.ones(1)), pyqref.typename(3)
    ('pyqref.FloatTensor', 'int')
    """
    return str(obj.type()) if is_tensor(obj) else type(obj).__name__


@explains_errors
def can_cast(from_: dtype_, to: dtype_) -> bool:
    """Return True if a result of one dtype may be stored in place in a tensor of another.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.can_cast(pyqref.int64, pyqref.float32)
    True
    >>> pyqref.can_cast(pyqref.float32, pyqref.int64)
    False
    """
    return bool(np.can_cast(from_.numpy_dtype, to.numpy_dtype, "same_kind"))


@explains_errors
def promote_types(type1: dtype_, type2: dtype_) -> dtype_:
    """The smallest dtype that tensors of both are promoted to.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.promote_types(pyqref.int8, pyqref.uint8)
    pyqref.int16
    >>> pyqref.promote_types(pyqref.int64, pyqref.float16)
    pyqref.float16
    """
    a, b = type1.numpy_dtype, type2.numpy_dtype
    if (a.kind == "f") != (b.kind == "f"):
        return type1 if a.kind == "f" else type2
    return from_numpy_dtype(np.promote_types(a, b))


def isposinf(input: Tensor) -> Tensor:
    """True where an element is positive infinity.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isposinf(pyqref.tensor([float("-inf"), float("inf")])).tolist()
    [False, True]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("isposinf", "input", input)
    refuse_quantized(input)
    return wrap(np.asarray(np.isposinf(input._array)))


def isneginf(input: Tensor) -> Tensor:
    """True where an element is negative infinity.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isneginf(pyqref.tensor([float("-inf"), float("inf")])).tolist()
    [True, False]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("isneginf", "input", input)
    refuse_quantized(input)
    return wrap(np.asarray(np.isneginf(input._array)))


def isreal(input: Tensor) -> Tensor:
    """True everywhere: numbers are real.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isreal(pyqref.tensor([1.0])).tolist()
    [True]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("isreal", "input", input)
    return wrap(np.ones(input._array.shape, dtype=np.bool_))


def signbit(input: Tensor) -> Tensor:
    """True where the sign is minus, also for -0.0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.signbit(pyqref.tensor([-0.0, 0.0, -1.0])).tolist()
    [True, False, True]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("signbit", "input", input)
    refuse_quantized(input)
    array = input._array
    return wrap(np.asarray(np.signbit(array) if array.dtype.kind == "f" else array < 0))


@explains_errors
def isin(elements: Tensor, test_elements: Tensor, *, invert: bool = False) -> Tensor:
    """True where an element is one of ``test_elements``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.isin(pyqref.tensor([1, 2, 3]), pyqref.tensor([2, 3])).tolist()
    [False, True, True]
    """
    for name, each in (("elements", elements), ("test_elements", test_elements)):
        if not isinstance(each, (TensorBase, int, float)):
            raise no_tensor("isin", name, each)
    refuse_quantized(elements, test_elements)
    a, b = (getattr(each, "_array", each) for each in (elements, test_elements))
    return wrap(np.asarray(np.isin(a, b, invert=invert)))
