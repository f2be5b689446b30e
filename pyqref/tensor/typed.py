"""``FloatTensor`` and its like: tensors of one type, by the name of the type."""

from __future__ import annotations

from typing import Any

from .._typing import Device, Tensor
from ..dtypes import bool_, dtype, float16, float32, float64, int8, int16, int32, int64, uint8
from .base import TensorBase
from .creation import empty, tensor
from .size import Size

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


class _TypedTensor(type):
    """A class whose instances are the tensors of one type."""

    dtype: dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase) and getattr(instance, "dtype", None) is cls.dtype

    def __call__(cls, *args: Any, device: Device = None) -> Tensor:
        """A tensor of some sizes, or of the elements of a sequence."""
        if not args:
            return empty(0, dtype=cls.dtype, device=device)
        sizes = isinstance(args[0], int | Size) and not isinstance(args[0], bool)
        if sizes or len(args) > 1:
            return empty(*args, dtype=cls.dtype, device=device)
        if isinstance(args[0], TensorBase):
            if not isinstance(args[0], cls):
                raise TypeError(
                    f"expected {cls.__name__} (got {getattr(args[0], 'dtype', None)}); use "
                    f"tensor.to({cls.dtype})"
                )
            return args[0].view_as(args[0])
        return tensor(args[0], dtype=cls.dtype, device=device)

    def __repr__(cls) -> str:
        return f"<class 'pyqref.{cls.__name__}'>"


def _typed(name: str, of: dtype) -> Any:
    text = f"""Tensors of {of}: ``{name}([1, 2])``, ``{name}(2, 3)`` of that shape.

    ``isinstance(t, {name})`` asks for the type. New code writes
    ``pyqref.tensor([1, 2], dtype={of})``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.{name}([0, 1]).dtype, isinstance(pyqref.{name}(2, 3), pyqref.{name})
    ({of}, True)
    """
    return _TypedTensor(name, (), {"dtype": of, "__doc__": text, "__module__": __name__})


FloatTensor: Any = _typed("FloatTensor", float32)
DoubleTensor: Any = _typed("DoubleTensor", float64)
HalfTensor: Any = _typed("HalfTensor", float16)
ByteTensor: Any = _typed("ByteTensor", uint8)
CharTensor: Any = _typed("CharTensor", int8)
ShortTensor: Any = _typed("ShortTensor", int16)
IntTensor: Any = _typed("IntTensor", int32)
LongTensor: Any = _typed("LongTensor", int64)
BoolTensor: Any = _typed("BoolTensor", bool_)
