"""The quantized multi-head attention."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Self
from pyqref.nn.modules import Module
from pyqref.nn.quantizable.modules.activation import MultiheadAttention as Quantizable
from pyqref.nn.quantizable.workflow import convert_parts
from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic
from pyqref.tensor.quantized import quantize_per_tensor

__all__ = ["MultiheadAttention"]

_FLOAT_PARAMETERS = (
    "in_proj_weight",
    "in_proj_bias",
    "q_proj_weight",
    "k_proj_weight",
    "v_proj_weight",
)


class MultiheadAttention(Quantizable):
    """Multi-head attention with projections on integers.

    Made by ``convert`` of an observed :class:`pyqref.nn.quantizable.MultiheadAttention`,
    which ``prepare`` makes of an ``nn.MultiheadAttention``. Between the projections it
    computes in float.

    Raises
    ------
    ValueError
        ``num_heads`` does not divide ``embed_dim``.

    Notes
    -----
    Shapes as of :class:`pyqref.nn.MultiheadAttention`, quint8 in and out. The added key and
    value of ``add_bias_kv`` are quantized over the range that they have; they are in the
    state dict, where torch forgets them.

    Examples
    --------
    >>> import pyqref
    >>> attention = pyqref.nn.Sequential(pyqref.nn.MultiheadAttention(4, 2)).eval()
    >>> attention.qconfig = pyqref.quantization.default_qconfig
    >>> prepared = pyqref.quantization.prepare(attention)
    >>> x = pyqref.rand(3, 1, 4)
    >>> _ = prepared[0](x, x, x)
    >>> converted = pyqref.quantization.convert(prepared)
    >>> q = pyqref.quantize_per_tensor(x, 1 / 255, 0, pyqref.quint8)
    >>> converted[0](q, q, q)[0].dtype
    pyqref.quint8
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = Quantizable

    def _get_name(self) -> str:
        return "QuantizedMultiheadAttention"

    @classmethod
    def from_float(cls, other: object) -> Self:
        """Not here: the float layer must be observed first."""
        raise NotImplementedError(
            "a float layer must be observed first: use "
            "nn.quantizable.MultiheadAttention.from_float, calibrate, then "
            "nn.quantized.MultiheadAttention.from_observed; prepare and convert do so; got "
            f"a {type(other).__name__}"
        )

    @classmethod
    def from_observed(cls, other: Any) -> Module:
        """The quantized layer of an observed and calibrated one."""
        if not isinstance(other, cls._FLOAT_MODULE):
            raise TypeError(
                "MultiheadAttention.from_observed takes an nn.quantizable.MultiheadAttention, "
                f"got {type(other).__name__}"
            )
        converted = convert_parts(other)
        converted.__class__ = cls
        for name in _FLOAT_PARAMETERS:
            converted._parameters.pop(name, None)
        for name in ("bias_k", "bias_v"):
            extra = converted._parameters.pop(name, None)
            converted.register_buffer(name, None if extra is None else _on_own_range(extra))
        return converted


def _on_own_range(x: Any) -> Any:
    """``x`` as quint8, over the range that it has."""
    x = x.detach()
    scale, zero_point = choose_qparams_dynamic(x.min().item(), x.max().item(), 0, 255)
    return quantize_per_tensor(x, float(scale), int(zero_point), dtypes.quint8)
