"""``Parameter`` and ``Buffer``: tensors that register themselves with a module."""

from __future__ import annotations

from typing import Any

from .._typing import Self
from ..tensor.base import TensorBase
from ..tensor.parameter import Parameter as Parameter
from ..tensor.tensor import Tensor
from .uninitialized import UninitializedBuffer as UninitializedBuffer
from .uninitialized import UninitializedParameter as UninitializedParameter
from .uninitialized import is_lazy as is_lazy

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _BufferType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that becomes a buffer of the module on which it is set as an attribute.

    Parameters
    ----------
    data
        Its elements, whose memory it shares; none by default.
    persistent
        Whether it is part of the module's ``state_dict()``.

    Examples
    --------
    >>> import pyqref
    >>> module = pyqref.nn.Module()
    >>> module.mean = Buffer(pyqref.zeros(2))
    >>> list(module.state_dict())
    ['mean']
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self:
        tensor: Any = (Tensor() if data is None else data).detach()
        tensor._is_buffer = True
        tensor.persistent = persistent
        return tensor
