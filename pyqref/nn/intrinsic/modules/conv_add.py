"""A convolution and the addition of a second input, replaced together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref._typing import Tensor
from pyqref.nn.modules import Conv2d, Module
from pyqref.tensor.arguments import described

from .fused import _FloatGroup

__all__ = ["ConvAdd2d", "ConvAddReLU2d"]


def _callable(value: Any, name: str) -> Any:
    if not callable(value):
        raise TypeError(f"{name} must be a module or a function, got {described(value)}")
    return value


class ConvAdd2d(_FloatGroup):
    """``Conv2d``, and the addition of a second input.

    Parameters
    ----------
    conv : Conv2d
    add : callable
        Of two tensors, such as ``pyqref.add``.

    Raises
    ------
    TypeError
        ``conv`` is no ``Conv2d``, or ``add`` cannot be called.

    Notes
    -----
    Called with two tensors: ``add(conv(x1), x2)``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvAdd2d(nn.Conv2d(1, 2, 3, padding=1), pyqref.add)
    >>> m(pyqref.randn(1, 1, 4, 4), pyqref.randn(1, 2, 4, 4)).shape
    pyqref.Size([1, 2, 4, 4])
    """

    _TYPES = (Conv2d,)

    def __init__(self, conv: Module, add: Callable[[Any, Any], Any]) -> None:
        super().__init__(conv)
        self.add = _callable(add, "add")

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]
        """``add(conv(x1), x2)``."""
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(_FloatGroup):
    """``Conv2d``, the addition of a second input, and ``ReLU``.

    Parameters
    ----------
    conv : Conv2d
    add : callable
        Of two tensors, such as ``pyqref.add``.
    relu : ReLU

    Raises
    ------
    TypeError
        ``conv`` is no ``Conv2d``, or ``add`` cannot be called.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvAddReLU2d(nn.Conv2d(1, 2, 3, padding=1), pyqref.add, nn.ReLU())
    >>> bool(m(pyqref.randn(1, 1, 4, 4), pyqref.randn(1, 2, 4, 4)).min() >= 0)
    True
    """

    _TYPES = (Conv2d,)

    def __init__(self, conv: Module, add: Callable[[Any, Any], Any], relu: Module) -> None:
        super().__init__(conv)
        self.add = _callable(add, "add")
        self.relu: Any = _callable(relu, "relu")

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]
        """``relu(add(conv(x1), x2))``."""
        return self.relu(self.add(self[0](x1), x2))
