"""Groups that begin with a linear layer and are replaced together."""

from __future__ import annotations

from pyqref.nn.modules import BatchNorm1d, LeakyReLU, Linear, Module, ReLU, Tanh

from .fused import _FloatGroup

__all__ = ["LinearBn1d", "LinearLeakyReLU", "LinearReLU", "LinearTanh"]


class LinearReLU(_FloatGroup):
    """``Linear`` and ``ReLU`` in a row.

    Parameters
    ----------
    linear : Linear
    relu : ReLU

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> m = nn.intrinsic.LinearReLU(nn.Linear(20, 30), nn.ReLU())
    >>> m(pyqref.randn(128, 20)).size()
    pyqref.Size([128, 30])
    """

    _TYPES = (Linear, ReLU)

    def __init__(self, linear: Module, relu: Module) -> None:
        super().__init__(linear, relu)


class LinearLeakyReLU(_FloatGroup):
    """``Linear`` and ``LeakyReLU`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.LinearLeakyReLU(nn.Linear(3, 2), nn.LeakyReLU())
    >>> [type(each).__name__ for each in m]
    ['Linear', 'LeakyReLU']
    """

    _TYPES = (Linear, LeakyReLU)

    def __init__(self, linear: Module, leaky_relu: Module) -> None:
        super().__init__(linear, leaky_relu)


class LinearTanh(_FloatGroup):
    """``Linear`` and ``Tanh`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.LinearTanh(nn.Linear(3, 2), nn.Tanh())
    >>> [type(each).__name__ for each in m]
    ['Linear', 'Tanh']
    """

    _TYPES = (Linear, Tanh)

    def __init__(self, linear: Module, tanh: Module) -> None:
        super().__init__(linear, tanh)


class LinearBn1d(_FloatGroup):
    """``Linear`` and ``BatchNorm1d`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.LinearBn1d(nn.Linear(3, 2), nn.BatchNorm1d(2))
    >>> [type(each).__name__ for each in m]
    ['Linear', 'BatchNorm1d']
    """

    _TYPES = (Linear, BatchNorm1d)

    def __init__(self, linear: Module, bn: Module) -> None:
        super().__init__(linear, bn)
