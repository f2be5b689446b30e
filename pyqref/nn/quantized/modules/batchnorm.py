"""Batch norm on integers, where it could not be folded into a convolution."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import AnyModule, Device, Dtype, Self, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.intrinsic.modules import fused
from pyqref.ops import quantized as ops
from pyqref.tensor.base import TensorBase
from pyqref.tensor.creation import tensor

from .output_grid import EVERY_DTYPE, LoadsGrid, register_grid
from .utils import require_output_observer, require_quantized_input

__all__ = ["BatchNorm2d", "BatchNorm3d"]


class _BatchNorm(LoadsGrid, nn.BatchNorm2d):
    """Batch norm whatever the number of spatial dimensions."""

    _NNI_BN_RELU_MODULE: ClassVar[Any] = None
    _operation: ClassVar[Any]

    scale: Any
    zero_point: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, True, True, device=device, dtype=dtype)
        register_grid(self, 1.0, 0)

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        self._check_input_dim(input)
        return self._operation(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
        )

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed batch norm, or of its group with a ReLU."""
        scale, zero_point = require_output_observer(cls, mod).calculate_qparams()
        norm = mod[0] if type(mod) is cls._NNI_BN_RELU_MODULE else mod
        return cls.from_reference(norm, scale, zero_point)

    @classmethod
    def from_reference(cls, bn: AnyModule, output_scale: float, output_zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters.

        Tensors keep their shape, as in torch.
        """
        require_members(
            cls,
            "from_reference",
            bn,
            "num_features",
            "eps",
            "momentum",
            "running_mean",
            "running_var",
        )
        layer = cls(bn.num_features, bn.eps, 0.1 if bn.momentum is None else bn.momentum)
        layer.weight, layer.bias = bn.weight, bn.bias
        layer.running_mean, layer.running_var = bn.running_mean, bn.running_var
        layer.scale, layer.zero_point = (
            each if isinstance(each, TensorBase) else tensor(each)
            for each in (output_scale, output_zero_point)
        )
        return layer


class BatchNorm2d(_BatchNorm):
    r"""Batch norm of ``(N, C, H, W)`` on integers (equation ``eq-quantized-batch-norm``).

    .. math:: y = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \cdot w + b

    with the running statistics; they are not updated.

    Parameters
    ----------
    num_features : int
        Number of channels C.
    eps : float
        Added to the variance.
    momentum : float
        No effect here.

    Attributes
    ----------
    scale, zero_point : Tensor
        Of the output; 1.0 and 0 until set.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.

    Notes
    -----
    Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.BatchNorm2d(2)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2, 1, 1), 1.0, 3, pyqref.quint8)
    >>> m(x).int_repr().flatten().tolist()
    [1, 1]
    """

    _NNI_BN_RELU_MODULE = fused.BNReLU2d
    _operation: ClassVar[Any] = staticmethod(ops.batch_norm2d)

    def _get_name(self) -> str:
        return "QuantizedBatchNorm2d"


class BatchNorm3d(_BatchNorm):
    """Three-dimensional form of :class:`BatchNorm2d`, for ``(N, C, D, H, W)``.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.BatchNorm3d(2)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2, 1, 1, 1), 1.0, 3, pyqref.quint8)
    >>> m(x).int_repr().flatten().tolist()
    [1, 1]
    """

    _dimensions = (5,)
    _NNI_BN_RELU_MODULE = fused.BNReLU3d
    _operation: ClassVar[Any] = staticmethod(ops.batch_norm3d)

    def _get_name(self) -> str:
        return "QuantizedBatchNorm3d"
