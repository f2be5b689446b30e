"""Float layers in a row that are replaced together when a model is quantized.

Each class is a :class:`~pyqref.nn.Sequential` of known layer types: it computes what
its layers compute one after the other. ``fuse_modules`` makes them, ``prepare_qat``
swaps them for :mod:`pyqref.nn.intrinsic.qat`, ``convert`` for
:mod:`pyqref.nn.intrinsic.quantized`.
"""

from __future__ import annotations

from typing import ClassVar

from pyqref.nn.modules import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Conv1d,
    Conv2d,
    Conv3d,
    Module,
    ReLU,
    Sequential,
)

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
]


class _FusedModule(Sequential):
    """Layers that the workflow of quantization treats as one."""


class _FloatGroup(_FusedModule):
    """A group of float layers of the types in ``_TYPES``, in this order."""

    _TYPES: ClassVar[tuple[type[Module], ...]] = ()

    def __init__(self, *modules: Module) -> None:
        # A subclass of a layer may compute something else: only the very type is fused.
        if tuple(type(each) for each in modules) != self._TYPES:
            wanted = ", ".join(each.__name__ for each in self._TYPES)
            got = ", ".join(type(each).__name__ for each in modules)
            raise TypeError(f"{type(self).__name__} holds the layers ({wanted}), got ({got})")
        super().__init__(*modules)


class ConvBn1d(_FloatGroup):
    """``Conv1d`` and ``BatchNorm1d`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvBn1d(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2))
    >>> [type(each).__name__ for each in m]
    ['Conv1d', 'BatchNorm1d']
    """

    _TYPES = (Conv1d, BatchNorm1d)

    def __init__(self, conv: Module, bn: Module) -> None:
        super().__init__(conv, bn)


class ConvBn2d(_FloatGroup):
    """``Conv2d`` and ``BatchNorm2d`` in a row.

    Parameters
    ----------
    conv : Conv2d
    bn : BatchNorm2d

    Raises
    ------
    TypeError
        A layer is of another type (subclasses included).

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.intrinsic.ConvBn2d(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    ConvBn2d(
      (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
      (1): BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    )
    """

    _TYPES = (Conv2d, BatchNorm2d)

    def __init__(self, conv: Module, bn: Module) -> None:
        super().__init__(conv, bn)


class ConvBn3d(_FloatGroup):
    """``Conv3d`` and ``BatchNorm3d`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvBn3d(nn.Conv3d(1, 2, 3), nn.BatchNorm3d(2))
    >>> [type(each).__name__ for each in m]
    ['Conv3d', 'BatchNorm3d']
    """

    _TYPES = (Conv3d, BatchNorm3d)

    def __init__(self, conv: Module, bn: Module) -> None:
        super().__init__(conv, bn)


class ConvBnReLU1d(_FloatGroup):
    """``Conv1d``, ``BatchNorm1d`` and ``ReLU`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvBnReLU1d(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['Conv1d', 'BatchNorm1d', 'ReLU']
    """

    _TYPES = (Conv1d, BatchNorm1d, ReLU)

    def __init__(self, conv: Module, bn: Module, relu: Module) -> None:
        super().__init__(conv, bn, relu)


class ConvBnReLU2d(_FloatGroup):
    """``Conv2d``, ``BatchNorm2d`` and ``ReLU`` in a row.

    Parameters
    ----------
    conv : Conv2d
    bn : BatchNorm2d
    relu : ReLU

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvBnReLU2d(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['Conv2d', 'BatchNorm2d', 'ReLU']
    """

    _TYPES = (Conv2d, BatchNorm2d, ReLU)

    def __init__(self, conv: Module, bn: Module, relu: Module) -> None:
        super().__init__(conv, bn, relu)


class ConvBnReLU3d(_FloatGroup):
    """``Conv3d``, ``BatchNorm3d`` and ``ReLU`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvBnReLU3d(nn.Conv3d(1, 2, 3), nn.BatchNorm3d(2), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['Conv3d', 'BatchNorm3d', 'ReLU']
    """

    _TYPES = (Conv3d, BatchNorm3d, ReLU)

    def __init__(self, conv: Module, bn: Module, relu: Module) -> None:
        super().__init__(conv, bn, relu)


class ConvReLU1d(_FloatGroup):
    """``Conv1d`` and ``ReLU`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvReLU1d(nn.Conv1d(1, 2, 3), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['Conv1d', 'ReLU']
    """

    _TYPES = (Conv1d, ReLU)

    def __init__(self, conv: Module, relu: Module) -> None:
        super().__init__(conv, relu)


class ConvReLU2d(_FloatGroup):
    """``Conv2d`` and ``ReLU`` in a row.

    Parameters
    ----------
    conv : Conv2d
    relu : ReLU

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvReLU2d(nn.Conv2d(1, 2, 3), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['Conv2d', 'ReLU']
    """

    _TYPES = (Conv2d, ReLU)

    def __init__(self, conv: Module, relu: Module) -> None:
        super().__init__(conv, relu)


class ConvReLU3d(_FloatGroup):
    """``Conv3d`` and ``ReLU`` in a row.

    Parameters
    ----------
    conv : Conv3d
    relu : ReLU

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.ConvReLU3d(nn.Conv3d(1, 2, 3), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['Conv3d', 'ReLU']
    """

    _TYPES = (Conv3d, ReLU)

    def __init__(self, conv: Module, relu: Module) -> None:
        super().__init__(conv, relu)


class BNReLU2d(_FloatGroup):
    """``BatchNorm2d`` and ``ReLU`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.BNReLU2d(nn.BatchNorm2d(2), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['BatchNorm2d', 'ReLU']
    """

    _TYPES = (BatchNorm2d, ReLU)

    def __init__(self, batch_norm: Module, relu: Module) -> None:
        super().__init__(batch_norm, relu)


class BNReLU3d(_FloatGroup):
    """``BatchNorm3d`` and ``ReLU`` in a row.

    Raises
    ------
    TypeError
        The layers are not of exactly these types, in this order.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.intrinsic.BNReLU3d(nn.BatchNorm3d(2), nn.ReLU())
    >>> [type(each).__name__ for each in m]
    ['BatchNorm3d', 'ReLU']
    """

    _TYPES = (BatchNorm3d, ReLU)

    def __init__(self, batch_norm: Module, relu: Module) -> None:
        super().__init__(batch_norm, relu)
