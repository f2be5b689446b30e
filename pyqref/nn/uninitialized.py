"""Parameters and buffers whose shape the first input decides."""

from __future__ import annotations

from typing import Any, NoReturn

from .._typing import Device, Dtype, Self, Shape
from ..tensor.base import leaf
from ..tensor.creation import empty
from ..tensor.parameter import Parameter
from ..tensor.tensor import Tensor

__all__ = ["UninitializedBuffer", "UninitializedParameter", "is_lazy"]


def is_lazy(param: Tensor) -> bool:
    """Return True if a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedTensorMixin:
    """Base class of uninitialized parameters and buffers."""

    #: What it becomes.
    cls_to_become: type

    def materialize(
        self: Any, shape: Shape, device: Device = None, dtype: Dtype | None = None
    ) -> None:
        """Get a shape, and become an ordinary tensor without values of its own.

        Parameters
        ----------
        shape
            The shape.
        device, dtype
            Those of now by default.
        """
        dtype = self.dtype if dtype is None else dtype
        self.__class__ = self.cls_to_become
        self.data = empty(tuple(shape), device=device, dtype=dtype)

    @property
    def shape(self) -> NoReturn:
        """It has none."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = leaf(type(self), self._array.copy())
            copied.requires_grad = self.requires_grad
            memo[id(self)] = copied
        return memo[id(self)]


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet.

    Parameters
    ----------
    requires_grad
        Whether gradients are collected.
    device, dtype
        Where and of what type it will be.

    Examples
    --------
    >>> import pyqref
    >>> parameter = pyqref.nn.parameter.UninitializedParameter()
    >>> parameter.materialize((2, 3))
    >>> type(parameter).__name__, parameter.shape
    ('Parameter', pyqref.Size([2, 3]))
    """

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Device = None, dtype: Dtype | None = None
    ) -> Self:
        return super().__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(
        self, requires_grad: bool = True, device: Device = None, dtype: Dtype | None = None
    ) -> None:
        Tensor.__init__(self)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet; see :class:`UninitializedParameter`.

    Examples
    --------
    >>> buffer = UninitializedBuffer()
    >>> buffer.materialize((2, 3))
    >>> type(buffer).__name__, tuple(buffer.shape)
    ('Tensor', (2, 3))
    """

    cls_to_become = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
        persistent: bool = True,
    ) -> Self:
        made = leaf(cls, empty(0, device=device, dtype=dtype)._array)
        made.persistent = persistent
        made._is_buffer = True
        return made

    def __init__(self, *args: object, **kwargs: object) -> None:
        Tensor.__init__(self)
