"""The linear layer of quantization-aware training."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import AnyModule, Device, Dtype, QConfigLike, Tensor
from pyqref.nn import functional as F
from pyqref.nn.intrinsic.modules.fused_linear import LinearReLU
from pyqref.nn.modules import Linear as FloatLinear
from pyqref.nn.modules import Module
from pyqref.nn.modules.linear import NonDynamicallyQuantizableLinear

from .utils import make_weight_fake_quant, qconfig_of

__all__ = ["Linear"]


class Linear(FloatLinear):
    r"""A float linear layer that computes with its fake-quantized weight.

    .. math:: y = x \, \mathrm{fq}(W)^T + b

    where fq is ``weight_fake_quant``, made by ``qconfig.weight()``. The bias is not
    rounded. A fake quantizer of the output, ``activation_post_process``, is attached
    by ``prepare_qat``.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    qconfig : QConfig
        Its ``weight`` makes the fake quantizer.

    Attributes
    ----------
    weight : Parameter
        The float master weight ``(out_features, in_features)``.
    weight_fake_quant : Module
        Rounds the weight in ``forward``; gradients pass straight through.

    Raises
    ------
    ValueError
        No qconfig was given.

    Notes
    -----
    Shapes: ``(*, in_features) -> (*, out_features)``, float32.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.qat.Linear(20, 30, qconfig=qconfig)
    >>> m(pyqref.randn(128, 20)).shape
    pyqref.Size([128, 30])
    >>> m.weight_fake_quant.scale.shape  # one for each output channel
    pyqref.Size([30])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatLinear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: QConfigLike | None = None,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        self.qconfig = qconfig
        self.weight_fake_quant = make_weight_fake_quant(self, qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` times the fake-quantized weight, plus bias."""
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(
        cls,
        mod: AnyModule,
        qconfig: QConfigLike | None = None,
        use_precomputed_fake_quant: bool = False,
    ) -> Module:
        """Return the layer for quantization-aware training, with the same parameters.

        Parameters
        ----------
        mod
            A float layer with a ``qconfig``; an ``nn.intrinsic.LinearReLU`` is
            accepted for its linear layer.
        qconfig
            Overrides ``mod.qconfig``.
        use_precomputed_fake_quant
            No effect before training, as in torch.
        """
        accepted = (cls._FLOAT_MODULE, NonDynamicallyQuantizableLinear, LinearReLU)
        qconfig = qconfig_of(cls, mod, accepted, qconfig)
        linear: Any = mod[0] if isinstance(mod, LinearReLU) else mod
        qat_linear = cls(
            linear.in_features,
            linear.out_features,
            bias=linear.bias is not None,
            qconfig=qconfig,
        )
        qat_linear.weight = linear.weight
        qat_linear.bias = linear.bias
        qat_linear.train(mod.training)
        return qat_linear

    def to_float(self) -> Module:
        """The float layer with copies of the trained parameters."""
        linear = FloatLinear(self.in_features, self.out_features, self.bias is not None)
        copy_parameters(linear, self)
        return linear.train(self.training)


def copy_parameters(target: AnyModule, source: AnyModule) -> None:
    """Give ``target`` copies of the weight and the bias of ``source``."""
    target.weight.data = source.weight.detach().clone()
    if source.bias is not None:
        target.bias.data = source.bias.detach().clone()
