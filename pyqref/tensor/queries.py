"""Questions about tensors and types."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import dtype as dtype_
from ..dtypes import from_numpy_dtype
from ..tape import is_grad_enabled
from .base import TensorBase, wrap

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


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, TensorBase)


def numel(input: Any) -> int:
    """Number of elements."""
    return int(input._array.size)


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating point type."""
    return bool(input.dtype.is_floating_point)


def is_complex(input: Any) -> bool:
    """Always false: there are no complex tensors."""
    return False


def is_signed(input: Any) -> bool:
    """Whether the dtype has negative numbers."""
    return bool(input.dtype.is_signed)


def is_same_size(input: Any, other: Any) -> bool:
    """Whether the shapes are equal."""
    return bool(input._array.shape == other._array.shape)


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not zero."""
    if input._array.size != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            f"{'no values' if input._array.size == 0 else 'more than one value'} is ambiguous"
        )
    return bool(input.item())


def is_inference_mode_enabled() -> bool:
    """Whether operations are not recorded (``inference_mode`` is ``no_grad`` here)."""
    return not is_grad_enabled()


def get_device(input: Any) -> int:
    """-1, the number of the CPU."""
    return -1


def typename(obj: Any) -> str:
    """The name of the type, as ``Tensor.type()`` gives it for tensors."""
    return str(obj.type()) if is_tensor(obj) else type(obj).__name__


def can_cast(from_: dtype_, to: dtype_) -> bool:
    """Whether a result of one dtype may be stored in place in a tensor of another."""
    return bool(np.can_cast(from_.numpy_dtype, to.numpy_dtype, "same_kind"))


def promote_types(type1: dtype_, type2: dtype_) -> dtype_:
    """The smallest dtype that tensors of both are promoted to."""
    a, b = type1.numpy_dtype, type2.numpy_dtype
    if (a.kind == "f") != (b.kind == "f"):
        return type1 if a.kind == "f" else type2
    return from_numpy_dtype(np.promote_types(a, b))


def isposinf(input: Any) -> Any:
    """Whether positive infinity."""
    return wrap(np.asarray(np.isposinf(input._array)))


def isneginf(input: Any) -> Any:
    """Whether negative infinity."""
    return wrap(np.asarray(np.isneginf(input._array)))


def isreal(input: Any) -> Any:
    """True everywhere: numbers are real."""
    return wrap(np.ones(input._array.shape, dtype=np.bool_))


def signbit(input: Any) -> Any:
    """Whether the sign is minus, also of -0.0."""
    array = input._array
    return wrap(np.asarray(np.signbit(array) if array.dtype.kind == "f" else array < 0))


def isin(elements: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Whether each element is one of ``test_elements``."""
    a, b = (getattr(each, "_array", each) for each in (elements, test_elements))
    return wrap(np.asarray(np.isin(a, b, invert=invert)))
