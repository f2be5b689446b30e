"""A tensor that a module owns and an optimiser changes."""

from __future__ import annotations

from .._typing import Self, TensorBase
from .base import leaf
from .dispatch import require_tensor
from .tensor import Tensor

__all__ = ["Parameter"]


class Parameter(Tensor):
    """A leaf that collects gradients and registers itself with the module it is set on.

    Parameters
    ----------
    data
        Its elements, whose memory it shares; none by default.
    requires_grad
        Whether gradients are collected.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Parameter(pyqref.ones(2)).requires_grad
    True
    """

    def __new__(cls, data: TensorBase | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = Tensor()
        require_tensor("Parameter", "data", data)
        self = leaf(cls, data._array)
        self._version = data._version
        if data.is_quantized and requires_grad:
            raise RuntimeError("a quantized tensor cannot require gradients")
        self.requires_grad = requires_grad
        return self

    def __init__(self, data: TensorBase | None = None, requires_grad: bool = True) -> None:
        super().__init__()

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()
