"""The doors between float and quantized parts of a model."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref.nn.modules import Module
from pyqref.ops.quantized import require_output_parameters
from pyqref.tensor.arguments import described
from pyqref.tensor.creation import tensor
from pyqref.tensor.quantized import dequantize, quantize_per_tensor

from .utils import require_float_input, require_output_observer

__all__ = ["DeQuantize", "Quantize"]


class Quantize(Module):
    r"""Quantize the incoming tensor with a fixed scale and zero point.

    Equation ``eq-affine-quantize``:

    .. math:: q = \mathrm{sat}(\mathrm{rne}(x / s + z))

    Parameters
    ----------
    scale : float
        Positive.
    zero_point : int
        In the range of ``dtype``.
    dtype
        ``quint8``, ``qint8`` or ``qint32``.

    Attributes
    ----------
    scale, zero_point : Tensor
        Buffers of shape ``(1,)``, float32 and int64.

    Raises
    ------
    ValueError
        ``scale``, ``zero_point`` or ``dtype`` is out of range.
    RuntimeError
        The input is no float tensor. The message names the path of the layer.

    Examples
    --------
    >>> import pyqref
    >>> t = pyqref.tensor([[1., -1.], [1., -1.]])
    >>> scale, zero_point, dtype = 1.0, 2, pyqref.qint8
    >>> qm = pyqref.nn.quantized.Quantize(scale, zero_point, dtype)
    >>> qm(t).int_repr().tolist()
    [[3, 1], [3, 1]]
    """

    scale: Any
    zero_point: Any

    def __init__(
        self, scale: float, zero_point: int, dtype: Any, factory_kwargs: Any = None
    ) -> None:
        super().__init__()
        if not any(dtype is each for each in (dtypes.quint8, dtypes.qint8, dtypes.qint32)):
            raise ValueError(
                f"Quantize: dtype must be quint8, qint8 or qint32, got {described(dtype)}"
            )
        scale, zero_point = require_output_parameters("Quantize", scale, zero_point, dtype)
        self.register_buffer("scale", tensor([scale]))
        self.register_buffer("zero_point", tensor([zero_point]))
        self.dtype = dtype

    def forward(self, X: Any) -> Any:
        """The quantized tensor."""
        require_float_input(self, X)
        return quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The quantized form of an observed ``QuantStub``."""
        observer = require_output_observer(Quantize, mod)
        scale, zero_point = observer.calculate_qparams()
        return Quantize(float(scale), int(zero_point), observer.dtype)

    def extra_repr(self) -> str:
        """Scale, zero point and dtype."""
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(Module):
    r"""Give back the real numbers for which a quantized tensor stands.

    Equation ``eq-affine-dequantize``: :math:`\hat x = (q - z) \cdot s`, float32.

    A float tensor passes through, as in torch.

    Examples
    --------
    >>> import pyqref
    >>> input = pyqref.tensor([[1., -1.], [1., -1.]])
    >>> scale, zero_point, dtype = 1.0, 2, pyqref.qint8
    >>> qm = pyqref.nn.quantized.Quantize(scale, zero_point, dtype)
    >>> quantized_input = qm(input)
    >>> dqm = pyqref.nn.quantized.DeQuantize()
    >>> dqm(quantized_input)
    tensor([[ 1., -1.],
            [ 1., -1.]])
    """

    def forward(self, Xq: Any) -> Any:
        """The float tensor."""
        return dequantize(Xq)

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The quantized form of a ``DeQuantStub``."""
        return DeQuantize()
