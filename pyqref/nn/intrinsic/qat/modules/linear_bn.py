"""Linear layer and batch norm, trained as the one linear layer that they will become."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import QConfigLike, Self, Tensor
from pyqref.nn import functional as F
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.intrinsic.modules.fused_linear import LinearBn1d as FloatLinearBn1d
from pyqref.nn.modules import BatchNorm1d, Linear, Module
from pyqref.nn.qat.modules.utils import make_weight_fake_quant, qconfig_of
from pyqref.nn.utils.fusion import fuse_linear_bn_weights
from pyqref.tensor.arguments import as_flag

from .bn_stats import WithBatchNorm

__all__ = ["LinearBn1d"]


class LinearBn1d(WithBatchNorm, Linear, _FusedModule):
    r"""Linear layer whose weight is rounded as it will be once batch norm is folded in.

    With :math:`s = \gamma / \sqrt{\sigma^2 + \epsilon}` of the *running* variance,

    .. math:: y = \mathrm{BN}\left( \frac{x\, \mathrm{fq}(s W)^T}{s} + b \right)

    Parameters
    ----------
    in_features, out_features, bias
        As of :class:`pyqref.nn.Linear`.
    eps, momentum : float
        As of :class:`pyqref.nn.BatchNorm1d`.
    freeze_bn : bool
        Use the running statistics in training, too, and leave them as they are.
    qconfig : QConfig
        Its ``weight`` makes ``weight_fake_quant``.

    Attributes
    ----------
    bn : BatchNorm1d
    freeze_bn : bool
    weight_fake_quant : Module

    Raises
    ------
    ValueError
        No qconfig was given.

    Notes
    -----
    Shapes: ``(N, in_features) -> (N, out_features)``, float32.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.LinearBn1d(20, 30, qconfig=qconfig)
    >>> m(pyqref.randn(128, 20)).shape
    pyqref.Size([128, 30])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatLinearBn1d

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: QConfigLike | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias)
        self.qconfig = qconfig
        self.freeze_bn = as_flag(freeze_bn, "freeze_bn")
        self.bn = BatchNorm1d(out_features, eps, momentum)
        self.weight_fake_quant = make_weight_fake_quant(self, qconfig)
        self.reset_bn_parameters()
        self.bn.train(not self.freeze_bn)

    def forward(self, input: Tensor) -> Tensor:
        """Multiply with the fake-quantized folded weight, unscale, normalise."""
        scale = self.bn.weight / (self.bn.running_var + self.bn.eps).sqrt()
        folded = self.weight_fake_quant(self.weight * scale.reshape(-1, 1))
        output = F.linear(input, folded) / scale.reshape(1, -1)
        if self.bias is not None:
            output = output + self.bias.reshape(1, -1)
        return self.bn(output)

    @classmethod
    def from_float(
        cls,
        mod: Any,
        qconfig: QConfigLike | None = None,
        use_precomputed_fake_quant: bool = False,
    ) -> Self:
        """Return the group for quantization-aware training, with the same parameters.

        Parameters
        ----------
        mod
            The float group, with a ``qconfig``.
        qconfig
            Overrides ``mod.qconfig``.
        use_precomputed_fake_quant
            No effect before training, as in torch.
        """
        qconfig = qconfig_of(cls, mod, (cls._FLOAT_MODULE,), qconfig)
        linear, bn = mod[0], mod[1]
        group = cls(
            linear.in_features,
            linear.out_features,
            linear.bias is not None,
            bn.eps,
            bn.momentum,
            False,
            qconfig,
        )
        group.weight = linear.weight
        group.bias = linear.bias
        group.bn = bn
        group.train(mod.training)
        return group

    def to_float(self) -> Linear:
        """The linear layer with the trained batch norm folded in."""
        linear = Linear(self.in_features, self.out_features, self.bias is not None)
        linear.weight, linear.bias = fuse_linear_bn_weights(
            self.weight,
            self.bias,
            self.bn.running_mean,
            self.bn.running_var,
            self.bn.eps,
            self.bn.weight,
            self.bn.bias,
        )
        return linear.train(self.training)
