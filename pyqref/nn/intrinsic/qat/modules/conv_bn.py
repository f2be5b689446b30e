"""Convolution and batch norm, trained as the one convolution that they will become."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from pyqref._typing import Ints, QConfigLike, Self, Tensor
from pyqref.nn.intrinsic.modules.fused import ConvBn1d as FloatConvBn1d
from pyqref.nn.intrinsic.modules.fused import ConvBn2d as FloatConvBn2d
from pyqref.nn.intrinsic.modules.fused import ConvBn3d as FloatConvBn3d
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.layer_options import convolution_options
from pyqref.nn.modules import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Conv1d,
    Conv2d,
    Conv3d,
    Module,
)
from pyqref.nn.qat.modules.utils import make_weight_fake_quant, qconfig_of
from pyqref.nn.utils.fusion import fuse_conv_bn_weights
from pyqref.tape import no_grad
from pyqref.tensor.arguments import as_flag

from .bn_stats import WithBatchNorm

__all__ = ["ConvBn1d", "ConvBn2d", "ConvBn3d"]

#: Names that states of the documentation's time have for parts of the batch norm.
_NAMES_OF_1_4 = {
    "gamma": "bn.weight",
    "beta": "bn.bias",
    "running_mean": "bn.running_mean",
    "running_var": "bn.running_var",
    "num_batches_tracked": "bn.num_batches_tracked",
}


def accepts_positions_of_1_4(init: Callable[..., None]) -> Callable[..., None]:
    """Let the eighth positional argument be ``padding_mode``, as in the documentation of 1.4.

    Since then ``bias`` stands before it. A string in the eighth place is the old form,
    in which eps, momentum, freeze_bn and qconfig follow.
    """

    @functools.wraps(init)
    def take(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > 7 and isinstance(args[7], str):
            args = (*args[:7], None, *args[7:])
        init(self, *args, **kwargs)

    return take


def _rename_parameters_of_1_4(state_dict: Any, prefix: str) -> None:
    for old, new in _NAMES_OF_1_4.items():
        if prefix + old in state_dict:
            state_dict[prefix + new] = state_dict.pop(prefix + old)


class _ConvBnNd(WithBatchNorm):
    """Base class of the groups; it precedes the float convolution among their bases."""

    _version = 2
    _FLOAT_MODULE: ClassVar[type[Module]]
    _CONV: ClassVar[Any]
    _BN: ClassVar[Any]
    weight: Any
    bias: Any
    _conv_forward: Any

    @accepts_positions_of_1_4
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool | None = None,
        padding_mode: str = "zeros",
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias is not None and as_flag(bias, "bias"),
            padding_mode=padding_mode,
        )
        self.qconfig = qconfig
        self.freeze_bn = as_flag(freeze_bn, "freeze_bn")
        self.bn = self._BN(out_channels, eps, momentum)
        self.weight_fake_quant = make_weight_fake_quant(self, qconfig)
        self.reset_bn_parameters()
        self.bn.train(not self.freeze_bn)
        self._enable_slow_path_for_better_numerical_stability = False

    def forward(self, input: Tensor) -> Tensor:
        """Convolve with the fake-quantized folded weight, unscale, normalise."""
        if self._enable_slow_path_for_better_numerical_stability:
            return self._forward_without_unscaling(input)
        bn, weight, bias = self.bn, self.weight, self.bias
        scale = bn.weight / (bn.running_var + bn.eps).sqrt()
        folded = self.weight_fake_quant(weight * scale.reshape(-1, *(1,) * (weight.dim() - 1)))
        channels = (1, -1, *(1,) * (weight.dim() - 2))
        output = self._conv_forward(input, folded, None) / scale.reshape(channels)
        if bias is not None:
            output = output + bias.reshape(channels)
        return bn(output)

    def _forward_without_unscaling(self, input: Any) -> Any:
        """Compute the forward with a second convolution in place of the division by the scale.

        The statistics of a batch are those of the convolution with the weight as it is, so
        that nothing is divided by gamma, which may be 0.
        """
        bn, weight, bias = self.bn, self.weight, self.bias
        channels = (1, -1, *(1,) * (weight.dim() - 2))
        if bn.training:
            plain = self._conv_forward(input, weight, None)
            with no_grad():  # for the running statistics, which the scale below takes
                bn(plain if bias is None else plain + bias.reshape(channels))
            axes = [axis for axis in range(weight.dim()) if axis != 1]
            mean = plain.mean(axes)
            centred = plain - mean.reshape(channels)
            deviation = ((centred * centred).mean(axes) + bn.eps).sqrt()
        running = (bn.running_var + bn.eps).sqrt()
        scale = bn.weight / running
        folded = self.weight_fake_quant(weight * scale.reshape(-1, *(1,) * (weight.dim() - 1)))
        output = self._conv_forward(input, folded, None)
        if bn.training:
            output = output * (running / deviation).reshape(channels)
        else:
            mean = bn.running_mean if bias is None else bn.running_mean - bias
            deviation = running
        shift = bn.bias - bn.weight * mean / deviation
        if bias is not None:
            # A bias cancels against the mean of a batch: its gradient is zero, but not None.
            shift = shift + (bias - bias)
        return output + shift.reshape(channels)

    @classmethod
    def from_float(
        cls, mod: Any, qconfig: QConfigLike | None = None, use_precomputed_fake_quant: bool = False
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
        conv, bn = mod[0], mod[1]
        options = convolution_options(conv)
        group = cls(**options, eps=bn.eps, momentum=bn.momentum, qconfig=qconfig)
        group.weight = conv.weight
        group.bias = conv.bias
        group.bn = bn
        group.train(mod.training)
        return group

    def to_float(self) -> Any:
        """The float convolution with the trained batch norm folded in, as torch 2.13 gives."""
        conv = self._CONV(**convolution_options(self))
        conv.weight, conv.bias = fuse_conv_bn_weights(
            self.weight,
            self.bias,
            self.bn.running_mean,
            self.bn.running_var,
            self.bn.eps,
            self.bn.weight,
            self.bn.bias,
        )
        return conv.train(self.training)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if (local_metadata.get("version") or 1) < 2:
            _rename_parameters_of_1_4(state_dict, prefix)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class ConvBn1d(_ConvBnNd, Conv1d, _FusedModule):
    """One-dimensional form of :class:`ConvBn2d`.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvBn1d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8)).shape
    pyqref.Size([4, 2, 6])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBn1d
    _CONV: ClassVar[Any] = Conv1d
    _BN: ClassVar[Any] = BatchNorm1d


