"""The linear layer that quantizes its input while running."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import AnyModule, Self, Tensor
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.intrinsic.modules.fused import _FloatGroup
from pyqref.nn.modules import Linear as FloatLinear
from pyqref.nn.modules import Module, Sequential
from pyqref.nn.modules.linear import NonDynamicallyQuantizableLinear
from pyqref.nn.qat.dynamic.modules.linear import Linear as QATDynamicLinear
from pyqref.nn.qat.modules.linear import Linear as QATLinear
from pyqref.nn.quantized.modules.linear import Linear as QuantizedLinear
from pyqref.nn.quantized.modules.utils import require_float_input, require_type
from pyqref.ops import quantized as ops

from .utils import dynamic_weight, weight_observer_method

__all__ = ["Linear"]


class Linear(QuantizedLinear):
    r"""Linear layer with a quantized weight, float in and out.

    The range of the whole input gives its scale and zero point at every call
    (equation ``eq-choose-qparams-dynamic``, 7 bits on fbgemm, 8 on qnnpack); then

    .. math:: y = s_x s_w \sum_k (q_{x,k} - z_x)(q_{w,k} - z_w) + b

    With a float16 weight nothing else is rounded: :math:`y = x\, \mathrm{half}(W)^T + b`.

    Parameters
    ----------
    in_features, out_features : int
    bias_ : bool
        Whether there is a bias; it is float32 and starts at zero.
    dtype
        Of the weight: ``qint8`` or ``float16``.

    Raises
    ------
    RuntimeError
        The input is not float32, has one dimension, or has another number of features.

    Notes
    -----
    Shapes: ``(*, in_features) -> (*, out_features)``, at least two dimensions. The
    rows of a batch share one scale, so that a row's result depends on the others.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.dynamic.Linear(20, 30)
    >>> tuple(m(pyqref.randn(128, 20)).size())
    (128, 30)
    >>> m
    DynamicQuantizedLinear(in_features=20, out_features=30, dtype=pyqref.qint8, qscheme=pyqref.per_tensor_affine)
    """  # noqa: E501

    _version = 4
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (
        FloatLinear,
        NonDynamicallyQuantizableLinear,
        QATLinear,
        QATDynamicLinear,
    )

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        """Features, dtype and scheme of the weight."""
        dtype = self._packed_params.dtype
        text = f"in_features={self.in_features}, out_features={self.out_features}, dtype={dtype}"
        if dtype is dtypes.qint8:
            text += f", qscheme={self.weight().qscheme()}"
        return text

    def forward(self, x: Tensor) -> Tensor:
        """The float output."""
        require_float_input(self, x)
        weight = self._packed_params
        if weight.dtype is dtypes.float16:
            return ops.linear_dynamic_fp16(x, weight._packed_params)
        return ops.linear_dynamic(x, weight._packed_params, reduce_range=True)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Module:
        """The dynamic layer of a float layer with a ``qconfig``.

        Parameters
        ----------
        mod
            ``nn.Linear`` or ``nn.qat.Linear``. A qconfig of None stands for
            ``default_dynamic_qconfig``.
        use_precomputed_fake_quant
            No effect: the weight is observed anew.
        """
        require_type(cls, mod, cls._FLOAT_MODULE)
        linear: Any = mod[0] if isinstance(mod, _FloatGroup) else mod
        weight = dynamic_weight(linear.weight, weight_observer_method(cls, mod))
        return cls._of_weight(weight, linear.bias)

    @classmethod
    def from_reference(cls, ref_qlinear: object) -> Self:  # type: ignore[override]
        """The dynamic layer of a reference layer (:mod:`pyqref.nn.quantized.reference`)."""
        linear: Any = ref_qlinear[0] if isinstance(ref_qlinear, Sequential) else ref_qlinear
        require_members(cls, "from_reference", linear, "get_quantized_weight", "bias")
        return cls._of_weight(linear.get_quantized_weight(), linear.bias)

    @classmethod
    def _of_weight(cls, weight: Any, bias: Any) -> Any:
        features, outputs = weight.shape[1], weight.shape[0]
        dtype = dtypes.qint8 if weight.is_quantized else dtypes.float16
        weight = weight if weight.is_quantized else weight.float()
        layer = cls(features, outputs, bias is not None, dtype=dtype)
        layer.set_weight_bias(weight, None if bias is None else bias.detach().float())
        return layer
