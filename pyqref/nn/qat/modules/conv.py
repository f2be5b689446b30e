"""The convolutions of quantization-aware training."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Device, Dtype, Ints, QConfigLike, Self, Tensor
from pyqref.nn.intrinsic.modules.fused import ConvReLU1d, ConvReLU2d, ConvReLU3d
from pyqref.nn.layer_options import convolution_options
from pyqref.nn.modules import Conv1d as FloatConv1d
from pyqref.nn.modules import Conv2d as FloatConv2d
from pyqref.nn.modules import Conv3d as FloatConv3d
from pyqref.nn.modules import Module

from .linear import copy_parameters
from .utils import make_weight_fake_quant, qconfig_of

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class _ConvNd(Module):
    """Base class of the convolutions; it precedes the float convolution among their bases."""

    _FLOAT_MODULE: ClassVar[type[Module]]
    _FLOAT_CONV: ClassVar[Any]
    _GROUPS: ClassVar[tuple[type[Module], ...]]
    weight: Any
    bias: Any
    _conv_forward: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        qconfig: QConfigLike | None = None,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
            padding_mode=padding_mode,
            device=device,
            dtype=dtype,
        )
        self.qconfig = qconfig
        self.weight_fake_quant = make_weight_fake_quant(self, qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` convolved with the fake-quantized weight, plus bias."""
        return self._conv_forward(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(
        cls, mod: Any, qconfig: QConfigLike | None = None, use_precomputed_fake_quant: bool = False
    ) -> Self:
        """Return the layer for quantization-aware training, with the same parameters.

        Parameters
        ----------
        mod
            A float layer with a ``qconfig``; an ``nn.intrinsic.ConvReLU`` of as many
            dimensions is accepted for its convolution.
        qconfig
            Overrides ``mod.qconfig``.
        use_precomputed_fake_quant
            No effect before training, as in torch.
        """
        qconfig = qconfig_of(cls, mod, (cls._FLOAT_MODULE, *cls._GROUPS), qconfig)
        conv: Any = mod[0] if type(mod) in cls._GROUPS else mod
        qat_conv = cls(**convolution_options(conv), qconfig=qconfig)
        qat_conv.weight = conv.weight
        qat_conv.bias = conv.bias
        qat_conv.train(mod.training)
        return qat_conv

    def to_float(self) -> Any:
        """The float layer with copies of the trained parameters."""
        conv = self._FLOAT_CONV(**convolution_options(self))
        copy_parameters(conv, self)
        return conv.train(self.training)


class Conv1d(_ConvNd, FloatConv1d):
    """A float 1-D convolution that computes with its fake-quantized weight.

    As :class:`Conv2d`, along one dimension. ``prepare_qat`` swaps it in only if asked to
    by a mapping, as in torch.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.qat.Conv1d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8)).shape
    pyqref.Size([4, 2, 6])
    >>> m.weight_fake_quant.scale.shape  # one for each output channel
    pyqref.Size([2])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConv1d
    _FLOAT_CONV: ClassVar[Any] = FloatConv1d
    _GROUPS: ClassVar[tuple[type[Module], ...]] = (ConvReLU1d,)


class Conv2d(_ConvNd, FloatConv2d):
    r"""A float 2-D convolution that computes with its fake-quantized weight.

    .. math:: y = x * \mathrm{fq}(W) + b

    where fq is ``weight_fake_quant``, made by ``qconfig.weight()``. The bias is not
    rounded. A fake quantizer of the output, ``activation_post_process``, is attached
    by ``prepare_qat``.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        As of :class:`pyqref.nn.Conv2d`.
    qconfig : QConfig
        Its ``weight`` makes the fake quantizer.

    Attributes
    ----------
    weight : Parameter
        The float master weight ``(C_out, C_in / groups, kH, kW)``.
    weight_fake_quant : Module
        Rounds the weight in ``forward``; gradients pass straight through.

    Raises
    ------
    ValueError
        No qconfig was given.

    Notes
    -----
    Shapes: ``(N, C_in, H, W) -> (N, C_out, H_out, W_out)``, float32.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.qat.Conv2d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 8, 8)).shape
    pyqref.Size([4, 2, 6, 6])
    >>> m.weight_fake_quant.scale.shape  # one for each output channel
    pyqref.Size([2])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConv2d
    _FLOAT_CONV: ClassVar[Any] = FloatConv2d
    _GROUPS: ClassVar[tuple[type[Module], ...]] = (ConvReLU2d,)


class Conv3d(_ConvNd, FloatConv3d):
    """A float 3-D convolution that computes with its fake-quantized weight.

    As :class:`Conv2d`, along three dimensions.

    Raises
    ------
    ValueError
        No qconfig was given.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.qat.Conv3d(1, 2, 3, qconfig=qconfig)
    >>> m(pyqref.randn(4, 1, 4, 6, 6)).shape
    pyqref.Size([4, 2, 2, 4, 4])
    >>> m.weight_fake_quant.scale.shape  # one for each output channel
    pyqref.Size([2])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatConv3d
    _FLOAT_CONV: ClassVar[Any] = FloatConv3d
    _GROUPS: ClassVar[tuple[type[Module], ...]] = (ConvReLU3d,)