class ConvBn2d(_ConvBnNd, Conv2d, _FusedModule):
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
    _enable_slow_path_for_better_numerical_stability : bool
        Set it to True where a gamma is or may become 0, for which :math:`x * 0 / 0` is nan. A
        second convolution with :math:`W` gives the statistics of the batch,
        :math:`\mu_B = \mathrm{mean}(x * W)` and :math:`\sigma_B`, in the place of the division:

        .. math:: y = (x * \mathrm{fq}(s W))\, \frac{\sqrt{\sigma^2 + \epsilon}}
                  {\sqrt{\sigma_B^2 + \epsilon}} + \beta
                  - \gamma\, \frac{\mu_B}{\sqrt{\sigma_B^2 + \epsilon}}

        with the running variance after this batch. With frozen statistics and in evaluation both
        are the running ones.

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

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvBn2d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8, 8)).shape
    pyqref.Size([4, 2, 6, 6])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBn2d
    _CONV: ClassVar[Any] = Conv2d
    _BN: ClassVar[Any] = BatchNorm2d


class ConvBn3d(_ConvBnNd, Conv3d, _FusedModule):
    """Three-dimensional form of :class:`ConvBn2d`.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.ConvBn3d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 4, 6, 6)).shape
    pyqref.Size([4, 2, 2, 4, 4])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConvBn3d
    _CONV: ClassVar[Any] = Conv3d
    _BN: ClassVar[Any] = BatchNorm3d
