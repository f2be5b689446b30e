"""Convolution and batch norm, trained as the one convolution that they will become."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref.nn import functional as F
from pyqref.nn import init
from pyqref.nn.intrinsic.modules.fused import ConvBn2d as FloatConvBn2d
from pyqref.nn.intrinsic.modules.fused import ConvBnReLU2d as FloatConvBnReLU2d
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.modules import BatchNorm2d, Conv2d, Module, ReLU
from pyqref.nn.qat.modules.linear import copy_parameters
from pyqref.nn.qat.modules.utils import make_weight_fake_quant, qconfig_of

__all__ = ["ConvBn2d", "ConvBnReLU2d", "freeze_bn_stats", "update_bn_stats"]


class ConvBn2d(Conv2d, _FusedModule):
    r"""Convolution whose weight is rounded as it will be once batch norm is folded in.

    With :math:`s = \gamma / \sqrt{\sigma^2 + \epsilon}` of the *running* variance,

    .. math:: y = \mathrm{BN}\left( \frac{x * \mathrm{fq}(s W)}{s} + b \right)

    The rounding sees the folded weight :math:`s W`, while batch norm still sees the
    statistics of the batch. Were there no rounding, :math:`s` would cancel.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode
        As of :class:`pyqref.nn.Conv2d`.
    bias : bool, optional
        Of the convolution; batch norm has its own, so None means no.
    eps, momentum : float
        As of :class:`pyqref.nn.BatchNorm2d`.
    freeze_bn : bool
        Use the running statistics in training, too, and leave them as they are.
    qconfig : QConfig
        Its ``weight`` makes ``weight_fake_quant``.

    Attributes
    ----------
    bn : BatchNorm2d
    freeze_bn : bool
        See :meth:`freeze_bn_stats` and :meth:`update_bn_stats`.
    weight_fake_quant : Module

    Raises
    ------
    ValueError
        No qconfig was given.

    Notes
    -----
    Shapes: ``(N, C_in, H, W) -> (N, C_out, H_out, W_out)``, float32.

    References
    ----------
    R. Krishnamoorthi, "Quantizing deep convolutional networks for efficient
    inference", arXiv:1806.08342, section 3.2.2. There, the output is corrected from
    the statistics of the batch to the running ones; here, as in torch 2.13, the
    division by :math:`s` takes the place of that correction.
    """

    _version = 2
    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBn2d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool | str | None = None,
        padding_mode: str = "zeros",
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Any = None,
    ) -> None:
        if isinstance(bias, str):  # the documentation of 1.4 has padding_mode in this place
            if padding_mode != "zeros":
                raise TypeError(
                    f"{type(self).__name__}: after padding_mode as eighth argument, "
                    "pass eps, momentum, freeze_bn and qconfig by keyword"
                )
            padding_mode = bias
            bias = None
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bool(bias),
            padding_mode=padding_mode,
        )
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn
        self.bn = BatchNorm2d(out_channels, eps, momentum)
        self.weight_fake_quant = make_weight_fake_quant(self, qconfig)
        self.reset_bn_parameters()
        self.bn.train(not freeze_bn)

    def forward(self, input: Any) -> Any:
        """Convolve with the fake-quantized folded weight, unscale, normalise."""
        scale = self.bn.weight / (self.bn.running_var + self.bn.eps).sqrt()
        folded = self.weight_fake_quant(self.weight * scale.reshape(-1, 1, 1, 1))
        output = self._conv_forward(input, folded, None) / scale.reshape(1, -1, 1, 1)
        if self.bias is not None:
            output = output + self.bias.reshape(1, -1, 1, 1)
        return self.bn(output)

    def train(self, mode: bool = True) -> Any:
        """Set training mode; frozen batch norm stays in evaluation mode."""
        super().train(mode)
        if self.freeze_bn:
            self.bn.eval()
        return self

    def freeze_bn_stats(self) -> Any:
        """From now on use the running statistics and leave them as they are."""
        self.freeze_bn = True
        self.bn.eval()
        return self

    def update_bn_stats(self) -> Any:
        """From now on use the statistics of the batch and update the running ones."""
        self.freeze_bn = False
        self.bn.train()
        return self

    def reset_running_stats(self) -> None:
        """Set the running statistics to mean 0 and variance 1."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Set batch norm to mean 0, variance 1, bias 0 and weights drawn from [0, 1)."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)

    @classmethod
    def from_float(
        cls, mod: Any, qconfig: Any = None, use_precomputed_fake_quant: bool = False
    ) -> Any:
        """The same group for quantization-aware training; the parameters are shared.

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
        conv, bn = mod[0], mod[1]
        group = cls(
            conv.in_channels,
            conv.out_channels,
            conv.kernel_size,
            conv.stride,
            conv.padding,
            conv.dilation,
            conv.groups,
            conv.bias is not None,
            conv.padding_mode,
            bn.eps,
            bn.momentum,
            False,
            qconfig,
        )
        group.weight = conv.weight
        group.bias = conv.bias
        group.bn = bn
        group.train(mod.training)
        return group

    def to_float(self) -> Any:
        """The float group with copies of the trained parameters and statistics."""
        conv = Conv2d(
            self.in_channels,
            self.out_channels,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=self.bias is not None,
            padding_mode=self.padding_mode,
        )
        copy_parameters(conv, self)
        bn = BatchNorm2d(self.out_channels, self.bn.eps, self.bn.momentum)
        bn.load_state_dict(self.bn.state_dict())
        return FloatConvBn2d(conv, bn).train(self.training)


class ConvBnReLU2d(ConvBn2d):
    r"""As :class:`ConvBn2d`, followed by ReLU.

    .. math:: y = \max\left(0, \mathrm{BN}\left( \frac{x * \mathrm{fq}(s W)}{s} + b \right)\right)

    Between the parts nothing is rounded: one fake quantizer follows the ReLU.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBnReLU2d

    def forward(self, input: Any) -> Any:
        """ReLU of the normalised convolution."""
        return F.relu(super().forward(input))

    def to_float(self) -> Any:
        """The float group with copies of the trained parameters and statistics."""
        conv, bn = super().to_float()
        return FloatConvBnReLU2d(conv, bn, ReLU()).train(self.training)


def freeze_bn_stats(mod: Any) -> None:
    """Call ``freeze_bn_stats`` of a group with batch norm; use with ``model.apply``.

    Other modules are left alone.
    """
    if isinstance(mod, ConvBn2d):
        mod.freeze_bn_stats()


def update_bn_stats(mod: Any) -> None:
    """Call ``update_bn_stats`` of a group with batch norm; use with ``model.apply``.

    Other modules are left alone.
    """
    if isinstance(mod, ConvBn2d):
        mod.update_bn_stats()
