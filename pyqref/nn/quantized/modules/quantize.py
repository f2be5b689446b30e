"""The doors between float and quantized parts of a model."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import AnyModule, Dtype, Tensor
from pyqref.nn.modules import Module
from pyqref.nn.quantized.integer_range import clamp_integers, keeps_range, range_entries
from pyqref.ops.quantized import require_output_parameters
from pyqref.tensor.arguments import as_integer, described
from pyqref.tensor.creation import tensor
from pyqref.tensor.quantized import dequantize, quantize_per_tensor

from .output_grid import LoadsGrid
from .utils import require_float_input, require_output_observer

__all__ = ["DeQuantize", "Quantize"]


class Quantize(LoadsGrid):
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
    quant_min, quant_max
        None, or a range within that of ``dtype`` in which the integers stay. ``convert`` gives
        that of the observer where it is narrow (see
        :class:`~pyqref.quantization.NarrowRangeWarning`); a state dict does not hold it.

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

    _KEEPS_RANGE: ClassVar[bool] = True

    scale: Any
    zero_point: Any

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: Dtype,
        factory_kwargs: Any = None,
        *,
        quant_min: int | None = None,
        quant_max: int | None = None,
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
        self._integer_range = _checked_range(quant_min, quant_max, zero_point, dtype)

    def forward(self, X: Tensor) -> Tensor:
        """The quantized tensor."""
        require_float_input(self, X)
        q = quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)
        chosen = self.__dict__.get("_integer_range")  # layers that were pickled may have none
        return q if chosen is None else clamp_integers(q, *chosen)

    @staticmethod
    def from_float(mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Module:
        """The quantized form of an observed ``QuantStub``."""
        observer: Any = require_output_observer(Quantize, mod)
        scale, zero_point = observer.calculate_qparams()
        kept = range_entries(observer) if keeps_range(observer) else {}
        return Quantize(float(scale), int(zero_point), observer.dtype, **kept)

    def extra_repr(self) -> str:
        """Scale, zero point and dtype; the range of integers if one was chosen."""
        text = f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"
        chosen = self.__dict__.get("_integer_range")
        return text if chosen is None else f"{text}, quant_min={chosen[0]}, quant_max={chosen[1]}"


def _checked_range(
    quant_min: Any, quant_max: Any, zero_point: int, dtype: Any
) -> tuple[int, int] | None:
    if quant_min is None and quant_max is None:
        return None
    if quant_min is None or quant_max is None:
        raise ValueError(
            "Quantize: give quant_min and quant_max both or neither, "
            f"got quant_min={quant_min}, quant_max={quant_max}"
        )
    low, high = as_integer(quant_min, "quant_min"), as_integer(quant_max, "quant_max")
    if not dtype.quant_min <= low <= zero_point <= high <= dtype.quant_max:
        raise ValueError(
            f"Quantize: quant_min and quant_max must be in [{dtype.quant_min}, {dtype.quant_max}] "
            f"for {dtype}, with zero_point {zero_point} between them, got [{low}, {high}]"
        )
    return low, high


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

    def forward(self, Xq: Tensor) -> Tensor:
        """The float tensor."""
        return dequantize(Xq)

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> Module:
        """The quantized form of a ``DeQuantStub``."""
        return DeQuantize()
