"""Behaviour of a tensor in Python and NumPy: printing, copying, pickling, operators."""

from __future__ import annotations

import builtins
import copy
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from .._insides.stack import caller
from .._lazy import no_attribute
from .._typing import Operand, Tensor, TensorOrNumber
from ..tape.memory import address, as_strided, storage_of
from . import (
    arithmetic,
    comparison,
    conversion,
    indexing,
    joining,
    linalg,
    logic,
    pointwise,
    printing,
)
from .base import leaf, wrap
from .description import Description
from .operators import operator, reflected

__all__ = ["Protocols"]


class Protocols(Description):
    """The methods with two underscores."""

    if not TYPE_CHECKING:  # a type checker knows the names that are there

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("pyqref.Tensor", name, self)

    def __repr__(self) -> str:
        return printing.tensor_repr(self)

    def __format__(self, spec: str) -> str:
        return (
            format(conversion.item(self), spec) if self.ndim == 0 else object.__format__(self, spec)
        )

    def __len__(self) -> builtins.int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(joining.unbind(self, 0))

    def __contains__(self, element: TensorOrNumber) -> builtins.bool:
        return bool(comparison.eq(self, element)._array.any())

    def __bool__(self) -> builtins.bool:
        if self._array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                f"{'no values' if self._array.size == 0 else 'more than one value'} is ambiguous"
            )
        return bool(conversion.item(self))

    def __float__(self) -> builtins.float:
        return float(conversion.item(self))

    def __int__(self) -> builtins.int:
        return int(conversion.item(self))

    def __index__(self) -> builtins.int:
        if self._array.dtype.kind not in "iub" or self.is_quantized:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(conversion.item(self))

    def __hash__(self) -> builtins.int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                f"protocol at the moment; {_being_copied()}call detach() first"
            )
        storage = storage_of(self._array)
        copied = memo.get(id(storage))
        if copied is None:
            copied = memo[id(storage)] = storage.copy(order="K")
            memo[id(memo)] = [*memo.get(id(memo), []), storage]
        offset = address(self._array) - address(storage)
        array = as_strided(copied, self._array.shape, self._array.strides, offset)
        result = type(self)._make(array, self)
        memo[id(self)] = result
        result.grad = copy.deepcopy(self.grad, memo)
        return result

    @classmethod
    def _make(cls, array: Any, like: Any) -> Any:
        """A leaf of this class on ``array``, otherwise as ``like``."""
        result = leaf(cls, array)
        result.requires_grad = like.requires_grad
        result.__dict__.update(
            {name: value for name, value in like.__dict__.items() if not name.startswith("_")}
        )
        return result

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        if not self.is_leaf:
            raise RuntimeError(
                "a tensor that an operation made cannot be pickled; call detach() first"
            )
        return _unpickled, (type(self), self._array, self.requires_grad, self._state())

    def _state(self) -> dict[str, Any]:
        """Return the attributes that a subclass keeps besides the elements."""
        return {}

    # NumPy and DLPack
    __array_priority__ = 1000
    __array__ = conversion.as_array
    __dlpack__ = conversion.dlpack
    __dlpack_device__ = conversion.dlpack_device

    def __array_wrap__(
        self, array: object, context: object = None, return_scalar: bool = False
    ) -> Tensor:
        return wrap(np.asarray(array))

    # operators
    __add__ = __radd__ = operator(arithmetic.add)
    __sub__ = operator(arithmetic.sub)
    __rsub__ = operator(arithmetic.rsub)
    __mul__ = __rmul__ = operator(arithmetic.mul)
    __truediv__ = operator(arithmetic.div)
    __rtruediv__ = operator(arithmetic.rdiv)
    __floordiv__ = operator(arithmetic.floor_divide)
    __rfloordiv__ = reflected(arithmetic.floor_divide)
    __mod__ = operator(arithmetic.remainder)
    __rmod__ = reflected(arithmetic.remainder)
    __pow__ = operator(arithmetic.pow)
    __rpow__ = reflected(arithmetic.pow)
    __matmul__ = linalg.matmul
    __rmatmul__ = reflected(linalg.matmul)
    __neg__ = arithmetic.neg
    __pos__ = conversion.cpu
    __abs__ = pointwise.abs
    __invert__ = logic.bitwise_not
    __and__ = __rand__ = operator(logic.bitwise_and)
    __or__ = __ror__ = operator(logic.bitwise_or)
    __xor__ = __rxor__ = operator(logic.bitwise_xor)
    __lshift__ = operator(logic.bitwise_left_shift)
    __rlshift__ = reflected(logic.bitwise_left_shift)
    __rshift__ = operator(logic.bitwise_right_shift)
    __rrshift__ = reflected(logic.bitwise_right_shift)
    if TYPE_CHECKING:

        def __eq__(self, other: Operand) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Operand) -> Tensor: ...  # type: ignore[override]

    else:
        __eq__ = operator(comparison.eq)
        __ne__ = operator(comparison.ne)
    __lt__ = operator(comparison.lt)
    __le__ = operator(comparison.le)
    __gt__ = operator(comparison.gt)
    __ge__ = operator(comparison.ge)
    __iadd__ = arithmetic.add_
    __isub__ = arithmetic.sub_
    __imul__ = arithmetic.mul_
    __itruediv__ = arithmetic.div_
    __ifloordiv__ = arithmetic.floor_divide_
    __imod__ = arithmetic.remainder_
    __ipow__ = arithmetic.pow_
    __iand__ = logic.bitwise_and_
    __ior__ = logic.bitwise_or_
    __ixor__ = logic.bitwise_xor_
    __ilshift__ = logic.bitwise_left_shift_
    __irshift__ = logic.bitwise_right_shift_
    __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem


def _unpickled(cls: Any, array: Any, requires_grad: bool, state: dict[str, Any]) -> Any:
    result = leaf(cls, array)
    result.requires_grad = requires_grad
    for name, value in state.items():
        setattr(result, name, value)
    return result


#: Where a module keeps what its user wrote as attributes.
_REGISTRIES = ("_modules", "_parameters", "_buffers")


def _being_copied() -> str:
    """The attribute that ``copy.deepcopy`` has come to, read off the Python stack."""
    steps: list[str] = []
    frame: FrameType | None = caller()
    while frame is not None:
        if frame.f_globals.get("__name__") == "copy" and "key" in frame.f_locals:
            steps.append(str(frame.f_locals["key"]))
        frame = frame.f_back
    path = ".".join(step for step in reversed(steps) if step not in _REGISTRIES)
    return f"{path!r} holds one that an operation made: " if path else ""
