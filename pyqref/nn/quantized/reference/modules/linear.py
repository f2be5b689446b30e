"""The reference form of the linear layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref._typing import AnyModule, Device, Dtype, Module, Tensor
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.modules import Linear as FloatLinear

from .utils import ReferenceQuantizedModule

__all__ = ["Linear"]


class Linear(ReferenceQuantizedModule, FloatLinear):
    r"""A float linear layer that computes with its weight rounded to a grid.

    .. math:: y = x\, \mathrm{dequantize}(\mathrm{quantize}(W))^T + b

    Parameters
    ----------
    in_features, out_features : int
    bias_ : bool
    device, dtype
        Of the float weight.
    weight_qparams : dict
        The grid: ``qscheme``, ``dtype``, ``scale``, ``zero_point`` and, for schemes per
        channel, ``axis``.

    Attributes
    ----------
    weight : Parameter
        The float weight.
    weight_qscheme, weight_dtype, weight_scale, weight_zero_point, weight_axis
        Its grid.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Notes
    -----
    The symmetric schemes are taken as the affine ones that they are.

    Examples
    --------
    >>> import pyqref
    >>> grid = {"qscheme": pyqref.per_tensor_affine, "dtype": pyqref.qint8,
    ...         "scale": 0.5, "zero_point": 0}
    >>> layer = pyqref.nn.quantized.reference.Linear(2, 1, weight_qparams=grid)
    >>> layer
    QuantizedLinear(Reference)(in_features=2, out_features=1, bias=True)
    >>> layer.weight.data = pyqref.tensor([[0.7, -0.2]])
    >>> layer.get_weight()
    tensor([[0.5000, 0.0000]])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias_: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias_, device, dtype)
        self._init_weight_qparams("weight", weight_qparams)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` times the rounded weight, plus bias."""
        return FloatLinear.forward(self._float_twin(), x)

    @classmethod
    def from_float(cls, float_linear: AnyModule, weight_qparams: Mapping[str, Any]) -> Module:
        """The reference layer of a float layer, whose parameters it shares."""
        require_members(
            cls, "from_float", float_linear, "in_features", "out_features", "weight", "bias"
        )
        layer = cls(
            float_linear.in_features,
            float_linear.out_features,
            float_linear.bias is not None,
            weight_qparams=weight_qparams,
        )
        return layer._copy_parameters(float_linear)

    @classmethod
    def from_reference(cls, ref_qlinear: AnyModule) -> Any:
        """The layer itself."""
        require_members(cls, "from_reference", ref_qlinear, "get_quantized_weight")
        return ref_qlinear
