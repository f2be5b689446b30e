"""Batch norm and ReLU on integers."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Self
from pyqref.nn.modules import Sequential
from pyqref.nn.quantized.modules import batchnorm as nnq
from pyqref.ops import quantized as ops

__all__ = ["BNReLU2d", "BNReLU3d"]


class BNReLU2d(nnq.BatchNorm2d):
    r"""Quantized batch norm and ReLU in one: no result is below the zero point.

    Parameters
    ----------
    num_features : int
    eps : float
    momentum : float
        No effect here.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.

    Notes
    -----
    Shapes: ``(N, C, H, W)``; equation ``eq-quantized-batch-norm``.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.BNReLU2d(2)
    >>> x = pyqref.tensor([-3.0, 3.0]).reshape(1, 2, 1, 1)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 3, pyqref.quint8)
    >>> m(q).dequantize().flatten().tolist()
    [0.0, 3.0]
    """

    _operation: ClassVar[Any] = staticmethod(ops.batch_norm2d_relu)

    def _get_name(self) -> str:
        return "QuantizedBNReLU2d"

    @classmethod
    def from_reference(cls, bn_relu: object, output_scale: float, output_zero_point: int) -> Self:
        """The quantized layer of a group, or of its batch norm, with output parameters."""
        return super().from_reference(_norm_of(bn_relu), output_scale, output_zero_point)


class BNReLU3d(nnq.BatchNorm3d):
    """Three-dimensional form of :class:`BNReLU2d`, for ``(N, C, D, H, W)``.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.intrinsic.quantized.BNReLU3d(2)
    >>> x = pyqref.tensor([-3.0, 3.0]).reshape(1, 2, 1, 1, 1)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 3, pyqref.quint8)
    >>> m(q).dequantize().flatten().tolist()
    [0.0, 3.0]
    """

    _operation: ClassVar[Any] = staticmethod(ops.batch_norm3d_relu)

    def _get_name(self) -> str:
        return "QuantizedBNReLU3d"

    @classmethod
    def from_reference(cls, bn_relu: object, output_scale: float, output_zero_point: int) -> Self:
        """The quantized layer of a group, or of its batch norm, with output parameters."""
        return super().from_reference(_norm_of(bn_relu), output_scale, output_zero_point)


def _norm_of(group: Any) -> Any:
    return group[0] if isinstance(group, Sequential) and len(group) else group
